"""Workers who look at workers: the map, the strongest links, and the labels that weigh most."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.attention import common_share, label_weights
from crowdcore.audit.pairs import MIN_SHARED_ITEMS
from crowdcore.wording import count, percents
from dashboard import cache, layout, state, widgets
from dashboard.attention import links, pair, reads
from dashboard.attention.reads import Rule
from dashboard.charts.attention import MAX_NAMES, by_excess, by_weight, node_map, times
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.artefacts.attention import AttentionMap
    from crowdcore.workspace import RunRow

ALL_SHOWN = 60
"""Workers up to which everyone is shown, and no rule is needed."""

SHOWN, MAX_SHOWN = 80, 200
"""Workers that a map shows at first, and at most: below three pixels a cell cannot be hit."""

MAX_LABELS = 200
MAX_PIXELS = 300

ALIKE_ROWS = 0.9
"""Rows whose differences are so much the same are said to be all alike."""

COLOURS = {"attention": "Attention", "agreement": "Agreement beyond expected"}
TITLES = {
    "attention": ("this worker looks …", "… at this worker"),
    "agreement": ("worker", "the other"),
}
RULES: dict[Rule, str] = {
    "alike": "Most alike",
    "links": "Strongest links",
    "labels": "Most labels",
    "near": "Looked at by the chosen one",
}


def draw(run: RunRow, attention: AttentionMap) -> None:
    """Show attention between workers, as far as the method has any."""
    worker, other = pair.chosen(run)
    if "workers" in attention.query:
        _draw_map(run, attention, worker, other)
    else:
        st.info("This run's method does not let workers look at each other.")
        links.draw_picker(run)
    if worker is None:
        return
    if other is not None and other != worker:
        pair.draw(run, worker, other)
    _draw_labels(run, attention, worker)


def _draw_map(run: RunRow, attention: AttentionMap, worker: int | None, other: int | None) -> None:
    _draw_metrics(run)
    colour, log, shown = _controls(run, worker)
    worker_map = reads.worker_map(run.id, shown, colour)
    codes, names = worker_map.codes, cache.result(run.id).data.workers
    key = f"attention_map_{run.id}_{colour}_{zlib.crc32(codes.tobytes()):08x}"
    point = widgets.clicked(key)
    if state.is_new(key, point) and point is not None:
        row_name, column_name = (names[int(code)] for code in point[:2])
        state.select("worker", row_name)
        state.select("other", column_name if column_name != row_name else None)
        st.rerun()
    left_column, right_column = layout.side_by_side(7, 6)
    with left_column:
        shade = by_weight(worker_map.weights, log=log, links=~np.eye(len(codes), dtype=bool))
        if colour == "agreement":
            shade = by_excess(worker_map.agreement.excess)
        widgets.chart(
            node_map(
                shade,
                worker_map.texts,
                codes,
                [names[code] for code in codes],
                cache.workers(run.id)["verdict"].iloc[codes].tolist(),
                theme=layout.theme(),
                titles=TITLES[colour],
                worker=worker,
                other=other,
            ),
            key=key,
            alt="Map of workers against workers; each cell is one worker's attention to another",
            select="points",
        )
        st.caption(_map_note(run, worker_map, colour))
    with right_column:
        links.draw_picker(run)
        if worker is None:
            links.draw_pairs(run)
        else:
            links.draw_links(run, attention, worker, colour)


def _draw_metrics(run: RunRow) -> None:
    survey = reads.survey(run.id, "workers")
    data = cache.result(run.id).data
    active = reads.active(run.id)
    top = int(np.where(active, survey.received, -1).argmax())
    row = st.container(horizontal=True)
    widgets.metric(row, "Workers", count(active.sum()))
    widgets.metric(
        row,
        "A worker looks at",
        f"{survey.reach:,.0f} of {count(data.n_workers)}",
        help="To how many workers the attention of one amounts, on the whole: all of them if it "
        "is spread evenly, 1 if it goes to a single one.",
    )
    widgets.metric(
        row,
        "Most looked at",
        "All alike"
        if survey.is_even
        else f"{escape_md(data.workers[top], limit=24)} · {times(survey.received[top])}",
        help="The worker who gets the most attention from the others, and how many times an even "
        "share that is.",
    )
    pairs = reads.crowd(run.id)
    widgets.metric(
        row,
        "Alike beyond expected",
        count(pairs.beyond_luck.sum(), "pair"),
        help=f"Of {count(len(pairs.first), 'pair')} with at least {MIN_SHARED_ITEMS} shared items. "
        "This is read from the labels, not from attention: they agree, or err alike, more often "
        "than luck explains for two workers as good as these.",
    )


def _controls(run: RunRow, worker: int | None) -> tuple[reads.Colour, bool, tuple[int, ...]]:
    """Draw the row of choices; return how to colour, whether in logs, and whom to show."""
    n_active = int(reads.active(run.id).sum())
    if is_even := reads.survey(run.id, "workers").is_even:
        st.info(
            "The weights are nearly even: in this run the method hardly tells workers apart. What "
            "the labels say of who answers alike does not depend on that.",
            icon=":material/drag_handle:",
        )
    row = st.container(horizontal=True, vertical_alignment="bottom")
    colour = row.segmented_control(
        "Colour by",
        list(COLOURS),
        default="agreement" if is_even else "attention",
        format_func=COLOURS.__getitem__,
        key=f"attention_colour_{run.id}",
    )
    log = True
    if colour != "agreement":
        log = row.toggle(
            "Log scale",
            value=True,
            key="attention_log",
            help="Half and double are equally far from an even share.",
        )
    rule: Rule = "alike"
    n_shown = n_active
    if n_active > ALL_SHOWN:
        rules = [name for name in RULES if name != "near" or worker is not None]
        rule = row.selectbox(
            "Workers shown", rules, format_func=RULES.__getitem__, key="attention_rule", width=260
        )
        n_shown = row.number_input(
            "How many",
            10,
            min(MAX_SHOWN, n_active),
            min(SHOWN, n_active),
            key="attention_most",
            width=140,
            step=10,
        )
    shown = reads.choose_workers(run.id, rule, int(n_shown), worker)
    return "agreement" if colour == "agreement" else "attention", bool(log), shown


def _map_note(run: RunRow, worker_map: reads.WorkerMap, colour: str) -> str:
    """Explain the map's colours and order, and who is not shown."""
    n_shown, n_active = len(worker_map.codes), int(reads.active(run.id).sum())
    notes = []
    if colour == "attention":
        is_even = reads.survey(run.id, "workers").is_even
        if not is_even and common_share(worker_map.weights) > ALIKE_ROWS:
            notes.append(
                "**The rows are all alike**: everyone looks at the same workers, so this says who "
                "is looked at, not who belongs together."
            )
        notes.append(
            "1× is an even share; darker is more."
            if layout.theme() == "light"
            else "1× is an even share; brighter is more."
        )
    else:
        notes.append(
            "By how many points two workers agree more often than expected, at least (95%); blank "
            f"where they share fewer than {MIN_SHARED_ITEMS} items."
        )
    notes.append("Alike workers stand together; beside each row is the worker's verdict.")
    if n_shown < n_active:
        notes.append(f"{count(n_shown)} of {count(n_active, 'worker')} shown.")
    if n_unlabelled := cache.result(run.id).data.n_workers - n_active:
        notes.append(f"{count(n_unlabelled, 'worker')} without labels in this run left out.")
    if n_shown > MAX_NAMES:
        notes.append("Hover for names.")
    return " ".join([*notes, "Click a cell for the items that both labelled."])


def _draw_labels(run: RunRow, attention: AttentionMap, worker: int) -> None:
    """List which of a worker's labels the method looks at most."""
    labels = label_weights(attention, "workers", worker)
    if labels.empty:
        return
    result = cache.result(run.id)
    data, shown = result.data, labels.head(MAX_LABELS)
    st.divider()
    name = escape_md(data.workers[worker], limit=40)
    st.markdown(f"**Which labels of {name} the method looks at most**")
    items = shown["item"].to_numpy()
    truth = result.truth[items]
    is_right = truth == shown["label"].to_numpy()
    classes = (*data.classes, "")  # the last is for undecided items
    frame = pd.DataFrame(
        {
            "item": [data.items[code] for code in items],
            "weight": shown["weight"].to_numpy(),
            "label": [
                f"{'✓' if right else '✕'} {data.classes[code]}"
                for right, code in zip(is_right, shown["label"], strict=True)
            ],
            "truth": [classes[code] for code in truth],
            "confidence": percents(result.confidence[items]),
        }
    )
    column = st.column_config
    item = widgets.table(
        frame,
        key=f"attention_labels_{run.id}_{worker}",
        alt="The worker's labels, the heaviest first",
        select="item",
        height=MAX_PIXELS,
        columns={
            "item": column.TextColumn("Item", pinned=True),
            "weight": column.ProgressColumn(
                "Weight",
                min_value=0,
                max_value=max(2.0, float(frame["weight"].max())),
                format="%.2f×",
                help="Against an even share among the worker's labels.",
            ),
            "label": column.TextColumn("They said", help="✓ is what the truth is, ✕ is not."),
            "truth": column.TextColumn("Truth"),
            "confidence": widgets.percent_bar("Confidence of the truth"),
        },
    )
    note = ""
    if len(labels) > len(frame):
        note = f"The {count(len(frame))} heaviest of {count(len(labels), 'label')}."
    widgets.open_item(item, key="attention_label_item", note=note)
