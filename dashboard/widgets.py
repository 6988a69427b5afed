"""What pages draw alike: charts, tables whose rows select, and the way to an item or a worker.

A chart or table that can be clicked keeps its selection in the session under its key. A page
reads it with `clicked` or `selected_row` before it draws, so that what stands above the widget
already shows what was selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from dashboard import state
from dashboard.text import escape_md

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from streamlit.delta_generator import DeltaGenerator

ROW_PIXELS = 35
"""Height of a table's row, and of its head."""

PICTURE_ROW_PIXELS = 56

PERCENT_FORMAT = "%.1f%%"

MAX_NAME_LETTERS = 40
"""Letters of an item's or a worker's name on a button."""


def chart(
    figure: go.Figure, *, key: str, alt: str, select: Literal["points", "lasso"] | None = None
) -> None:
    """Draw a figure without Plotly's toolbar.

    Parameters
    ----------
    figure
        The figure, finished by a function of `dashboard.charts`.
    key
        The widget's key; a click is kept under it in the session.
    alt
        What the chart shows, for readers who cannot see it.
    select
        "points" if a point can be clicked, "lasso" if a loop can be drawn around several as
        well; None for a chart that is only looked at.

    """
    selection: dict[str, Any] = {}
    if select is not None:
        modes = ("points", "lasso") if select == "lasso" else "points"
        selection = {"on_select": "rerun", "selection_mode": modes}
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt, **selection)


def clicked(key: str) -> list[Any] | None:
    """Return the customdata of the point that was clicked last in the chart under a key."""
    return next(iter(clicked_points(key)), None)


def clicked_points(key: str) -> list[list[Any]]:
    """Return the customdata of every point that is selected in the chart under a key."""
    points = (_selection(key).get("points") or []) if key in st.session_state else []
    return [data for point in points if (data := _customdata(point)) is not None]


def follow_click(key: str, name: str) -> None:
    """Select in the URL, as `name`, what a click on the chart under a key has newly picked."""
    point = clicked(key)
    state.follow(name, key, None if point is None else str(point[0]), clears=False)


def table(
    frame: Any,
    *,
    alt: str,
    columns: dict[str, Any] | None = None,
    key: str | None = None,
    select: str | None = None,
    linked: bool = False,
    height: int | Literal["auto", "content"] = "auto",
    pictures: bool = False,
    order: list[str] | None = None,
) -> str | None:
    """Draw a table, of which a row can be selected.

    Parameters
    ----------
    frame
        A pandas frame, or a Styler over one.
    alt
        What the table lists, for readers who cannot see it.
    columns
        Streamlit's column configuration by column; a column that is missing is skipped.
    key
        The widget's key; needed where a row can be selected.
    select
        The column whose value is returned for the selected row, such as "worker" or "item";
        None for a table that is only looked at.
    linked
        Whether the URL's selection called `select` follows the row, and the row the URL.
    height
        A number is the most pixels it takes before it scrolls.
    pictures
        Whether rows are high enough for small pictures.
    order
        The columns to show, from left to right; all if None.

    Returns
    -------
    The selected row's value in the column `select`; None where no row is selected.

    """
    options: dict[str, Any] = {"height": height, "pictures": pictures, "order": order}
    if select is None or key is None:
        _draw_table(frame, key=key, alt=alt, columns=columns, **options)
        return None
    shown: pd.DataFrame = getattr(frame, "data", frame)
    if linked:
        follow_row(shown, key, select)
        mark_row(shown, key, select)
    _draw_table(frame, key=key, alt=alt, columns=columns, mode="single-row", **options)
    return _selected_value(shown, key, select)


def tick_table(
    frame: Any,
    *,
    key: str,
    alt: str,
    columns: dict[str, Any],
    select: str,
    ticked: Sequence[str],
    height: int,
) -> list[str]:
    """Draw a table of which several rows can be ticked.

    Parameters
    ----------
    frame, key, alt, columns, height
        As `table` takes them.
    select
        The column whose values say which rows are ticked.
    ticked
        The values that are ticked so far; some of them may not be among the rows.

    Returns
    -------
    The values that are ticked now: those without a row stay.
    """
    values = [str(value) for value in getattr(frame, "data", frame)[select]]
    rows = [row for row in selected_rows(key) if row < len(values)]
    if state.is_new(key, [values[row] for row in rows] or None):
        is_shown = set(values)
        ticked = [*(value for value in ticked if value not in is_shown), *(values[r] for r in rows)]
    is_ticked = set(ticked)
    rows = [row for row, value in enumerate(values) if value in is_ticked]
    state.mark_rows(key, rows, [values[row] for row in rows] or None)
    _draw_table(frame, key=key, alt=alt, columns=columns, height=height, mode="multi-row")
    return list(ticked)


def selected_row(key: str) -> int | None:
    """Return the position of the selected row of the table under a key."""
    rows = selected_rows(key)
    return rows[0] if rows else None


def selected_rows(key: str) -> list[int]:
    """Return the positions of all selected rows of the table under a key."""
    return sorted(int(row) for row in _selection(key).get("rows") or [])


def follow_row(frame: pd.DataFrame, key: str, name: str, *, clears: bool = True) -> bool:
    """Select in the URL, as `name`, what the table under a key has newly picked.

    Returns whether that changed the selection: what was drawn before it is then out of date.
    """
    return state.follow(name, key, _selected_value(frame, key, name), clears=clears)


def mark_row(frame: pd.DataFrame, key: str, name: str) -> None:
    """Mark the row that the URL selects in a table that is not drawn yet."""
    rows = np.flatnonzero((frame[name] == state.selection(name)).to_numpy())
    state.mark_rows(key, rows[:1].tolist(), state.selection(name) if len(rows) else None)


def percent_bar(title: str, **options: Any) -> Any:
    """Configure a column of percentages as bars from 0 to 100."""
    return st.column_config.ProgressColumn(
        title, min_value=0, max_value=100, format=PERCENT_FORMAT, **options
    )


def metric(
    row: DeltaGenerator, label: str, value: str, *, help: str = "", note: str | None = None
) -> None:
    """Draw a number in a row of numbers of one height; a note stands below it."""
    row.metric(
        label,
        value,
        border=True,
        height="stretch",
        help=help or None,
        delta=note,
        delta_color="off",
        delta_arrow="off",
    )


def panel_heading(title: str, *, key: str, on_close: Callable[[], None]) -> None:
    """Write the heading of a panel, with a button that closes it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(title, anchor=False)
        st.button("Close", icon=":material/close:", key=key, type="tertiary", on_click=on_close)


def download_csv(frame: pd.DataFrame, name: str, *, key: str, label: str = "Download CSV") -> None:
    """Offer a table as a CSV file that is safe to open in a spreadsheet."""
    from crowdcore.export.writers import frame_bytes

    st.download_button(
        label,
        lambda: frame_bytes(frame, "csv"),
        file_name=name,
        mime="text/csv",
        icon=":material/download:",
        key=key,
        on_click="ignore",
        disabled=frame.empty,
    )


def open_item(name: str | None, *, key: str, note: str = "") -> None:
    """Offer to open an item on the Truths page; without a name, say how to select one.

    `note` is written before the button, or before the hint; it is Markdown.
    """
    if _open(name, "item", note, key=key):
        state.goto("truths", item=str(name))


def open_worker(name: str | None, *, key: str, note: str = "") -> None:
    """Offer to open a worker on the Workers page; without a name, say how to select one."""
    if _open(name, "worker", note, key=key):
        state.goto("workers", worker=str(name))


def _open(name: str | None, noun: str, note: str, *, key: str) -> bool:
    """Write the note and the button, or how to get one; return whether it was pressed."""
    if name is None:
        st.caption(f"{note} Select a row to open the {noun}.".strip())
        return False
    if note:
        st.caption(note)
    label = f"Open {noun} {escape_md(name, limit=MAX_NAME_LETTERS)}"
    return st.button(label, icon=":material/arrow_forward:", key=key)


def _draw_table(
    frame: Any,
    *,
    key: str | None,
    alt: str,
    columns: dict[str, Any] | None,
    height: int | Literal["auto", "content"],
    pictures: bool = False,
    order: list[str] | None = None,
    mode: Literal["single-row", "multi-row"] | None = None,
) -> None:
    """Draw a table as high as its rows, up to a height, with rows that can be selected or not."""
    row_pixels = PICTURE_ROW_PIXELS if pictures else ROW_PIXELS
    n_rows = len(getattr(frame, "data", frame))
    if isinstance(height, int) and n_rows * row_pixels + ROW_PIXELS <= height:
        height = "content"
    selection: dict[str, Any] = {}
    if mode is not None:
        selection = {"on_select": "rerun", "selection_mode": mode}
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=height,
        row_height=PICTURE_ROW_PIXELS if pictures else None,
        column_config=columns,
        column_order=order,
        placeholder="",
        alt=alt,
        **selection,
    )


def _selection(key: str) -> dict[str, Any]:
    """Return a widget's selection, before or after the widget is drawn."""
    selection: dict[str, Any] = (st.session_state.get(key) or {}).get("selection") or {}
    return selection


def _selected_value(frame: pd.DataFrame, key: str, column: str) -> str | None:
    row = selected_row(key)
    return None if row is None or row >= len(frame) else str(frame[column].iloc[row])


def _customdata(point: dict[str, Any]) -> list[Any] | None:
    data = point.get("customdata")
    if isinstance(data, dict):  # typed arrays reach us with their positions as keys
        return [data[position] for position in sorted(data, key=int)]
    if data is None or isinstance(data, (list, tuple)):
        return None if data is None else list(data)
    return [data]
