"""Items that look at items: classes against classes, then one item and whose labels weigh in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.attention import common_workers, label_weights, strongest_links
from crowdcore.wording import NOTHING, count, percent, percent_of, percents, rate
from dashboard import cache, layout, state, widgets
from dashboard.attention import reads
from dashboard.charts.attention import by_weight, group_map, times
from dashboard.charts.palette import verdict_words
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.artefacts.attention import AttentionMap
    from crowdcore.workspace import RunRow

MAX_LINKS = 50
MAX_PIXELS = 400  # as high as the map


def draw(run: RunRow, attention: AttentionMap) -> None:
    """Show attention between items, as far as the method has any."""
    item = _selected_item(run)
    if "items" in attention.query:
        left_column, right_column = layout.side_by_side(1, 1)
        with left_column:
            cell = _draw_groups(run)
        with right_column:
            _draw_picker()
            if item is not None:
                _draw_links(run, attention, item)
            elif cell is not None:
                _draw_links_between(run, *cell)
            else:
                _draw_most_looked_at(run)
    else:
        st.info("This run's method does not let items look at each other.")
        _draw_picker()
    if item is not None:
        _draw_labels(run, attention, item)


def _selected_item(run: RunRow) -> int | None:
    name = state.selection("item")
    code = None if name is None else cache.item_codes(run.id).get(name)
    if name is not None and code is None:
        st.warning(
            f"This run's data have no item called {escape_md(name, limit=40)}; look for the exact "
            "name."
        )
    return code


def _draw_picker() -> None:
    key = "attention_item"
    st.session_state[key] = state.selection("item") or ""

    def pick() -> None:
        state.select("item", str(st.session_state[key]).strip() or None)

    st.text_input(
        "Item", key=key, placeholder="Name of an item", icon=":material/search:", on_change=pick
    )


def _draw_groups(run: RunRow) -> tuple[int, int] | None:
    """Draw classes against classes; return the row and column of the cell that was clicked."""
    groups, classes = reads.item_groups(run.id), cache.result(run.id).data.classes
    key = f"attention_groups_{run.id}"
    point = widgets.clicked(key)
    cell = None if point is None else (int(point[0]), int(point[1]))
    if state.is_new(key, point) and cell is not None:
        state.select("item", None)
        st.rerun()
    st.markdown("**How much items of one truth look at items of another**")
    widgets.chart(
        group_map(
            by_weight(groups.weights, log=True),
            groups.weights,
            groups.sizes,
            [classes[code] for code in groups.classes],
            theme=layout.theme(),
            chosen=cell,
        ),
        key=key,
        alt="Mean attention between items, by the class of their truths",
        select="points",
    )
    note = "The mean over all their links; 1× is an even share. "
    if reads.survey(run.id, "items").is_even:
        note = "**The weights are nearly even**: the method hardly tells items apart. " + note
    if len(groups.classes) < len(classes):
        note += f"The {count(len(groups.classes))} commonest of {count(len(classes))} classes. "
    st.caption(note + "Click a cell for its strongest_links links.")
    return cell


def _draw_most_looked_at(run: RunRow) -> None:
    """List the items that get the most attention."""
    survey = reads.survey(run.id, "items")
    top = np.argsort(-survey.received, kind="stable")[:MAX_LINKS]
    st.markdown("**Items that others look at most**")
    frame = _item_cells(run, top).assign(weight=[times(survey.received[code]) for code in top])
    _draw_item_table(frame, f"attention_top_{run.id}", "Items that get the most attention")
    note = "The mean weight that an item gets, against an even share. "
    n_items = len(survey.received)
    if survey.n_sampled < n_items:
        note += f"As {count(survey.n_sampled)} of {count(n_items)} items see it, drawn at random. "
    st.caption(note + "Select a row to see its links.")


def _draw_links_between(run: RunRow, row: int, column: int) -> None:
    """List the strongest_links links from one class to another."""
    groups, classes = reads.item_groups(run.id), cache.result(run.id).data.classes
    links = reads.item_links(run.id, row, column, MAX_LINKS)
    names = [escape_md(classes[groups.classes[group]], limit=30) for group in (row, column)]
    st.markdown(f"**Strongest links from {names[0]} to {names[1]}**")
    if not len(links.source):
        st.caption("There are none.")
        return
    frame = _item_cells(run, links.source)[["item"]].assign(
        other=_item_cells(run, links.target)["item"],
        weight=[times(weight) for weight in links.weight],
    )
    key = f"attention_between_{run.id}_{row}_{column}"
    _draw_item_table(frame, key, "Strongest links of two classes")
    st.caption("Select a row to see the first item's links.")


def _draw_links(run: RunRow, attention: AttentionMap, item: int) -> None:
    """List which items an item looks at most."""
    data = cache.result(run.id).data
    links = strongest_links(attention, "items", item, max_links=MAX_LINKS)
    st.markdown(f"**Which items {escape_md(data.items[item], limit=30)} looks at most**")
    n_shared, n_same = common_workers(data, item, links.target)
    frame = _item_cells(run, links.target).assign(
        weight=[times(weight) for weight in links.weight],
        shared=[
            percent_of(same / shared, shared) if shared else NOTHING
            for same, shared in zip(n_same, n_shared, strict=True)
        ],
    )
    key = f"attention_item_links_{run.id}_{item}"
    _draw_item_table(frame, key, "Items that an item looks at most")
    st.caption("Select a row to go on to that item.")


def _item_cells(run: RunRow, codes: np.ndarray[Any, Any]) -> pd.DataFrame:
    result = cache.result(run.id)
    classes = (*result.data.classes, "undecided")
    return pd.DataFrame(
        {
            "item": [result.data.items[code] for code in codes],
            "truth": [classes[code] for code in result.truth[codes]],
            "confidence": percents(result.confidence[codes]),
        }
    )


def _draw_item_table(frame: pd.DataFrame, key: str, alt: str) -> None:
    """Draw a table of items; a selected row becomes the selected item."""
    if widgets.follow_row(frame, key, "item", clears=False):
        st.rerun()  # what stands above was drawn for another item
    column = st.column_config
    widgets.table(
        frame,
        key=key,
        alt=alt,
        select="item",
        height=MAX_PIXELS,
        order=["item", "other", "weight", "truth", "confidence", "shared"],
        columns={
            "item": column.TextColumn("Item", pinned=True, width=90),
            "other": column.TextColumn("Looks at", width=90),
            "weight": column.TextColumn("Weight", width=70, help="Against an even share."),
            "truth": column.TextColumn("Truth", width=95),
            "confidence": widgets.percent_bar("Confidence", width=110),
            "shared": column.TextColumn(
                "Same label", width=95, help="Of the workers who labelled both items."
            ),
        },
    )


def _draw_labels(run: RunRow, attention: AttentionMap, item: int) -> None:
    """List whose labels weigh most in an item."""
    result = cache.result(run.id)
    data = result.data
    labels = label_weights(attention, "items", item)
    name = data.items[item]
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Item {escape_md(name, limit=60)}", anchor=False)
        widgets.open_item(name, key="attention_open_item")
    truth = (*data.classes, "undecided")[result.truth[item]]
    confidence = percent(float(result.confidence[item]))
    n_labels = count(data.labels_per_item[item], "label")
    st.markdown(f"Truth **{escape_md(truth, limit=40)}** · {confidence} sure · {n_labels}")
    if labels.empty:
        st.caption("This run does not weigh single labels, or nobody labelled the item.")
        return
    st.markdown("**Whose labels weigh most**")
    workers = cache.workers(run.id).iloc[labels["worker"]]
    accuracies = zip(
        *(workers[column] for column in ("accuracy", "accuracy_low", "accuracy_high")), strict=True
    )
    frame = pd.DataFrame(
        {
            "worker": workers["worker"].to_numpy(),
            "label": [
                f"{'✓' if code == result.truth[item] else '✕'} {data.classes[code]}"
                for code in labels["label"]
            ],
            "share": 100 * labels["share"].to_numpy(),
            "weight": [times(weight) for weight in labels["weight"]],
            "verdict": [verdict_words(verdict) for verdict in workers["verdict"]],
            "accuracy": [rate(*accuracy) for accuracy in accuracies],
        }
    )
    column = st.column_config
    worker = widgets.table(
        frame,
        key=f"attention_item_labels_{run.id}_{item}",
        alt="The item's labels, the heaviest first",
        select="worker",
        columns={
            "worker": column.TextColumn("Worker", pinned=True),
            "label": column.TextColumn("Said", help="✓ is what the truth is, ✕ is not."),
            "share": column.ProgressColumn(
                "Share of the attention", min_value=0, max_value=100, format="%.0f%%"
            ),
            "weight": column.TextColumn("Weight", help="Against an even share of the labels."),
            "verdict": column.TextColumn("Verdict"),
            "accuracy": column.TextColumn("Accuracy", help="In this run, with 95% interval."),
        },
    )
    widgets.open_worker(worker, key="attention_open_worker")
