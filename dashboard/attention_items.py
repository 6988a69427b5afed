"""Items that look at items: classes against classes, then one item and whose labels weigh in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit import attention as audit
from dashboard import attention_pair, attention_reads, opening, reads, state
from dashboard.charts.attention import by_weight, group_map, times
from dashboard.charts.palette import verdict_words
from dashboard.paging import chosen_point, chosen_row
from dashboard.text import NOTHING, count, escape_md, interval, percent, percents

if TYPE_CHECKING:
    from crowdcore.artefacts.attention import AttentionMap
    from crowdcore.workspace import RunRow

MOST_LINKS = 50


def draw(run: RunRow, attention: AttentionMap) -> None:
    """Show attention between items, as far as the method has any."""
    item = _chosen(run)
    if "items" in attention.query:
        left, right = opening.side_by_side(1, 1)
        with left:
            cell = _draw_groups(run)
        with right:
            _picker(run)
            if item is not None:
                _links(run, attention, item)
            elif cell is not None:
                _between(run, *cell)
            else:
                _looked_at(run)
    else:
        st.info("This run's method does not let items look at each other.")
        _picker(run)
    if item is not None:
        _labels(run, attention, item)


def _chosen(run: RunRow) -> int | None:
    name = state.selection("item")
    code = None if name is None else reads.item_codes(run.id).get(name)
    if name is not None and code is None:
        st.warning(
            f"This run's data have no item called {escape_md(name, limit=40)}; look for the exact "
            "name."
        )
    return code


def _picker(run: RunRow) -> None:
    key = "attention_item"
    current = state.selection("item") or ""
    st.session_state[key] = current

    def pick() -> None:
        state.select("item", str(st.session_state[key]).strip() or None)

    st.text_input(
        "Item", key=key, placeholder="Name of an item", icon=":material/search:", on_change=pick
    )


def _draw_groups(run: RunRow) -> tuple[int, int] | None:
    """Draw classes against classes; return the places of the cell that was clicked."""
    groups, classes = attention_reads.item_groups(run.id), reads.result(run.id).data.classes
    key = f"attention_groups_{run.id}"
    point = chosen_point(st.session_state.get(key))
    cell = None if point is None else (int(point[0]), int(point[1]))
    if state.is_new(key, point) and cell is not None:
        state.select("item", None)
        st.rerun()
    st.markdown("**How much items of one truth look at items of another**")
    st.plotly_chart(
        group_map(
            by_weight(groups.weights, log=True),
            groups.weights,
            groups.sizes,
            [classes[code] for code in groups.classes],
            theme=opening.theme(),
            chosen=cell,
        ),
        key=key,
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        alt="Mean attention between items, by the class of their truths",
    )
    words = "The mean over all their links; 1× is an even share. "
    if attention_reads.survey(run.id, "items").is_even:
        words = "**The weights are nearly even**: the method hardly tells items apart. " + words
    if len(groups.classes) < len(classes):
        words += f"The {count(len(groups.classes))} commonest of {count(len(classes))} classes. "
    st.caption(words + "Click a cell for its strongest links.")
    return cell


def _looked_at(run: RunRow) -> None:
    """List the items that get the most attention."""
    whole = attention_reads.survey(run.id, "items")
    top = np.argsort(-whole.received, kind="stable")[:MOST_LINKS]
    st.markdown("**Items that others look at most**")
    frame = _item_cells(run, top, "item").assign(weight=[times(whole.received[i]) for i in top])
    _pick_item(frame, f"attention_top_{run.id}", "Items that get the most attention")
    words = "The mean weight that an item gets, against an even share. "
    n = len(whole.received)
    if whole.looked < n:
        words += f"As {count(whole.looked)} of {count(n)} items see it, drawn at random. "
    st.caption(words + "Select a row to see its links.")


def _between(run: RunRow, row: int, column: int) -> None:
    """List the strongest links from one class to another."""
    groups, classes = attention_reads.item_groups(run.id), reads.result(run.id).data.classes
    found = attention_reads.item_links(run.id, row, column, MOST_LINKS)
    names = [escape_md(classes[groups.classes[place]], limit=30) for place in (row, column)]
    st.markdown(f"**Strongest links from {names[0]} to {names[1]}**")
    if not len(found.node):
        st.caption("There are none.")
        return
    frame = _item_cells(run, found.node, "item")[["item"]].assign(
        other=_item_cells(run, found.other, "item")["item"],
        weight=[times(weight) for weight in found.weight],
    )
    _pick_item(
        frame, f"attention_between_{run.id}_{row}_{column}", "Strongest links of two classes"
    )
    st.caption("Select a row to see the first item's links.")


def _links(run: RunRow, attention: AttentionMap, item: int) -> None:
    """List which items an item looks at most."""
    data = reads.result(run.id).data
    found = audit.strongest(attention, "items", item, most=MOST_LINKS)
    st.markdown(f"**Which items {escape_md(data.items[item], limit=30)} looks at most**")
    shared, same = audit.common_workers(data, item, found.other)
    frame = _item_cells(run, found.other, "item")
    frame = frame.assign(
        weight=[times(weight) for weight in found.weight],
        shared=[
            f"{percent(hits / n, 0)} of {count(n)}" if n else NOTHING
            for hits, n in zip(same, shared, strict=True)
        ],
    )
    _pick_item(frame, f"attention_item_links_{run.id}_{item}", "Items that an item looks at most")
    st.caption("Select a row to go on to that item.")


def _item_cells(run: RunRow, codes: np.ndarray, column: str) -> pd.DataFrame:
    result = reads.result(run.id)
    classes = (*result.data.classes, "undecided")
    return pd.DataFrame(
        {
            column: [result.data.items[code] for code in codes],
            "truth": [classes[code] for code in result.truth[codes]],
            "confidence": percents(result.confidence[codes]),
        }
    )


def _pick_item(frame: pd.DataFrame, key: str, alt: str) -> None:
    """Draw a table of items; a selected row becomes the selected item."""
    row = chosen_row(st.session_state.get(key))
    if state.is_new(key, row) and row is not None:
        state.select("item", str(frame["item"].iloc[row]))
        st.rerun()
    column = st.column_config
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=400 if len(frame) > 10 else "content",  # noqa: PLR2004  (as high as the map)
        on_select="rerun",
        selection_mode="single-row",
        placeholder="",
        alt=alt,
        column_order=["item", "other", "weight", "truth", "confidence", "shared"],
        column_config={
            "item": column.TextColumn("Item", pinned=True, width=90),
            "other": column.TextColumn("Looks at", width=90),
            "weight": column.TextColumn("Weight", width=70, help="Against an even share."),
            "truth": column.TextColumn("Truth", width=95),
            "confidence": column.ProgressColumn(
                "Confidence", min_value=0, max_value=100, format="%.1f%%", width=110
            ),
            "shared": column.TextColumn(
                "Same label", width=95, help="Of the workers who labelled both items."
            ),
        },
    )


def _labels(run: RunRow, attention: AttentionMap, item: int) -> None:
    """List whose labels weigh most in an item."""
    result = reads.result(run.id)
    data = result.data
    found = audit.label_weights(attention, "items", item)
    name = data.items[item]
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Item {escape_md(name, limit=60)}", anchor=False)
        attention_pair.open_item(name, "attention_open_item")
    truth = (*data.classes, "undecided")[result.truth[item]]
    sure = percent(float(result.confidence[item]))
    labels = count(data.labels_per_item[item], "label")
    st.markdown(f"Truth **{escape_md(truth, limit=40)}** · {sure} sure · {labels}")
    if found.empty:
        st.caption("This run does not weigh single labels, or nobody labelled the item.")
        return
    st.markdown("**Whose labels weigh most**")
    workers = reads.workers(run.id).iloc[found["worker"]]
    frame = pd.DataFrame(
        {
            "worker": workers["worker"].to_numpy(),
            "said": [
                f"{'✓' if code == result.truth[item] else '✕'} {data.classes[code]}"
                for code in found["label"]
            ],
            "share": 100 * found["share"].to_numpy(),
            "weight": [times(weight) for weight in found["weight"]],
            "verdict": [verdict_words(word) for word in workers["verdict"]],
            "accuracy": [
                NOTHING if n == 0 else f"{percent(rate, 0)} ({interval(low, high)})"
                for rate, low, high, n in zip(
                    workers["accuracy"],
                    workers["accuracy_low"],
                    workers["accuracy_high"],
                    workers["n_compared"],
                    strict=True,
                )
            ],
        }
    )
    column = st.column_config
    picked = chosen_row(
        st.dataframe(
            frame,
            key=f"attention_item_labels_{run.id}_{item}",
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            placeholder="",
            alt="The item's labels, the heaviest first",
            column_config={
                "worker": column.TextColumn("Worker", pinned=True),
                "said": column.TextColumn("Said", help="✓ is what the truth is, ✕ is not."),
                "share": column.ProgressColumn(
                    "Share of the attention", min_value=0, max_value=100, format="%.0f%%"
                ),
                "weight": column.TextColumn("Weight", help="Against an even share of the labels."),
                "verdict": column.TextColumn("Verdict"),
                "accuracy": column.TextColumn("Accuracy", help="In this run, with 95% interval."),
            },
        )
    )
    if picked is None:
        st.caption("Select a row to open that worker.")
        return
    worker = str(frame["worker"].iloc[picked])
    words = f"Open worker {escape_md(worker, limit=30)}"
    if st.button(words, icon=":material/arrow_forward:", key="attention_open_worker"):
        state.goto("workers", worker=worker)
