"""Pages of methods, from the registry: facts, card and settings; and the table of all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from crowdcore.registry import methods_of_files
from crowdcore.set_methods import kinds_taken
from docs.generator.markdown import contents, page, table

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from crowdcore.config import Config
    from crowdcore.method import Method

ROLES = {"aggregate": "infers truths", "complete": "fills in missing labels"}

_LINKS = (
    (re.compile(r"doi:(\S+)"), r"[doi:\1](https://doi.org/\1)"),
    (re.compile(r"arXiv:(\S+)"), r"[arXiv:\1](https://arxiv.org/abs/\1)"),
)
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def all_methods() -> list[Method]:
    """Every method, by family and year."""
    return sorted(methods_of_files(), key=lambda method: (method.family, method.year, method.id))


def index() -> str:
    """The table of all methods, and the contents of the folder."""
    rows = [
        [
            f"[`{method.id}`](methods/{method.slug}.md)",
            method.title,
            method.family,
            ", ".join(kinds_taken(method)),
            method.needs.as_text(),
            str(method.year),
            method.summary,
        ]
        for method in all_methods()
    ]
    return page(
        "Methods",
        "Every method with its family, what it needs, and its idea in a sentence. `--method ID` "
        "chooses one that infers truths, `--complete ID` one of the family *completion*, which "
        "fills in missing labels first. "
        "[Choosing a method](../guide/run.md) says where to begin.",
        table(["id", "method", "family", "labels", "needs", "year", "in a sentence"], rows),
        contents(f"methods/{method.slug}" for method in all_methods()),
    )


def method_page(method: Method) -> str:
    """One method: its facts, its card, its settings."""
    facts = {
        "id": f"`{method.id}`",
        "family": method.family,
        "labels": ", ".join(sorted(method.kinds)),
        "does": ROLES[method.role],
        "needs": method.needs.as_text(),
        "year": str(method.year),
        "paper": linked_paper(method.paper),
        "leaves": ", ".join(f"`{artefact.__name__}`" for artefact in method.leaves) or "truths",
    }
    return page(
        method.title,
        method.summary,
        table(list(facts), [list(facts.values())]),
        _linked_ids(method),
        "## Settings",
        settings(method.config) if method.config.model_fields else "It has none.",
    )


def linked_paper(reference: str) -> str:
    """A reference whose DOI or arXiv number is a link."""
    for pattern, link in _LINKS:
        reference = pattern.sub(link, reference)
    return reference


def _linked_ids(method: Method) -> str:
    """A card in which the ids of other methods lead to their pages."""
    pages = {
        other.id: other.slug
        for other in sorted(all_methods(), key=lambda other: bool(other.kinds & method.kinds))
    }
    others = "|".join(name for name in pages if name != method.id)
    return re.sub(
        rf"`({others})`", lambda match: f"[{match[0]}]({pages[match[1]]}.md)", method.card
    )


def settings(config: type[Config]) -> str:
    """The table of a config's fields."""
    rows = [
        [f"`{name}`", _values(field), f"`{_spell(field.default)}`", field.description or ""]
        for name, field in config.model_fields.items()
    ]
    return table(["setting", "values", "default", "what it does"], rows)


def _values(field: FieldInfo) -> str:
    """What a setting may be."""
    kind: Any = field.annotation
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    names = {bool: "`true`, `false`", int: "whole number", float: "number", str: "text"}
    bounds = [
        f"{words} {value:,}" if isinstance(value, int) else f"{words} {value:g}"
        for rule in field.metadata
        for bound, words in _BOUNDS.items()
        if (value := getattr(rule, bound, None)) is not None
    ]
    return ", ".join([names.get(kind, str(kind)), *bounds])


def _spell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
