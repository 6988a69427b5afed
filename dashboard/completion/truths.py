"""What completion changed in the truths, against the same method on the labels as given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore import DataError
from crowdcore.audit.completion import score_flips
from crowdcore.data import UNKNOWN
from crowdcore.wording import count, percent, percents
from dashboard import cache, state, widgets
from dashboard.completion import reads
from dashboard.server import startup
from dashboard.tables import page_of
from dashboard.text import escape_md

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.artefacts.completion import Completion
    from crowdcore.audit.completion import Indices
    from crowdcore.workspace import RunRow

PAGE_ROWS = 500
MAX_PIXELS = 420
KINDS = {
    "flipped": ("Flipped", "Both answers are decided, and they differ."),
    "settled": ("Settled", "Tied or without a label before; decided now."),
    "opened": ("Opened", "Decided before; tied now."),
}
MIN_GAIN_POINTS = 0.05
"""Percentage points that do not round to none."""

MAX_VOTES = 4
"""Classes that a cell of votes names."""


def draw(run: RunRow, completion: Completion) -> None:
    """Say what the comparison is with, how many truths changed, and which."""
    uncompleted = reads.counterpart(run)
    _draw_basis(run, uncompleted)
    changed = reads.changed(run)
    _draw_metrics(run, uncompleted, changed)
    kind = _choose_kind(changed)
    rows = _narrowed(run, changed[kind])
    if not len(rows):
        st.info(f"No truth is {KINDS[kind][0].lower()}.", icon=":material/check_circle:")
        return
    _draw_table(run, completion, kind, rows)


def _draw_basis(run: RunRow, uncompleted: RunRow | None) -> None:
    """Say what the truths are compared with; offer the honest comparison where it is missing."""
    title = escape_md(str(cache.provenance(run.id)["title"]))
    if uncompleted is not None and uncompleted.status == "done":
        st.caption(
            f"Compared with {escape_md(uncompleted.label)}: the same method, settings and seed "
            "on the labels as they were given."
        )
        return
    with st.container(border=True, key="completion_basis"):
        st.markdown(
            f"**Compared with the majority vote of the given labels, for now.** Run {title} on "
            "them as they are to see what completion alone changed, also on gold if there is any."
        )
        if uncompleted is not None and uncompleted.active:
            status = "waiting" if uncompleted.status == "queued" else "running"
            st.markdown(
                f":material/progress_activity: {escape_md(uncompleted.label)} without completion "
                f"is {status}; the page shows the comparison when it is done."
            )
            return
        if uncompleted is not None and uncompleted.error:
            st.markdown(
                f"{escape_md(uncompleted.label)} ended without a result. "
                f"{escape_md(uncompleted.error)}"
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


def _draw_metrics(run: RunRow, uncompleted: RunRow | None, changed: dict[str, Indices]) -> None:
    result = cache.result(run.id)
    row = st.container(horizontal=True)
    for name, rows in changed.items():
        title, why = KINDS[name]
        value = f"{count(len(rows))} of {count(result.data.n_items)}"
        widgets.metric(row, f"{title} truths", value, help=why)
    _draw_gold_metrics(run, row, changed)
    now, was = result.score(), None
    if uncompleted is not None and uncompleted.status == "done":
        was = cache.result(uncompleted.id).score()
    if now is not None and was is not None:
        gain = 100 * (now.accuracy - was.accuracy)
        row.metric(
            "Right on gold",
            percent(now.accuracy),
            delta=f"{gain:+.1f} points",
            delta_color="normal" if abs(gain) >= MIN_GAIN_POINTS else "off",
            delta_arrow="auto" if abs(gain) >= MIN_GAIN_POINTS else "off",
            border=True,
            height="stretch",
            help=f"Of {count(now.n, 'item')} with gold; without completion "
            f"{percent(was.accuracy)}.",
        )


def _draw_gold_metrics(run: RunRow, row: DeltaGenerator, changed: dict[str, Indices]) -> None:
    """Say how many flips were right, and how many of what was open before."""
    data = cache.result(run.id).data
    was, now = reads.before(run), reads.answers(run.id, observed=False)
    flips, settled = (score_flips(data, was, now, changed[name]) for name in ("flipped", "settled"))
    if flips.n:
        widgets.metric(
            row,
            "Flips on gold",
            f"+{count(flips.gained)} / −{count(flips.lost)}",
            help=f"Of {count(flips.n, 'flipped item')} with gold, {count(flips.gained)} became "
            f"right and {count(flips.lost)} became wrong; the rest was and is wrong.",
        )
    if settled.n:
        widgets.metric(
            row,
            "Settled on gold",
            f"{count(settled.gained)} of {count(settled.n)}",
            help="Of the settled items with gold, so many are right now.",
        )


def _choose_kind(changed: dict[str, Indices]) -> str:
    first = next((name for name in KINDS if len(changed[name])), "flipped")
    kind = st.pills(
        "Show",
        list(KINDS),
        default=first,
        format_func=lambda name: f"{KINDS[name][0]} :gray[{count(len(changed[name]))}]",
        key="completion_changes",
        label_visibility="collapsed",
    )
    return kind or first


def _narrowed(run: RunRow, rows: Indices) -> Indices:
    """Offer to keep only items with gold, where some but not all have it."""
    has_gold = cache.result(run.id).data.has_gold[rows]
    if has_gold.all() or not has_gold.any():
        return rows
    only = st.toggle(f"Only the {count(has_gold.sum())} with gold", key="completion_with_gold")
    return rows[has_gold] if only else rows


def _draw_table(run: RunRow, completion: Completion, kind: str, rows: Indices) -> None:
    shown = page_of(
        rows,
        key=f"completion_page_{run.id}_{kind}_{len(rows)}",
        noun="items",
        page_rows=PAGE_ROWS,
        sorts="Column heads sort this page only.",
    )
    item = widgets.table(
        _cells(run, completion, shown),
        key=f"completion_items_{run.id}_{kind}_{len(rows)}_{shown[0]}",
        alt="Items whose truth is another after completion",
        columns=_columns(),
        select="item",
        height=MAX_PIXELS,
    )
    widgets.open_item(item, key="completion_open_item", note="The surest first.")


def _cells(run: RunRow, completion: Completion, rows: Indices) -> pd.DataFrame:
    data = completion.data
    names = np.array([*data.classes, "undecided"], dtype=object)
    was, now = reads.before(run), reads.answers(run.id, observed=False)
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
        has_gold = gold != UNKNOWN
        cells["gold"] = np.where(has_gold, names[gold], "")
        is_right, was_right = now.truth[rows] == gold, was.truth[rows] == gold
        verdicts = np.where(is_right, "✓ right now", np.where(was_right, "✕ was right", "wrong"))
        cells["right"] = np.where(has_gold, verdicts, "")
    return pd.DataFrame(cells)


def _votes(counts: NDArray[np.int64], classes: tuple[str, ...]) -> list[str]:
    """Write votes [rows, K], the commonest first: "3 × cat, 1 × dog"."""
    texts = []
    for row, order in zip(counts, np.argsort(-counts, axis=1, kind="stable"), strict=True):
        votes = [f"{row[code]:,} × {classes[code]}" for code in order[:MAX_VOTES] if row[code]]
        if n_hidden := int(np.count_nonzero(row)) - len(votes):
            votes.append(count(n_hidden, "other class", "other classes"))
        texts.append(", ".join(votes))
    return texts


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
