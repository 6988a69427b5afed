"""Lists of links: the pairs of workers that stand out, and one worker's links with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.attention import relative_weights, strongest_links
from crowdcore.audit.pairs import MIN_SHARED_ITEMS, PairAgreement
from crowdcore.wording import NOTHING, count, percent, percent_of
from dashboard import cache, state, widgets
from dashboard.attention import reads
from dashboard.charts.attention import times
from dashboard.charts.palette import verdict_words
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.artefacts.attention import AttentionMap
    from crowdcore.workspace import RunRow

MAX_LINKS = 40
MAX_PAIRS = 100
MAX_PIXELS = 470  # as high as the map


def draw_picker(run: RunRow) -> None:
    """Offer every worker to choose; nobody shows the pairs of the whole crowd."""
    names = cache.result(run.id).data.workers
    current = state.selection("worker")

    def pick(name: str) -> None:
        state.select("worker", name or None)
        state.select("other", None)

    state.choose(
        "Worker",
        {"": "Nobody: all pairs", **{name: name or "(empty)" for name in names if name}},
        current=current if current in names and current else "",
        on_pick=pick,
    )


def draw_pairs(run: RunRow) -> None:
    """List the pairs of the whole crowd that are most alike beyond what was to be expected."""
    pairs, names = reads.crowd(run.id), cache.result(run.id).data.workers
    n_pairs = len(pairs.first)
    st.markdown(_pairs_title(int(pairs.beyond_luck.sum()), n_pairs))
    if not n_pairs:
        st.caption(f"No two workers share {MIN_SHARED_ITEMS} items, so nothing can be compared.")
        return
    weights = reads.crowd_weights(run.id, MAX_PAIRS)
    frame = pd.DataFrame(
        {
            "worker": [names[code] for code in pairs.first[:MAX_PAIRS]],
            "other": [names[code] for code in pairs.second[:MAX_PAIRS]],
            **_agreement_cells(run, pairs.agreement.select(slice(MAX_PAIRS))),
            "weight": [f"{times(given)} · {times(received)}" for given, received in weights.T],
        }
    )
    key = f"attention_pairs_{run.id}"
    row = widgets.selected_row(key)
    if state.is_new(key, row) and row is not None:
        for name in ("worker", "other"):
            state.select(name, str(frame[name].iloc[row]))
        st.rerun()
    _draw_table(frame, key, "Pairs of workers, the most alike first")
    note = "The least explained by luck first"
    note += f"; {count(len(frame))} of {count(n_pairs)}. " if len(frame) < n_pairs else ". "
    if pairs.n_workers < int(reads.active(run.id).sum()):
        note += f"Looked for among the {count(pairs.n_workers)} busiest workers. "
    st.caption(note + "Select a row for the items behind it.")


def _pairs_title(n_alike: int, n_pairs: int) -> str:
    """Say how many pairs stand out."""
    if not n_alike:
        return f"**No pair of {count(n_pairs)} is more alike than expected**"
    verb = "is" if n_alike == 1 else "are"
    return f"**{count(n_alike, 'pair')} of {count(n_pairs)} {verb} more alike than expected**"


def draw_links(run: RunRow, attention: AttentionMap, worker: int, colour: str) -> None:
    """List whom a worker looks at most, or who is most alike to them, with the evidence."""
    data = cache.result(run.id).data
    name = escape_md(data.workers[worker], limit=30)
    if colour == "agreement":
        others = reads.most_alike(run.id, worker, MAX_LINKS)
        st.markdown(f"**Who answers most like {name}**")
        nobody = f"Nobody shares {MIN_SHARED_ITEMS} items with them."
        note = "The least explained by luck first."
    else:
        active = reads.active(run.id)
        others = strongest_links(
            attention, "workers", worker, max_links=MAX_LINKS, among=active
        ).target
        st.markdown(f"**Whom {name} looks at most**")
        nobody, note = "Nobody else.", "The heaviest first."
    if not len(others):
        st.caption(nobody)
        return
    given = relative_weights(attention, "workers", [worker], others)[0]
    received = relative_weights(attention, "workers", others, [worker])[:, 0]
    verdicts = cache.workers(run.id)["verdict"].iloc[others]
    frame = pd.DataFrame(
        {
            "other": [data.workers[code] for code in others],
            "given": [times(weight) for weight in given],
            **_agreement_cells(run, reads.pairs(run.id, worker, tuple(others.tolist()))),
            "back": [times(weight) for weight in received],
            "verdict": [verdict_words(verdict) for verdict in verdicts],
        }
    )
    key = f"attention_links_{run.id}_{worker}_{colour}"
    if widgets.follow_row(frame, key, "other"):
        st.rerun()  # what stands above and below was drawn for another pair
    widgets.mark_row(frame, key, "other")
    _draw_table(frame, key, "Other workers, and how alike they are")
    st.caption(f"{note} Select a row for the items that both labelled.")


def _agreement_cells(run: RunRow, agreement: PairAgreement) -> dict[str, Any]:
    """Return what tables of pairs [P] say of how alike two workers are."""
    marks = np.where(reads.beyond(run.id, agreement), "▲ ", "")
    return {
        "agree": [
            f"{mark}{percent_of(same / shared, shared)}" if shared else NOTHING
            for mark, same, shared in zip(marks, agreement.n_same, agreement.n_shared, strict=True)
        ],
        "expected": [percent(share, 0) for share in agreement.expected_share],
        "wrong": [
            f"{count(n_wrong)} ({n_expected:.1f})" if shared else NOTHING
            for n_wrong, n_expected, shared in zip(
                agreement.n_same_wrong,
                agreement.expected_same_wrong,
                agreement.n_shared,
                strict=True,
            )
        ],
        "luck": [percent(share, 0) for share in agreement.blind_share],
    }


def _draw_table(frame: pd.DataFrame, key: str, alt: str) -> None:
    column = st.column_config
    widgets.table(
        frame,
        key=key,
        alt=alt,
        select="other",
        height=MAX_PIXELS,
        columns={
            "worker": column.TextColumn("Worker", pinned=True, width=62),
            "other": column.TextColumn(
                "Other" if "worker" in frame else "Worker", pinned=True, width=62
            ),
            "given": column.TextColumn("Weight", width=65, help="Given, against an even share."),
            "back": column.TextColumn("Back", width=60, help="The weight that comes back."),
            "weight": column.TextColumn("Weights", width=100, help="Given there, and back."),
            "agree": column.TextColumn(
                "Same label",
                width=106,
                help="On items that both labelled. ▲: they agree, or err alike, more often than "
                "luck explains for two workers as good as these, however many pairs are compared.",
            ),
            "expected": column.TextColumn(
                "Expected",
                width=70,
                help="How often two workers as good as these would agree, each working alone.",
            ),
            "wrong": column.TextColumn(
                "Same wrong",
                width=88,
                help="How often both gave the same label where the truth is another; in brackets "
                "how often that was to be expected.",
            ),
            "luck": column.TextColumn(
                "Blind", width=60, help="How often they would agree without looking at the items."
            ),
            "verdict": column.TextColumn("Verdict", width=125),
        },
    )
