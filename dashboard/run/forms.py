"""Config -> widgets: one rule per kind of field, none per method."""

from __future__ import annotations

import math
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import streamlit as st

from dashboard import state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic.fields import FieldInfo

    from crowdcore.config import Config

SHOWN_FIRST = 6
"""More fields than this fold away: a long form hides what matters."""

WIDTH = 180
"""Widgets of one width wrap into a tidy grid on any screen."""

LONG_WORDS = {
    "dim": "size",
    "iter": "iterations",
    "loglik": "log-likelihood",
    "lr": "learning rate",
    "n": "number of",
    "tol": "tolerance",
}
"""Parts of field names that programmers shorten."""


SAFE_INT = 2**53 - 1
"""The largest whole number a browser holds exactly."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a number may be, both ends included."""

    low: float | None
    high: float | None


def config_form(config: type[Config], *, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Draw a widget for each field and return what they hold; `values` replace defaults."""
    fields = list(config.model_fields.items())
    params = _rows(fields[:SHOWN_FIRST], key, values)
    if folded := fields[SHOWN_FIRST:]:
        with st.expander(f"{len(folded)} more settings"):
            params |= _rows(folded, key, values)
    return params


def label_of(name: str) -> str:
    """Write a field's name as a person would."""
    label = " ".join(LONG_WORDS.get(word, word) for word in name.split("_"))
    return label[:1].upper() + label[1:]


def bounds_of(field: FieldInfo, *, is_integer: bool) -> Bounds:
    """Read a field's bounds; an open end moves to the nearest number inside."""
    low = high = None
    for rule in field.metadata:
        if (minimum := getattr(rule, "ge", None)) is not None:
            low = minimum
        if (above := getattr(rule, "gt", None)) is not None:
            low = above + 1 if is_integer else math.nextafter(above, math.inf)
        if (maximum := getattr(rule, "le", None)) is not None:
            high = maximum
        if (below := getattr(rule, "lt", None)) is not None:
            high = below - 1 if is_integer else math.nextafter(below, -math.inf)
    return Bounds(low=low, high=high)


def kind_of(annotation: Any) -> tuple[Any, bool]:
    """Take `None` out of a union: the kind of value, and whether it may be left empty."""
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        if len(kinds) == 1:
            return kinds[0], True
    return annotation, False


def _rows(
    fields: list[tuple[str, FieldInfo]], key: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return {
            name: _widget(name, field, f"{key}:{name}", values.get(name, field.default))
            for name, field in fields
        }


def _widget(name: str, field: FieldInfo, key: str, value: Any) -> Any:
    kind, empty = kind_of(field.annotation)
    label, text = label_of(name), field.description
    if kind is bool and not empty:
        return st.toggle(label, value=bool(value), key=key, help=text, width=WIDTH)
    if kind is bool:
        return _choice(label, [True, False], value, key, text, empty=True)
    if get_origin(kind) is Literal:
        return _choice(label, list(get_args(kind)), value, key, text, empty=empty)
    if kind is int:
        return _integer(label, field, value, key, empty=empty)
    if kind is float:
        return _real(label, field, value, key, empty=empty)
    if kind is str:
        given = st.text_input(label, value=value, key=key, help=text, width=WIDTH)
        return given or (None if empty else "")
    raise TypeError(f"No widget shows the field {name!r}, which is a {kind}")


def _choice(
    label: str, options: list[Any], value: Any, key: str, text: str | None, *, empty: bool
) -> Any:
    if empty:
        state.preset(key, value)
    return st.selectbox(
        label,
        options,
        index=None if empty else options.index(value),
        format_func=lambda option: label_of({True: "yes", False: "no"}.get(option, str(option))),
        placeholder="Automatic",
        key=key,
        help=text,
        width=WIDTH,
    )


def _integer(
    label: str, field: FieldInfo, value: int | None, key: str, *, empty: bool
) -> int | None:
    bounds = bounds_of(field, is_integer=True)
    if empty:
        state.preset(key, value)
    return st.number_input(
        label,
        min_value=-SAFE_INT if bounds.low is None else int(bounds.low),
        max_value=SAFE_INT if bounds.high is None else min(int(bounds.high), SAFE_INT),
        value=None if empty else value,
        step=1,
        placeholder="Automatic" if empty else None,
        key=key,
        help=_number_help(field),
        width=WIDTH,
    )


def _real(
    label: str, field: FieldInfo, value: float | None, key: str, *, empty: bool
) -> float | None:
    bounds = bounds_of(field, is_integer=False)
    if empty:
        state.preset(key, value)
    return st.number_input(
        label,
        min_value=None if bounds.low is None else float(bounds.low),
        max_value=None if bounds.high is None else float(bounds.high),
        value=None if empty or value is None else float(value),
        # The arrows move a number by about its own size.
        step=10.0 ** math.floor(math.log10(abs(value))) if value else 0.1,
        format="%g",
        placeholder="Automatic" if empty else None,
        key=key,
        help=_number_help(field),
        width=WIDTH,
    )


def _number_help(field: FieldInfo) -> str:
    return f"{field.description or ''} {_range_text(field)}".strip()


def _range_text(field: FieldInfo) -> str:
    """Say the bounds as the config does."""
    low = high = ""
    for rule in field.metadata:
        if (minimum := getattr(rule, "ge", None)) is not None:
            low = f"at least {minimum:,}"
        if (above := getattr(rule, "gt", None)) is not None:
            low = f"above {above:,}"
        if (maximum := getattr(rule, "le", None)) is not None:
            high = f"at most {maximum:,}"
        if (below := getattr(rule, "lt", None)) is not None:
            high = f"below {below:,}"
    text = ", ".join(filter(None, (low, high)))
    return f"({text.capitalize()}.)" if text else ""
