"""Methods as they take part in a table: once each, or once with every value of a choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

from crowdcore.data import Kind
from crowdcore.method import Method
from crowdcore.registry import methods

CHOICES = ("layer", "variant")
"""Settings whose values papers report as methods of their own."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A method as it takes part."""

    title: str
    method: Method
    params: dict[str, Any]


def variants_of(families: Iterable[str], kind: Kind = "classes") -> Iterator[Variant]:
    """List every method of some families; those with a choice once with each value.

    Parameters
    ----------
    families : iterable of str
        Names of families.
    kind : Kind
        What the labels are.

    Yields
    ------
    Variant
        A method with its settings.
    """
    chosen = list(families)
    for method in methods(kind=kind).values():
        if method.family in chosen:
            yield from _variants(method)


def _variants(method: Method) -> Iterator[Variant]:
    fields = method.config.model_fields
    choice = next((name for name in CHOICES if name in fields), None)
    if choice is None:
        yield Variant(title=method.id, method=method, params={})
        return
    for value in get_args(fields[choice].annotation):
        yield Variant(title=f"{method.id} {value}", method=method, params={choice: value})
