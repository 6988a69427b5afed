"""Lists of links: the pairs of workers that stand out, and one worker's links with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit import attention as audit
from crowdcore.audit.pairs import FEWEST, Agreement
from dashboard import attention_reads, reads, state
from dashboard.charts.attention import times
from dashboard.charts.palette import verdict_words
from dashboard.paging import chosen_row
from dashboard.text import NOTHING, count, escape_md, percent

if TYPE_CHECKING:
    from crowdcore.artefacts.attention import AttentionMap
    from crowdcore.workspace import RunRow

MOST_LINKS = 40
MOST_PAIRS = 100


def draw_picker(run: RunRow) -> None:
    """Offer every worker to choose; nobody shows the pairs of the whole crowd."""
    names = reads.result(run.id).data.workers
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
    found, names = attention_reads.crowd(run.id), reads.result(run.id).data.workers
    compared, beyond = len(found.one), int(found.beyond.sum())
    st.markdown(_pairs_title(beyond, compared))
    if not compared:
        st.caption(f"No two workers share {FEWEST} items, so nothing can be compared.")
        return
    one, other = found.one[:MOST_PAIRS], found.other[:MOST_PAIRS]
    alike = found.alike.at(slice(MOST_PAIRS))
    weights = attention_reads.crowd_weights(run.id, MOST_PAIRS)
    frame = pd.DataFrame(
        {
            "one": [names[code] for code in one],
            "two": [names[code] for code in other],
            **_alike_cells(run, alike),
            "weight": [f"{times(there)} · {times(back)}" for there, back in weights.T],
        }
    )
    key = f"attention_pairs_{run.id}"
    row = chosen_row(st.session_state.get(key))
    if state.is_new(key, row) and row is not None:
        state.select("worker", str(frame["one"].iloc[row]))
        state.select("other", str(frame["two"].iloc[row]))
        st.rerun()
    _table(frame, key, "Pairs of workers, the most alike first")
    words = "The least explained by luck first"
    words += f"; {count(len(frame))} of {count(compared)}. " if len(frame) < compared else ". "
    if found.n_workers < int(attention_reads.active(run.id).sum()):
        words += f"Looked for among the {count(found.n_workers)} busiest workers. "
    st.caption(words + "Select a row for the items behind it.")


def _pairs_title(n: int, compared: int) -> str:
    if not n:
        return f"**No pair of {count(compared)} is more alike than expected**"
    verb = "is" if n == 1 else "are"
    return f"**{count(n, 'pair')} of {count(compared)} {verb} more alike than expected**"


def draw_links(run: RunRow, attention: AttentionMap, worker: int, colour: str) -> None:
    """List whom a worker looks at most, or who is most alike to them, with the evidence."""
    data = reads.result(run.id).data
    name = escape_md(data.workers[worker], limit=30)
    if colour == "agreement":
        others = attention_reads.most_alike(run.id, worker, MOST_LINKS)
        st.markdown(f"**Who answers most like {name}**")
        none, note = (
            f"Nobody shares {FEWEST} items with them.",
            "The least explained by luck first.",
        )
    else:
        active = attention_reads.active(run.id)
        found = audit.strongest(attention, "workers", worker, most=MOST_LINKS, among=active)
        others = found.other
        st.markdown(f"**Whom {name} looks at most**")
        none, note = "Nobody else.", "The heaviest first."
    if not len(others):
        st.caption(none)
        return
    frame = pd.DataFrame(
        {
            "two": [data.workers[code] for code in others],
            "given": [
                times(one) for one in audit.relative(attention, "workers", [worker], others)[0]
            ],
            **_alike_cells(run, attention_reads.pairs(run.id, worker, tuple(others.tolist()))),
            "back": [
                times(one) for one in audit.relative(attention, "workers", others, [worker])[:, 0]
            ],
            "verdict": [
                verdict_words(word) for word in reads.workers(run.id)["verdict"].iloc[others]
            ],
        }
    )
    key = f"attention_links_{run.id}_{worker}_{colour}"
    row = chosen_row(st.session_state.get(key))
    picked = None if row is None else str(frame["two"].iloc[row])
    if state.is_new(key, picked):
        state.select("other", picked)
        st.rerun()  # what stands above and below was drawn for another pair
    place = np.flatnonzero((frame["two"] == state.selection("other")).to_numpy())
    state.mirror("other", key, int(place[0]) if len(place) else None)
    _table(frame, key, "Other workers, and how alike they are")
    st.caption(f"{note} Select a row for the items that both labelled.")


def _alike_cells(run: RunRow, alike: Agreement) -> dict[str, Any]:
    """What tables of pairs [P] say of how alike two workers are."""
    marks = np.where(attention_reads.beyond(run.id, alike), "▲ ", "")
    return {
        "agree": [
            f"{mark}{percent(hits / n, 0)} of {count(n)}" if n else NOTHING
            for mark, hits, n in zip(marks, alike.same, alike.shared, strict=True)
        ],
        "apart": [percent(rate, 0) for rate in alike.apart],
        "wrong": [
            f"{count(n)} ({expected:.1f})" if of else NOTHING
            for n, expected, of in zip(
                alike.same_wrong, alike.apart_wrong, alike.shared, strict=True
            )
        ],
        "luck": [percent(rate, 0) for rate in alike.luck],
    }


def _table(frame: pd.DataFrame, key: str, alt: str) -> None:
    column = st.column_config
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=470 if len(frame) > 12 else "content",  # noqa: PLR2004  (as high as the map)
        on_select="rerun",
        selection_mode="single-row",
        placeholder="",
        alt=alt,
        column_config={
            "one": column.TextColumn("Worker", pinned=True, width=62),
            "two": column.TextColumn(
                "Other" if "one" in frame else "Worker", pinned=True, width=62
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
            "apart": column.TextColumn(
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
