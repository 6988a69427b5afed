"""A text up close: its words once, its spans as an underlay, a line of bars per worker."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.annotations import annotation_spans
from crowdcore.audit.spans.texts import span_words, text_names
from crowdcore.wording import count, percent
from dashboard import cache, layout, state, widgets
from dashboard.charts.palette import class_colours, ink, lighter, quiet, verdict_words
from dashboard.spans.texts import spans_result
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.annotations import AnnotationSpans
    from crowdcore.data import CrowdData
    from crowdcore.results.sequences import SequenceResult
    from crowdcore.workspace import RunRow
    from dashboard.charts.palette import Theme

N_COLOURS = 7
"""Colours that are told apart; types beyond share them, and have another underline."""

LINES = ("solid", "dashed", "dotted", "double", "wavy")
BAR_PIXELS, GAP_PIXELS, MAX_BARS = 5, 2, 40
MAX_SPANS = 60
"""Spans of a text that can be chosen by a click; longer texts list the least sure ones."""


@st.cache_resource(max_entries=4, show_spinner=False)
def _marks(run_id: str) -> AnnotationSpans:
    result = spans_result(run_id)
    return annotation_spans(result.data, result.tag_set)


@st.cache_resource(max_entries=4, show_spinner=False)
def _codes(run_id: str) -> dict[str, int]:
    return {name: code for code, name in enumerate(text_names(cache.result(run_id).data))}


def draw(run: RunRow, name: str) -> None:
    """Show the text called `name`; a name from an old link may not exist."""
    code = _codes(run.id).get(name)
    widgets.panel_heading(escape_md(name, limit=60), key="item_close", on_close=_close)
    if code is None:
        st.warning("This run's data have no text of that name; the link may be of another run.")
        return
    result, theme = spans_result(run.id), layout.theme()
    row = cache.items(run.id).iloc[code]
    facts = [count(row["n_spans"], "span"), count(row["n_labels"], "annotation")]
    facts.append(f"least sure {percent(row['confidence'])}")
    if row["right"] >= 0:
        facts.append("✓ as gold" if row["right"] == 1 else "✕ not as gold")
    st.markdown(" · ".join(facts))
    begin, end = np.asarray(result.data.offsets)[code : code + 2].tolist()
    marks = _marks(run.id)
    inside = np.flatnonzero(marks.text == code)
    who = np.unique(marks.order.worker[marks.order.text == code])
    drawn = who[:MAX_BARS]
    st.html(_page(result, marks, inside, drawn, begin, end, theme))
    lines = ", ".join(escape_md(result.data.workers[w], limit=30) for w in drawn)
    st.caption(
        f"The coloured ground is the inferred span with its type and confidence. The thin lines "
        f"below the words are the workers' marks, from top to bottom: {lines}."
        + (
            f" {count(len(who) - MAX_BARS, 'more worker')} not drawn."
            if len(who) > MAX_BARS
            else ""
        )
    )
    if row["n_labels"] == 0:
        st.caption("Nobody annotated it: the spans come from words and the order of tags alone.")
    _draw_who(run, result, marks, inside, who, begin, end)


def _close() -> None:
    state.select("item", None)


def type_look(code: int, theme: Theme) -> tuple[str, str]:
    """Return the colour and the underline of a type of spans."""
    return class_colours(N_COLOURS, theme)[code % N_COLOURS], LINES[
        (code // N_COLOURS) % len(LINES)
    ]


def _page(  # noqa: PLR0917  (a text is drawn from all of these)
    result: SequenceResult,
    marks: AnnotationSpans,
    inside: np.ndarray,
    who: np.ndarray,
    begin: int,
    end: int,
    theme: Theme,
) -> str:
    """The text as HTML: a cell per token, with its bars as backgrounds."""
    data, types = result.data, result.tag_set.types
    words = data.details.get("token", data.items)[begin:end]
    line_of = {int(worker): line for line, worker in enumerate(who)}
    bars: list[list[str]] = [[] for _ in words]
    titles: list[list[str]] = [[] for _ in words]
    for index in inside.tolist():
        line = line_of.get(int(marks.worker[index]))
        if line is None:
            continue
        first, last = int(marks.spans.start[index]) - begin, int(marks.spans.end[index]) - begin
        kind = int(marks.spans.type[index])
        colour, _ = type_look(kind, theme)
        top = line * (BAR_PIXELS + GAP_PIXELS)
        for token in range(first, last):
            left = "2px" if token == first else "0"
            width = "calc(100% - 4px)" if first == token == last - 1 else "calc(100% - 2px)"
            width = "100%" if first < token < last - 1 else width
            bars[token].append(
                f"linear-gradient({colour},{colour}) {left} {top}px/{width} {BAR_PIXELS}px "
                "no-repeat"
            )
            titles[token].append(f"{data.workers[int(marks.worker[index])]}: {types[kind]}")
    spans, sure = result.spans, result.span_confidence
    low, high = np.searchsorted(spans.start, [begin, end])
    cells, position = [], 0
    for index in range(int(low), int(high)):
        first, last = int(spans.start[index]) - begin, int(spans.end[index]) - begin
        cells += [_cell(words[t], bars[t], titles[t]) for t in range(position, first)]
        kind = int(spans.type[index])
        colour, underline = type_look(kind, theme)
        label = f"{html.escape(types[kind])} {percent(float(sure[index]), 0)}"
        ground = lighter(colour, theme, 0.72)
        inner = "".join(_cell(words[t], bars[t], titles[t]) for t in range(first, last))
        cells.append(
            f'<span class="span" style="background:{ground};text-decoration:underline {underline} '
            f'{colour}"><span class="tag" style="color:{ink(theme)};border-color:{colour}">{label}'
            f"</span>{inner}</span>"
        )
        position = last
    cells += [_cell(words[t], bars[t], titles[t]) for t in range(position, len(words))]
    height = len(who) * (BAR_PIXELS + GAP_PIXELS) + GAP_PIXELS
    style = (
        "<style>.crowd-text{line-height:1.5;max-height:60vh;overflow-y:auto;padding-top:.3rem}"
        f".crowd-text .cell{{display:inline-block;padding:0 3px;color:{ink(theme)};"
        "vertical-align:top}"
        f".crowd-text .bars{{display:block;height:{height}px;"
        f"border-bottom:1px dotted {quiet(theme)}}}"
        ".crowd-text .span{border-radius:4px;text-underline-offset:3px;padding:0 1px}"
        ".crowd-text .tag{font-size:.68rem;border:1px solid;border-radius:3px;padding:0 3px;"
        "margin:0 2px;vertical-align:top;text-decoration:none;display:inline-block}</style>"
    )
    alt = html.escape(f"The text with {high - low} inferred spans and the workers' marks")
    return f'{style}<div class="crowd-text" role="img" aria-label="{alt}">{"".join(cells)}</div>'


def _cell(word: str, bars: list[str], titles: list[str]) -> str:
    title = f' title="{html.escape("; ".join(titles), quote=True)}"' if titles else ""
    background = f' style="background:{",".join(bars)}"' if bars else ""
    return (
        f'<span class="cell"{title}>{html.escape(word)}'
        f'<span class="bars"{background}></span></span>'
    )


def _draw_who(  # noqa: PLR0917  (a table of these)
    run: RunRow,
    result: SequenceResult,
    marks: AnnotationSpans,
    inside: np.ndarray,
    who: np.ndarray,
    begin: int,
    end: int,
) -> None:
    """Let a span be chosen, inferred or marked by somebody, and show who gave it."""
    options = _options(result, marks, inside, begin, end)
    if not options:
        st.caption("Nobody marked anything in this text, and no span was inferred.")
        return
    chosen = st.pills(
        "Who gave a span",
        list(options),
        default=next(iter(options)),
        key=f"span_{run.id}_{begin}",
    )
    if chosen is None:
        return
    start, stop, kind = options[chosen]
    verdicts = cache.workers(run.id).set_index("worker")["verdict"]
    names = [result.data.workers[w] for w in who]
    frame = pd.DataFrame(
        {
            "worker": names,
            "gave": [
                _gave(result, marks, inside[marks.worker[inside] == w], (start, stop, kind))
                for w in who
            ],
            "verdict": [verdict_words(str(verdicts.get(name, ""))) for name in names],
        }
    )
    column = st.column_config
    worker = widgets.table(
        frame,
        key=f"span_who_{run.id}_{start}_{stop}_{kind}",
        alt="Who gave this span",
        select="worker",
        columns={
            "worker": column.TextColumn("Worker", width=90),
            "gave": column.TextColumn(
                "Gave", width=220, help="✓ is exactly this span, ✕ is nothing or something else."
            ),
            "verdict": column.TextColumn("Verdict", width=110),
        },
    )
    widgets.open_worker(worker, key="span_open_worker")


def _options(
    result: SequenceResult, marks: AnnotationSpans, inside: np.ndarray, begin: int, end: int
) -> dict[str, tuple[int, int, int]]:
    """The inferred spans of a text, the least sure first, then what only workers marked."""
    spans, types, data = result.spans, result.tag_set.types, result.data
    low, high = np.searchsorted(spans.start, [begin, end])
    by_doubt = low + np.argsort(result.span_confidence[low:high], kind="stable")
    listed = [(int(spans.start[i]), int(spans.end[i]), int(spans.type[i])) for i in by_doubt]
    given = marks.spans.only(inside)
    votes: dict[tuple[int, int, int], int] = {}
    for key in zip(given.start.tolist(), given.end.tolist(), given.type.tolist(), strict=True):
        votes[key] = votes.get(key, 0) + 1
    others = sorted((key for key in votes if key not in set(listed)), key=lambda key: -votes[key])
    options = {}
    for start, stop, kind in [*listed, *others][:MAX_SPANS]:
        sign = "" if (start, stop, kind) in set(listed) else "✕ "
        words = span_words(data, start, stop)
        position = f" ({start - begin + 1})"
        label = f"{sign}{types[kind]} {words[:40]}"
        options[label if label not in options else label + position] = (start, stop, kind)
    return options


def _gave(
    result: SequenceResult,
    marks: AnnotationSpans,
    own: np.ndarray,
    span: tuple[int, int, int],
) -> str:
    """What a worker gave where a span is."""
    start, stop, kind = span
    types, data = result.tag_set.types, result.data
    for index in own.tolist():
        first, last = int(marks.spans.start[index]), int(marks.spans.end[index])
        given = int(marks.spans.type[index])
        if (first, last, given) == span:
            return f"✓ {types[kind]}"
        if first < stop and last > start:
            where = "" if (first, last) == (start, stop) else f": {_quote(data, first, last)}"
            return f"✕ {types[given]}{where}"
    return "✕ nothing"


def _quote(data: CrowdData, start: int, end: int) -> str:
    return span_words(data, start, end)[:60]
