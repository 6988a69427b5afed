"""Methods as they take part in a table: once each, or once with every value of a choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

from crowdcore.method import Method
from crowdcore.registry import methods

CHOICES = ("layer", "variant")
"""Settings whose values papers report as methods of their own."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A method as it takes part."""

    title: str
    method: Method
    params: dict[str, Any]


def rows_of(families: Iterable[str]) -> Iterator[Row]:
    """Every method of some families; those with a choice once with each value."""
    chosen = list(families)
    for method in methods().values():
        if method.family in chosen:
            yield from _rows(method)


def _rows(method: Method) -> Iterator[Row]:
    fields = method.config.model_fields
    choice = next((name for name in CHOICES if name in fields), None)
    if choice is None:
        yield Row(title=method.id, method=method, params={})
        return
    for value in get_args(fields[choice].annotation):
        yield Row(title=f"{method.id} {value}", method=method, params={choice: value})
