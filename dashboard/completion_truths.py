"""What completion changed in the truths, against the same method on the labels as given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore import DataError
from crowdcore.audit import completion as audit
from crowdcore.data import UNKNOWN
from dashboard import completion_reads, reads, startup, state
from dashboard.paging import chosen_row, page_of
from dashboard.text import count, escape_md, percent, percents

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.artefacts.completion import Completion
    from crowdcore.audit.completion import Places
    from crowdcore.workspace import RunRow

PAGE_ROWS = 500
KINDS = {
    "flipped": ("Flipped", "Both answers are decided, and they differ."),
    "settled": ("Settled", "Tied or without a label before; decided now."),
    "opened": ("Opened", "Decided before; tied now."),
}
LEAST_GAIN = 0.05
"""Points that do not round to none."""

MOST_VOTES = 4
"""Classes that a cell of votes names."""


def draw(run: RunRow, completion: Completion) -> None:
    """Say what the comparison is with, how many truths changed, and which."""
    other = completion_reads.counterpart(run)
    _basis(run, other)
    found = completion_reads.changed(run)
    _numbers(run, other, found)
    kind = _choose(found)
    rows = _narrowed(run, found[kind])
    if not len(rows):
        st.info(f"No truth is {KINDS[kind][0].lower()}.", icon=":material/check_circle:")
        return
    _table(run, completion, kind, rows)


def _basis(run: RunRow, other: RunRow | None) -> None:
    """Say what the truths are compared with; offer the honest comparison where it is missing."""
    title = escape_md(str(reads.provenance(run.id)["title"]))
    if other is not None and other.status == "done":
        st.caption(
            f"Compared with {escape_md(other.label)}: the same method, settings and seed on the "
            "labels as they were given."
        )
        return
    with st.container(border=True, key="completion_basis"):
        st.markdown(
            f"**Compared with the majority vote of the given labels, for now.** Run {title} on "
            "them as they are to see what completion alone changed, also on gold if there is any."
        )
        if other is not None and other.active:
            st.markdown(
                f":material/progress_activity: {escape_md(other.label)} without completion is "
                f"{'waiting' if other.status == 'queued' else 'running'}; the page shows the "
                "comparison when it is done."
            )
            return
        if other is not None and other.error:
            st.markdown(
                f"{escape_md(other.label)} ended without a result. {escape_md(other.error)}"
            )
        if st.button(
            f"Run {title} without completion",
            type="primary",
            icon=":material/play_arrow:",
            key="completion_counterpart",
            help="The same settings and seed, on the labels as they were given.",
        ):
            _queue(run)


def _queue(run: RunRow) -> None:
    workspace = state.workspace()
    try:
        workspace.queue(
            run.dataset_id,
            run.method,
            params=run.params,
            seed=run.seed,
            device=run.device,
            excluded=run.excluded,
            warm_from=run.warm_from,
        )
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    startup.wake_jobs(workspace)
    st.rerun()


def _numbers(run: RunRow, other: RunRow | None, found: dict[str, Places]) -> None:
    result = reads.result(run.id)
    row = st.container(horizontal=True)
    for name, rows in found.items():
        title, why = KINDS[name]
        row.metric(
            f"{title} truths",
            f"{count(len(rows))} of {count(result.data.n_items)}",
            border=True,
            height="stretch",
            help=why,
        )
    _on_gold(run, row, found)
    now = result.score()
    was = reads.result(other.id).score() if other is not None and other.status == "done" else None
    if now is not None and was is not None:
        gain = 100 * (now.accuracy - was.accuracy)
        row.metric(
            "Right on gold",
            percent(now.accuracy),
            delta=f"{gain:+.1f} points",
            delta_color="normal" if abs(gain) >= LEAST_GAIN else "off",
            delta_arrow="auto" if abs(gain) >= LEAST_GAIN else "off",
            border=True,
            height="stretch",
            help=f"Of {count(now.n, 'item')} with gold; without completion "
            f"{percent(was.accuracy)}.",
        )


def _on_gold(run: RunRow, row: DeltaGenerator, found: dict[str, Places]) -> None:
    """Say how many flips were right, and how many of what was open before."""
    data = reads.result(run.id).data
    was, now = completion_reads.before(run), completion_reads.answers(run.id, observed=False)
    flips, open_ = (audit.judged(data, was, now, found[name]) for name in ("flipped", "settled"))
    if flips.n:
        row.metric(
            "Flips on gold",
            f"+{count(flips.gained)} / −{count(flips.lost)}",
            border=True,
            height="stretch",
            help=f"Of {count(flips.n, 'flipped item')} with gold, {count(flips.gained)} became "
            f"right and {count(flips.lost)} became wrong; the rest was and is wrong.",
        )
    if open_.n:
        row.metric(
            "Settled on gold",
            f"{count(open_.gained)} of {count(open_.n)}",
            border=True,
            height="stretch",
            help="Of the settled items with gold, so many are right now.",
        )


def _choose(found: dict[str, Places]) -> str:
    first = next((name for name in KINDS if len(found[name])), "flipped")
    kind = st.pills(
        "Show",
        list(KINDS),
        default=first,
        format_func=lambda name: f"{KINDS[name][0]} :gray[{count(len(found[name]))}]",
        key="completion_changes",
        label_visibility="collapsed",
    )
    return kind or first


def _narrowed(run: RunRow, rows: Places) -> Places:
    """Offer to keep only items with gold, where some but not all have it."""
    known = reads.result(run.id).data.has_gold[rows]
    if known.all() or not known.any():
        return rows
    only = st.toggle(f"Only the {count(known.sum())} with gold", key="completion_with_gold")
    return rows[known] if only else rows


def _table(run: RunRow, completion: Completion, kind: str, rows: Places) -> None:
    shown = page_of(
        rows,
        key=f"completion_page_{run.id}_{kind}_{len(rows)}",
        noun="items",
        page_rows=PAGE_ROWS,
        sorts="Column heads sort this page only.",
    )
    key = f"completion_items_{run.id}_{kind}_{len(rows)}_{shown[0]}"
    picked = chosen_row(
        st.dataframe(
            _cells(run, completion, shown),
            key=key,
            hide_index=True,
            height=420 if len(shown) > 10 else "content",  # noqa: PLR2004  (a screen's worth)
            column_config=_columns(),
            on_select="rerun",
            selection_mode="single-row",
            placeholder="",
            alt="Items whose truth is another after completion",
        )
    )
    st.caption(
        "The surest first. " + ("" if picked is not None else "Select a row to open the item.")
    )
    if picked is not None:
        item = completion.data.items[shown[picked]]
        words = f"Open item {escape_md(item, limit=40)}"
        if st.button(words, icon=":material/arrow_forward:", key="completion_open_item"):
            state.goto("truths", item=item)


def _cells(run: RunRow, completion: Completion, rows: Places) -> pd.DataFrame:
    data = completion.data
    names = np.array([*data.classes, "undecided"], dtype=object)
    was, now = completion_reads.before(run), completion_reads.answers(run.id, observed=False)
    cells: dict[str, Any] = {
        "item": [data.items[row] for row in rows],
        "was": names[was.truth[rows]],
        "was_sure": percents(was.confidence[rows]),
        "now": names[now.truth[rows]],
        "now_sure": percents(now.confidence[rows]),
        "given": _votes(data.votes[rows], data.classes),
        "filled": _votes(completion.filled_votes[rows], data.classes),
    }
    if data.gold is not None and data.has_gold[rows].any():
        gold = np.asarray(data.gold[rows])
        known = gold != UNKNOWN
        cells["gold"] = np.where(known, names[gold], "")
        right, before = now.truth[rows] == gold, was.truth[rows] == gold
        words = np.where(right, "✓ right now", np.where(before, "✕ was right", "wrong"))
        cells["right"] = np.where(known, words, "")
    return pd.DataFrame(cells)


def _votes(counts: NDArray[np.int64], classes: tuple[str, ...]) -> list[str]:
    """Write votes [rows, K], the commonest first: "3 × cat, 1 × dog"."""
    words = []
    for row, order in zip(counts, np.argsort(-counts, axis=1, kind="stable"), strict=True):
        told = [f"{row[code]:,} × {classes[code]}" for code in order[:MOST_VOTES] if row[code]]
        if more := int(np.count_nonzero(row)) - len(told):
            told.append(count(more, "other class", "other classes"))
        words.append(", ".join(told))
    return words


def _columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "item": column.TextColumn("Item", pinned=True),
        "was": column.TextColumn("Before", help="Without filled labels."),
        "was_sure": column.NumberColumn("Sure", format="%.0f%%", width=60),
        "now": column.TextColumn("Now", help="With filled labels: the truth of this run."),
        "now_sure": column.NumberColumn("Sure ", format="%.0f%%", width=60),
        "given": column.TextColumn("Given labels", help="What workers said."),
        "filled": column.TextColumn("Filled labels", help="What was filled in."),
        "gold": column.TextColumn("Gold"),
        "right": column.TextColumn("Against gold"),
    }
