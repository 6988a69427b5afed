"""Colours, signs and sizes that every chart shares; safe for colour-blind readers."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go

from crowdcore.audit.verdicts import UNDECIDED

Theme = Literal["light", "dark"]

MAX_POINTS = 20_000
"""More points than this make a browser wait; a chart then shows a sample and says so."""

# Okabe and Ito's colours, lifted a little on a dark page, and three greys; as in the theme.
_CLASSES: dict[Theme, tuple[str, ...]] = {
    "light": (
        *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"),
        *("#D55E00", "#F0E442", "#4D565F", "#8A949E", "#BCC4CC"),
    ),
    "dark": (
        *("#2A93D5", "#E69F00", "#1DB388", "#D98CB6", "#7CC7F2"),
        *("#E6762A", "#F0E442", "#D3DAE1", "#9AA5B0", "#66717C"),
    ),
}
_INK: dict[Theme, str] = {"light": "#31333F", "dark": "#FAFAFA"}
_PAPER: dict[Theme, str] = {"light": "#FFFFFF", "dark": "#0E141B"}
_QUIET: dict[Theme, str] = {"light": "#9A9CA5", "dark": "#80838D"}
_GRID: dict[Theme, str] = {"light": "rgba(49,51,63,0.10)", "dark": "rgba(250,250,250,0.12)"}

# Blues by ColorBrewer; on a dark page the scale starts from the dark, so that nothing glares.
_BLUES: dict[Theme, list[str]] = {
    "light": [
        "#F7FBFF",
        "#DEEBF7",
        "#C6DBEF",
        "#9ECAE1",
        "#6BAED6",
        "#4292C6",
        "#2171B5",
        "#084594",
    ],
    "dark": [
        "#16202C",
        "#17304A",
        "#184267",
        "#1C5788",
        "#2A70AB",
        "#4590CB",
        "#73B2E2",
        "#B5D8F3",
    ],
}


@dataclass(frozen=True, kw_only=True)
class VerdictStyle:
    """How a verdict looks: never by its colour alone."""

    sign: str
    symbol: str
    colour: int | None  # among the classes' colours; None is the colour of writing


VERDICT_STYLES = {
    "good": VerdictStyle(sign="✓", symbol="circle", colour=0),
    "weak": VerdictStyle(sign="▽", symbol="triangle-down", colour=1),
    "biased": VerdictStyle(sign="◧", symbol="square", colour=3),
    "random": VerdictStyle(sign="✕", symbol="x", colour=5),
    "one answer": VerdictStyle(sign="①", symbol="cross", colour=2),
    "marks nothing": VerdictStyle(sign="○", symbol="hexagon", colour=2),
    "over-marks": VerdictStyle(sign="▲", symbol="triangle-up", colour=5),
    "misses much": VerdictStyle(sign="⊖", symbol="diamond-tall", colour=1),
    "wrong types": VerdictStyle(sign="◧", symbol="square", colour=3),
    "sloppy edges": VerdictStyle(sign="↔", symbol="bowtie", colour=4),
    "inverted": VerdictStyle(sign="⇅", symbol="diamond", colour=None),
    "pattern": VerdictStyle(sign="↻", symbol="star", colour=5),
    "drifting": VerdictStyle(sign="↘", symbol="triangle-right", colour=4),
    "too fast in part": VerdictStyle(sign="»", symbol="triangle-left", colour=4),
    "alike": VerdictStyle(sign="≈", symbol="hexagon", colour=3),
    "noisy": VerdictStyle(sign="≋", symbol="triangle-down", colour=1),
    "narrow": VerdictStyle(sign="⇥", symbol="triangle-right", colour=4),
    "wide": VerdictStyle(sign="↔", symbol="triangle-left", colour=4),
    "lenient": VerdictStyle(sign="▲", symbol="triangle-up", colour=3),
    "strict": VerdictStyle(sign="▼", symbol="square", colour=3),
    "ticks too much": VerdictStyle(sign="⊞", symbol="triangle-up", colour=3),
    "ticks too little": VerdictStyle(sign="⊟", symbol="triangle-left", colour=1),
    "side bias": VerdictStyle(sign="⇄", symbol="square", colour=3),
    "reversed": VerdictStyle(sign="⇅", symbol="diamond", colour=None),
    "intransitive": VerdictStyle(sign="↻", symbol="star", colour=4),
    "undecided": VerdictStyle(sign="?", symbol="circle-open", colour=8),
}
"""The look of each verdict of every kind of labels."""


def verdict_style(verdict: str) -> VerdictStyle:
    """Return the look of a verdict; a word not known here is drawn as unknown."""
    return VERDICT_STYLES.get(verdict, VERDICT_STYLES[UNDECIDED.name])


def verdict_colour(verdict: str, theme: Theme) -> str:
    """Return the colour of a verdict's marker."""
    index = verdict_style(verdict).colour
    return _INK[theme] if index is None else _CLASSES[theme][index]


def verdict_words(verdict: str) -> str:
    """Write a verdict with its sign."""
    return f"{verdict_style(verdict).sign} {verdict}"


def class_colours(n_classes: int, theme: Theme) -> list[str]:
    """Return each class's colour, which goes by its place among the project's classes."""
    colours = _CLASSES[theme]
    return [colours[index % len(colours)] for index in range(n_classes)]


def lighter(colour: str, theme: Theme, share: float = 0.62) -> str:
    """Mix a colour with the page's own: what stands for something less than the colour itself."""
    own, page = (
        [int(code[start : start + 2], 16) for start in (1, 3, 5)] for code in (colour, paper(theme))
    )
    mixed = [round((1 - share) * a + share * b) for a, b in zip(own, page, strict=True)]
    return "#" + "".join(f"{value:02X}" for value in mixed)


def blues(theme: Theme) -> list[list[Any]]:
    """Return the sequential scale, 0 to 1."""
    steps = _BLUES[theme]
    return [[index / (len(steps) - 1), colour] for index, colour in enumerate(steps)]


def ink(theme: Theme) -> str:
    """Return the colour of writing."""
    return _INK[theme]


def paper(theme: Theme) -> str:
    """Return the colour that can be read on strong blue: the page's own."""
    return _PAPER[theme]


def quiet(theme: Theme) -> str:
    """Return the colour of what stands back."""
    return _QUIET[theme]


def plain(name: object, limit: int = 24) -> str:
    """Write a name from the data in a chart: Plotly reads tags, so they are taken literally."""
    text = " ".join(str(name).split()) or "(empty)"
    return html.escape(text if len(text) <= limit else text[: limit - 1] + "…", quote=False)


def finish(figure: go.Figure, *, theme: Theme, height: int) -> go.Figure:
    """Give a figure the common margins, grid and legend, and lock its ranges."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        font={"color": _INK[theme], "size": 13},
        dragmode=False,
        hoverlabel={"align": "left"},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "title": None},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_xaxes(fixedrange=True, automargin=True, gridcolor=_GRID[theme], zeroline=False)
    figure.update_yaxes(fixedrange=True, automargin=True, gridcolor=_GRID[theme], zeroline=False)
    return figure
