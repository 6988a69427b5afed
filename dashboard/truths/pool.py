"""What a pool is made of: its methods, what features told it, and which answers chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.artefacts.candidates import Candidates
from crowdcore.artefacts.feature_voice import FeatureVoice
from crowdcore.artefacts.pool_members import PoolMembers
from crowdcore.wording import count
from dashboard import cache, layout, widgets
from dashboard.charts.pool import agreement_map

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MAX_PIXELS = 300
"""Height from which the table of answers scrolls."""


def members_of(run: RunRow) -> PoolMembers | None:
    """What the run's result says of its members; None for a method that has none."""
    members = cache.result(run.id).artefact(PoolMembers)
    # Runs of earlier versions lack the weights.
    return None if members is None or members.weights is None else members


def draw(members: PoolMembers) -> None:
    """Show every member with its weight, and on how many items it agrees with the others."""
    assert members.weights is not None  # or there would be nothing to show
    widgets.chart(
        agreement_map(
            members.names,
            members.titles,
            members.weights,
            members.agreement,
            theme=layout.theme(),
        ),
        key="truths_members",
        alt="How far the members of the pool agree",
    )
    st.caption(
        "The share of items on which two methods find the same truth; behind a member's name its "
        f"weight in the pool. The votes themselves weigh {members.votes}. Each member is a run "
        "of its own."
    )


def features_of(run: RunRow) -> FeatureVoice | None:
    """What learners from features told the run; None where none was tried."""
    voice = cache.result(run.id).artefact(FeatureVoice)
    return None if voice is None or not len(voice.names) else voice


def draw_features(voice: FeatureVoice) -> None:
    """Show how well each learner foretold labels held out, and what became of it."""
    column = st.column_config
    widgets.table(
        pd.DataFrame(
            {
                "learner": list(voice.titles),
                "factor": np.exp(voice.gains),
                "error": np.exp(voice.gains) * voice.errors,
                "heard": np.where(voice.speaks, "yes", "no"),
            }
        ),
        key="truths_features",
        alt="What learners from features foretold",
        columns={
            "learner": column.TextColumn("Learner", width=140),
            "factor": column.NumberColumn("Labels likelier by", format="× %.2f", width=105),
            "error": column.NumberColumn("±", format="%.2f", width=50),
            "heard": column.TextColumn("Heard", width=60),
        },
    )
    changed = 0 if voice.changed is None else int(voice.changed.sum())
    st.caption(
        f"{count(voice.n_held_out)} labels were held out. The factor says how much likelier they "
        "became by what a learner had made of the features, beside the other votes of the item "
        "and the habits of the worker; no learner saw a label of an item that it judged. A learner "
        "is heard if the factor is above 1 by three standard errors (±). "
        + (f"Features changed {count(changed, 'truth')}." if voice.is_heard else "None is heard.")
    )


def answers_of(run: RunRow) -> Candidates | None:
    """The methods that known answers chose among; None where no answer chose."""
    candidates = cache.result(run.id).artefact(Candidates)
    return None if candidates is None or not len(candidates.answered) else candidates


def draw_answers(run: RunRow, candidates: Candidates) -> None:
    """Show the weights that answers gave to methods, what was asked and what it changed."""
    result = cache.result(run.id)
    column = st.column_config
    frame = pd.DataFrame({"method": list(candidates.titles), "weight": 100 * candidates.weights})
    widgets.table(
        frame.sort_values("weight", ascending=False, kind="stable"),
        key="truths_weights",
        alt="The weight of each method by the known answers",
        columns={
            "method": column.TextColumn("Method", width=220),
            "weight": widgets.percent_bar("Weight", width=110),
        },
    )
    codes, data = candidates.answered, result.data
    assert data.gold is not None  # or nothing would be answered
    by_others = candidates.pooled.argmax(1)
    known = pd.DataFrame(
        {
            "item": [data.items[code] for code in codes],
            "answer": data.class_names(data.gold[codes]),
            "others": data.class_names(by_others),
            "right": np.where(candidates.right, "yes", "no"),
        }
    )
    widgets.table(
        known.sort_values("right", kind="stable"),
        key="truths_known_answers",
        alt="The known answers, each judged by all others",
        height=MAX_PIXELS,
        columns={
            "item": column.TextColumn("Item", width=80),
            "answer": column.TextColumn("Answer", width=85),
            "others": column.TextColumn("Found without it", width=105),
            "right": column.TextColumn("Agrees", width=65),
        },
    )
    st.caption(
        f"{count(len(codes), 'known answer')} chose; they changed "
        f"{count(candidates.changed.sum(), 'other truth')}, see the filter Changed by answers. "
        "Each answer is also compared with what the methods find by all other answers."
    )
