"""Workers who look at workers: the map, the strongest links, and the labels that weigh most."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit import attention as audit
from crowdcore.audit.pairs import FEWEST
from dashboard import attention_links, attention_pair, attention_reads, opening, reads, state
from dashboard.attention_reads import Rule
from dashboard.charts.attention import MOST_NAMES, by_excess, by_weight, node_map, times
from dashboard.paging import chosen_point, chosen_row
from dashboard.text import count, escape_md, percents

if TYPE_CHECKING:
    from crowdcore.artefacts.attention import AttentionMap
    from crowdcore.workspace import RunRow

ALL_SHOWN = 60
"""Workers up to which everyone is shown, and no rule is needed."""

SHOWN, MOST_SHOWN = 80, 200
"""Workers that a map shows at first, and at most: below three pixels a cell cannot be hit."""

MOST_LABELS = 200

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
    worker, other = attention_pair.chosen(run)
    if "workers" in attention.query:
        _draw_map(run, attention, worker, other)
    else:
        st.info("This run's method does not let workers look at each other.")
        attention_links.draw_picker(run)
    if worker is None:
        return
    if other is not None and other != worker:
        attention_pair.draw(run, worker, other)
    _labels(run, attention, worker)


def _draw_map(run: RunRow, attention: AttentionMap, worker: int | None, other: int | None) -> None:
    _metrics(run)
    colour, log, shown = _controls(run, worker)
    found = attention_reads.worker_map(run.id, shown, colour)
    key = f"attention_map_{run.id}_{colour}_{zlib.crc32(found.codes.tobytes()):08x}"
    point = chosen_point(st.session_state.get(key))
    if state.is_new(key, point) and point is not None:
        names = reads.result(run.id).data.workers
        one, two = (names[int(code)] for code in point[:2])
        state.select("worker", one)
        state.select("other", two if two != one else None)
        st.rerun()
    left, right = opening.side_by_side(7, 6)
    with left:
        workers = reads.workers(run.id)
        shade = by_weight(found.weights, log=log, links=~np.eye(len(found.codes), dtype=bool))
        if colour == "agreement":
            shade = by_excess(found.agreement.excess)
        st.plotly_chart(
            node_map(
                shade,
                found.texts,
                found.codes,
                [reads.result(run.id).data.workers[code] for code in found.codes],
                workers["verdict"].iloc[found.codes].tolist(),
                theme=opening.theme(),
                titles=TITLES[colour],
                worker=worker,
                other=other,
            ),
            key=key,
            on_select="rerun",
            selection_mode="points",
            config={"displayModeBar": False},
            alt="Map of workers against workers; each cell is one worker's attention to another",
        )
        st.caption(_map_note(run, found, colour))
    with right:
        attention_links.draw_picker(run)
        if worker is None:
            attention_links.draw_pairs(run)
        else:
            attention_links.draw_links(run, attention, worker, colour)


def _metrics(run: RunRow) -> None:
    whole = attention_reads.survey(run.id, "workers")
    data = reads.result(run.id).data
    active = attention_reads.active(run.id)
    top = int(np.where(active, whole.received, -1).argmax())
    row = st.container(horizontal=True)
    row.metric("Workers", count(active.sum()), border=True)
    row.metric(
        "A worker looks at",
        f"{whole.reach:,.0f} of {count(data.n_workers)}",
        border=True,
        help="To how many workers the attention of one amounts, on the whole: all of them if it "
        "is spread evenly, 1 if it goes to a single one.",
    )
    row.metric(
        "Most looked at",
        "All alike"
        if whole.is_even
        else f"{escape_md(data.workers[top], limit=24)} · {times(whole.received[top])}",
        border=True,
        help="The worker who gets the most attention from the others, and how many times an even "
        "share that is.",
    )
    pairs = attention_reads.crowd(run.id)
    row.metric(
        "Alike beyond expected",
        count(pairs.beyond.sum(), "pair"),
        border=True,
        help=f"Of {count(len(pairs.one), 'pair')} with at least {FEWEST} shared items. This is "
        "read from the labels, not from attention: they agree, or err alike, more often than luck "
        "explains for two workers as good as these.",
    )


def _controls(
    run: RunRow, worker: int | None
) -> tuple[attention_reads.Colour, bool, tuple[int, ...]]:
    """Draw the row of choices; return how to colour, whether in logs, and whom to show."""
    active = int(attention_reads.active(run.id).sum())
    if even := attention_reads.survey(run.id, "workers").is_even:
        st.info(
            "The weights are nearly even: in this run the method hardly tells workers apart. What "
            "the labels say of who answers alike does not depend on that.",
            icon=":material/drag_handle:",
        )
    row = st.container(horizontal=True, vertical_alignment="bottom")
    colour = row.segmented_control(
        "Colour by",
        list(COLOURS),
        default="agreement" if even else "attention",
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
    most = active
    if active > ALL_SHOWN:
        rules = [one for one in RULES if one != "near" or worker is not None]
        rule = row.selectbox(
            "Workers shown", rules, format_func=RULES.__getitem__, key="attention_rule", width=260
        )
        most = row.number_input(
            "How many",
            10,
            min(MOST_SHOWN, active),
            min(SHOWN, active),
            key="attention_most",
            width=140,
            step=10,
        )
    shown = attention_reads.choose_workers(run.id, rule, int(most), worker)
    return "agreement" if colour == "agreement" else "attention", bool(log), shown


def _map_note(run: RunRow, found: attention_reads.WorkerMap, colour: str) -> str:
    n, active = len(found.codes), int(attention_reads.active(run.id).sum())
    words = []
    if colour == "attention":
        even = attention_reads.survey(run.id, "workers").is_even
        if not even and audit.common_share(found.weights) > ALIKE_ROWS:
            words.append(
                "**The rows are all alike**: everyone looks at the same workers, so this says who "
                "is looked at, not who belongs together."
            )
        words.append(
            "1× is an even share; darker is more."
            if opening.theme() == "light"
            else "1× is an even share; brighter is more."
        )
    else:
        words.append(
            "By how many points two workers agree more often than expected, at least (95%); blank "
            f"where they share fewer than {FEWEST} items."
        )
    words.append("Alike workers stand together; beside each row is the worker's verdict.")
    if n < active:
        words.append(f"{count(n)} of {count(active, 'worker')} shown.")
    if silent := reads.result(run.id).data.n_workers - active:
        words.append(f"{count(silent, 'worker')} without labels in this run left out.")
    names = "Hover for names. " if n > MOST_NAMES else ""
    return " ".join(words) + f" {names}Click a cell for the items that both labelled."


def _labels(run: RunRow, attention: AttentionMap, worker: int) -> None:
    """List which of a worker's labels the method looks at most."""
    found = audit.label_weights(attention, "workers", worker)
    if found.empty:
        return
    result = reads.result(run.id)
    data, shown = result.data, found.head(MOST_LABELS)
    st.divider()
    name = escape_md(data.workers[worker], limit=40)
    st.markdown(f"**Which labels of {name} the method looks at most**")
    items = shown["item"].to_numpy()
    truth = result.truth[items]
    right = truth == shown["label"].to_numpy()
    classes = (*data.classes, "")  # the last is for undecided items
    frame = pd.DataFrame(
        {
            "item": [data.items[code] for code in items],
            "weight": shown["weight"].to_numpy(),
            "said": [
                f"{'✓' if hit else '✕'} {data.classes[code]}"
                for hit, code in zip(right, shown["label"], strict=True)
            ],
            "truth": [classes[code] for code in truth],
            "confidence": percents(result.confidence[items]),
        }
    )
    column = st.column_config
    key = f"attention_labels_{run.id}_{worker}"
    picked = chosen_row(
        st.dataframe(
            frame,
            key=key,
            hide_index=True,
            height=300 if len(frame) > 8 else "content",  # noqa: PLR2004  (a short list)
            on_select="rerun",
            selection_mode="single-row",
            alt="The worker's labels, the heaviest first",
            column_config={
                "item": column.TextColumn("Item", pinned=True),
                "weight": column.ProgressColumn(
                    "Weight",
                    min_value=0,
                    max_value=max(2.0, float(frame["weight"].max())),
                    format="%.2f×",
                    help="Against an even share among the worker's labels.",
                ),
                "said": column.TextColumn("They said", help="✓ is what the truth is, ✕ is not."),
                "truth": column.TextColumn("Truth"),
                "confidence": column.ProgressColumn(
                    "Confidence of the truth", min_value=0, max_value=100, format="%.1f%%"
                ),
            },
        )
    )
    words = f"The {count(len(frame))} heaviest of {count(len(found), 'label')}. "
    st.caption((words if len(found) > len(frame) else "") + "Select a row to open the item.")
    if picked is not None:
        attention_pair.open_item(str(frame["item"].iloc[picked]), "attention_label_item")
