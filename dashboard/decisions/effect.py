"""What leaving out some workers would change, tried before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.results.result import wilson
from crowdcore.wording import count, interval, percent
from crowdcore.workspace.errors import StorageError
from dashboard import cache, layout, state, widgets
from dashboard.server import startup
from dashboard.text import escape_md

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.audit.comparison import Comparison
    from crowdcore.workspace import RunRow

POLL_SECONDS = 0.5

MAX_PIXELS = 240

PRICE = "price_of_a_label:{project}"
"""The setting that keeps what a label of a project cost."""


def draw(run: RunRow, names: Sequence[str], *, page: str) -> None:
    """Offer a preview; show how far it is, then what it says.

    Parameters
    ----------
    run
        The run that is open.
    names
        The workers who would be left out.
    page
        The page that the offer stands on.
    """
    key = f"{page}_preview"
    asked = (run.id, tuple(names))
    preview_id, preview_of = state.kept(key) or ("", None)
    if preview_of != asked:
        if st.button("See what it would change", icon=":material/preview:", key=f"{key}_go"):
            _queue(run, names, key)
            st.rerun()
        return
    _follow(run.id, preview_id, key)


def _queue(run: RunRow, names: Sequence[str], key: str) -> None:
    workspace = state.workspace()
    try:
        preview = workspace.preview(run.id, exclude=list(names))
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    startup.wake_jobs(workspace)
    state.keep(key, (preview.id, (run.id, tuple(names))))


def _follow(run_id: str, preview_id: str, key: str) -> None:
    """Show the preview when it is done; until then look again and again."""
    try:
        preview = state.workspace().run(preview_id)
    except DataError:  # another tab has asked for one since
        state.keep(key, None)
        st.rerun()
    if preview.active:
        _wait(preview_id)
    elif preview.status == "done":
        _draw_effect(cache.comparison(run_id, preview_id), run_id, preview_id, key)
    else:
        st.warning(
            f"The preview ended without a result. {escape_md(preview.error)}",
            icon=":material/warning:",
        )


@st.fragment(run_every=POLL_SECONDS)
def _wait(preview_id: str) -> None:
    try:
        preview = state.workspace().run(preview_id)
    except DataError:
        st.rerun()
    if not preview.active:
        st.rerun()
    st.progress(preview.share, text=escape_md(f"Trying it: {layout.stage(preview)}"))


def _draw_effect(comparison: Comparison, run_id: str, preview_id: str, key: str) -> None:
    """Say what would change, in numbers and a table."""
    lost = comparison.labels_before - comparison.labels_after
    row = st.container(horizontal=True)
    n_changed = len(comparison.items)
    widgets.metric(
        row, "Truths that would change", count(n_changed), note=f"of {comparison.n_items:,}"
    )
    _draw_quality(row, comparison, run_id, preview_id)
    widgets.metric(
        row,
        "Items left thin",
        count(len(comparison.thin)),
        note="a single label or none",
        help="Items that would keep fewer than two labels, so that nobody could contradict them.",
    )
    share = lost / max(1, comparison.labels_before)
    widgets.metric(row, "Labels lost", count(lost), note=f"{percent(share)} of all")
    price = _ask_price(row, run_id)
    if price:
        widgets.metric(
            row,
            "Paid for them",
            f"{lost * price:,.2f}",
            note=f"{price:g} a label",
            help="What the labels cost that would no longer be used.",
        )
    if n_changed:
        widgets.table(
            as_percent(comparison.items),
            alt="Truths that would change",
            height=MAX_PIXELS,
            columns=changed_columns(),
            key=f"{key}_items",
        )


def _draw_quality(
    row: DeltaGenerator, comparison: Comparison, run_id: str, preview_id: str
) -> None:
    """Say how right the truths would be: on gold, else as far as other crowds can tell."""
    accuracy = comparison.accuracy
    if accuracy is not None:
        low, high = wilson(accuracy.n_after, accuracy.n)
        widgets.metric(
            row,
            "Right on gold",
            f"{percent(accuracy.n_before / accuracy.n)} → {percent(accuracy.n_after / accuracy.n)}",
            note=f"{interval(float(low), float(high))}, {accuracy.n:,} with gold",
            help=f"{count(accuracy.gained, 'item')} gained, {accuracy.lost:,} lost; a difference "
            f"like this comes about by chance with a probability of {accuracy.p_value:.2g}.",
        )
        return
    before, after = cache.expected_accuracy(run_id), cache.expected_accuracy(preview_id)
    if before is not None and after is not None:
        widgets.metric(
            row,
            "Expected to be right",
            f"{percent(before.estimate, 0)} → {percent(after.estimate, 0)}",
            note=f"{interval(after.low, after.high)} after",
            help=f"{after.describe()} {comparison.no_accuracy}",
        )
    elif comparison.confidence_before is not None and comparison.confidence_after is not None:
        widgets.metric(
            row,
            "Mean confidence",
            f"{percent(comparison.confidence_before)} → {percent(comparison.confidence_after)}",
            help=f"Surer is not righter. {comparison.no_accuracy}",
        )
    else:
        widgets.metric(row, "How right", "not known", help=comparison.no_accuracy)


def _ask_price(row: DeltaGenerator, run_id: str) -> float:
    """Ask once per project what a label cost; 0 where nobody said."""
    workspace = state.workspace()
    name = PRICE.format(project=workspace.run(run_id).project_id)
    known = float(workspace.setting(name, 0.0))
    price = row.number_input(
        "Price of a label", 0.0, None, known, step=0.01, key=f"price_{name}", width=140
    )
    if price != known:
        with suppress(StorageError):  # full or read-only: one can look all the same
            workspace.set_setting(name, price)
    return float(price)


def as_percent(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn shares into percent, for columns that are headed so."""
    names = frame.columns.astype(str)
    shares = [name for name in names if name.startswith(("confidence_", "accuracy_"))]
    return frame.assign(**{name: 100 * frame[name] for name in shares})


def changed_columns() -> dict[str, object]:
    """Return how columns of changed truths are headed and shown."""
    column = st.column_config
    return {
        "item": column.TextColumn("Item", pinned=True),
        "truth_before": column.Column("Truth before"),
        "truth_after": column.Column("Truth after"),
        "confidence_before": column.NumberColumn(
            "Confidence before", format=widgets.PERCENT_FORMAT
        ),
        "confidence_after": column.NumberColumn("after", format=widgets.PERCENT_FORMAT),
        "labels_before": column.NumberColumn("Labels before"),
        "labels_after": column.NumberColumn("after"),
    }
