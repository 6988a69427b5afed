"""What leaving out some workers would change, tried before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.wording import count
from dashboard import cache, layout, state, widgets
from dashboard.server import startup
from dashboard.text import escape_md

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.comparison import Comparison
    from crowdcore.workspace import RunRow

POLL_SECONDS = 0.5

MAX_PIXELS = 240


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
        _draw_effect(cache.comparison(run_id, preview_id), key)
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


def _draw_effect(comparison: Comparison, key: str) -> None:
    """Say what would change, in four numbers and a table."""
    lost = comparison.labels_before - comparison.labels_after
    share = lost / max(1, comparison.labels_before)
    columns = st.columns(4)
    n_changed = len(comparison.items)
    columns[0].metric(
        "Truths that would change",
        count(n_changed),
        f"of {comparison.n_items:,}",
        "off",
        delta_arrow="off",
    )
    columns[1].metric("Labels lost", count(lost), f"{share:.1%} of all", "off", delta_arrow="off")
    columns[2].metric(
        "Items left thin",
        count(len(comparison.thin)),
        "a single label or none",
        "off",
        delta_arrow="off",
        help="Items that would keep fewer than two labels, so that nobody could contradict them.",
    )
    accuracy = comparison.accuracy
    if accuracy is not None:
        columns[3].metric(
            "Right on gold",
            f"{accuracy.n_after / accuracy.n:.1%}",
            f"{accuracy.n_after - accuracy.n_before:+} of {accuracy.n} items",
            help=f"{count(accuracy.gained, 'item')} gained, {accuracy.lost:,} lost; a difference "
            f"like this comes about by chance with a probability of {accuracy.p_value:.2g}.",
        )
    else:
        columns[3].metric("Right on gold", "–", help=comparison.no_accuracy)
    if n_changed:
        widgets.table(
            as_percent(comparison.items),
            alt="Truths that would change",
            height=MAX_PIXELS,
            columns=changed_columns(),
            key=f"{key}_items",
        )


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
