"""What lies behind the verdict on one worker: for and against, groups, times, labels by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.judging.accusations import MAX_INNOCENT
from crowdcore.audit.verdicts import verdict_named
from crowdcore.data import UNKNOWN
from crowdcore.wording import count, percent
from dashboard import cache, layout, widgets
from dashboard.charts.time import care_over_time
from dashboard.text import list_names

if TYPE_CHECKING:
    from crowdcore.audit.judging.worker_evidence import WorkerEvidence
    from crowdcore.results.result import Result
    from crowdcore.workspace import RunRow

MIN_WEIGHT = 0.7
"""Log-odds from which a label is counted as speaking for or against: two to one."""

MAX_ROWS = 500


def draw(run: RunRow, result: Result, code: int) -> None:
    """Draw the advice, what speaks for and against, and the group and time panels."""
    evidence = cache.evidence(run.id)
    if evidence is None or result.data.workers[code] in run.excluded:
        return
    verdict = verdict_named(cache.workers(run.id)["verdict"].iloc[code])
    if verdict is not None:
        st.markdown(f"**What to do:** {verdict.advice}")
    rows = np.flatnonzero(cache.result(run.id).data.worker == code)
    left, right = st.columns(2, gap="medium")
    for column, title, facts in (
        (left, "Speaks for the worker", _for(evidence, code, rows)),
        (right, "Speaks against the worker", _against(evidence, code, rows)),
    ):
        with column:
            st.markdown(f"**{title}**")
            st.markdown("\n".join(f"- {fact}" for fact in facts) or "Nothing.")
    _draw_group(result, evidence, code)
    _draw_time(run, evidence, code, rows)


def _for(evidence: WorkerEvidence, code: int, rows: Any) -> list[str]:
    weight = evidence.weight[rows].astype(float)
    facts = []
    if evidence.n_compared[code] and evidence.bad[code] <= MAX_INNOCENT:
        facts.append(f"looks at the items: {percent(1 - evidence.bad[code], 0)} probable")
    if (n := int((weight < -MIN_WEIGHT).sum())) > 0:
        facts.append(f"{count(n, 'label')} that somebody who guesses would hardly give")
    if evidence.n_compared[code] and evidence.low[code] > evidence.chance[code]:
        facts.append(
            f"right in at least {percent(evidence.low[code], 0)}, where blind answers are in "
            f"{percent(evidence.chance[code], 0)}"
        )
    return facts


def _against(evidence: WorkerEvidence, code: int, rows: Any) -> list[str]:
    weight = evidence.weight[rows].astype(float)
    facts = []
    if evidence.bad[code] > MAX_INNOCENT and evidence.n_compared[code]:
        facts.append(f"does not look at the items: {percent(evidence.bad[code], 0)} probable")
    if (n := int((weight > MIN_WEIGHT).sum())) > 0:
        facts.append(f"{count(n, 'label')} that somebody who looks would hardly give")
    if evidence.is_biased[code]:
        facts.append(f"errors lean one way: {percent(evidence.biased[code], 0)} probable")
    if evidence.is_drifting[code]:
        facts.append(f"less care after comparable label {evidence.drift_at[code]:,}")
    if evidence.is_hasty[code]:
        facts.append(f"{count(int(evidence.n_fast[code]), 'fast label')} with less care")
    if evidence.has_pattern[code]:
        facts.append("answers follow the answer before")
    return facts


def _draw_group(result: Result, evidence: WorkerEvidence, code: int) -> None:
    """List with whom the worker answers alike, and what they share."""
    own = (evidence.pair_worker == code) | (evidence.pair_partner == code)
    if not own.any():
        return
    names = result.data.workers
    partner = np.where(evidence.pair_worker == code, evidence.pair_partner, evidence.pair_worker)
    group = evidence.group[code]
    st.markdown("**Answers alike**")
    widgets.table(
        pd.DataFrame(
            {
                "worker": [names[other] for other in partner[own].tolist()],
                "shared": evidence.pair_shared[own],
                "same": evidence.pair_same[own],
                "expected": evidence.pair_expected[own].round(),
                "wrong": evidence.pair_same_wrong[own],
            }
        ),
        alt="Workers who answer alike, with their shared items",
        columns={
            "worker": st.column_config.TextColumn("Worker", pinned=True),
            "shared": st.column_config.NumberColumn("Shared items"),
            "same": st.column_config.NumberColumn("Same answers"),
            "expected": st.column_config.NumberColumn(
                "Expected", help="Of two workers of their accuracy, each working alone."
            ),
            "wrong": st.column_config.NumberColumn("Same errors"),
        },
    )
    if group == UNKNOWN:
        st.caption("So many workers answer alike that these are schools of thought, not copies.")
        return
    members = [names[other] for other in np.flatnonzero(evidence.group == group).tolist()]
    st.caption(
        f"Group {group + 1}: {list_names(members)}. Who copied, if anybody did, is unknown; in "
        "every judgement here the group speaks with one voice."
    )


def _draw_time(run: RunRow, evidence: WorkerEvidence, code: int, rows: Any) -> None:
    """Show the share right over the order of work, where there is one."""
    if not evidence.facts.has_order or not (evidence.place[rows] != UNKNOWN).any():
        return
    st.markdown("**In the order of work**")
    in_order = rows[np.argsort(evidence.place[rows], kind="stable")]
    in_order = in_order[evidence.place[in_order] != UNKNOWN]
    change = int(evidence.drift_at[code]) if evidence.is_drifting[code] else None
    widgets.chart(
        care_over_time(
            evidence.hit[in_order].astype(float),
            evidence.is_fast[in_order],
            change=change,
            theme=layout.theme(),
        ),
        key=f"worker_time_{run.id}_{code}",
        alt="How right the worker's labels are, in the order of work",
    )
    note = "The others' belief in each label, as a running mean over 15 labels."
    if evidence.facts.has_durations:
        note += " Crosses took under a third of the usual time."
    st.caption(note)


def draw_weights(run: RunRow, result: Result, code: int) -> None:
    """List the worker's labels, those with the greatest weight of evidence first; gold apart."""
    evidence = cache.evidence(run.id)
    if evidence is None or result.data.workers[code] in run.excluded:
        return
    data = cache.result(run.id).data
    rows = np.flatnonzero((data.worker == code) & np.isfinite(evidence.hit.astype(float)))
    weight = evidence.weight[rows].astype(float)
    rows = rows[np.argsort(-np.abs(weight), kind="stable")]
    on_gold = data.has_gold[data.item[rows]]
    for title, chosen in (
        ("On checked items", rows[on_gold]),
        ("Labels with the greatest weight of evidence", rows[~on_gold]),
    ):
        if not len(chosen):
            continue
        with st.expander(f"{title}: {count(len(chosen), 'label')}"):
            shown = chosen[:MAX_ROWS]
            weight = evidence.weight[shown].astype(float)
            item = widgets.table(
                pd.DataFrame(
                    {
                        "item": [data.items[number] for number in data.item[shown].tolist()],
                        "given": data.class_names(data.label[shown]),
                        "others": data.class_names(evidence.likeliest[shown]),
                        "belief": 100 * evidence.hit[shown].astype(float),
                        "speaks": [_odds(value) for value in weight.tolist()],
                    }
                ),
                key=f"worker_weights_{run.id}_{code}_{title}",
                alt=title,
                columns={
                    "item": st.column_config.TextColumn("Item", pinned=True),
                    "given": st.column_config.TextColumn("They said"),
                    "others": st.column_config.TextColumn(
                        "Gold, or what the others believe", width=200
                    ),
                    "belief": widgets.percent_bar("Belief in their label"),
                    "speaks": st.column_config.TextColumn("Speaks", width=200),
                },
                select="item",
            )
            widgets.open_item(item, key=f"worker_weights_item_{title}", note=_cut(len(chosen)))


def _odds(weight: float) -> str:
    side = "against" if weight > 0 else "for"
    return f"{side} them, {np.exp(min(abs(weight), 9)):.1f} to 1"


def _cut(n: int) -> str:
    return f"The first {MAX_ROWS:,} of {n:,}." if n > MAX_ROWS else ""
