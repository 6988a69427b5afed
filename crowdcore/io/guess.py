"""Guess the role of each column: by platform, by name, by shape; and say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crowdcore.io.glance import Glance
from crowdcore.io.personal import personal_kind
from crowdcore.io.platforms import find_platform
from crowdcore.io.roles import Guess, Roles, is_numbered_worker, is_weak_item, name_rank
from crowdcore.io.shape import best_long, could_be_long, gold_by_shape, looks_distinct, same_values
from crowdcore.io.table import Table

_PERSONAL_SAMPLE = 200
_MOST_DETAILS = 20
_FEWEST_COLUMNS = 2


@dataclass(kw_only=True)
class _Draft:
    """What is known so far."""

    roles: Roles = field(default_factory=Roles)
    reasons: dict[str, str] = field(default_factory=dict)
    certain: bool = True

    def give(self, role: str, column: str, why: str) -> None:
        given: dict[str, Any] = {role: column}
        self.roles = replace(self.roles, **given)
        self.reasons[role] = why


def guess_roles(table: Table) -> Guess:
    """Guess what the columns are; a role that nothing fits stays None, with a sentence."""
    glance = Glance.of(table)
    platform = find_platform(table.columns)
    if platform is None:
        draft = _generic(glance)
        draft.reasons["file"] = table.how
        _add_details(draft, glance)
    else:
        found = platform.roles(glance) if platform.roles else None
        draft = _Draft()
        if found is not None:
            draft = _Draft(roles=found.roles, reasons=dict(found.reasons), certain=found.certain)
        headers = f"The headers are those of {platform.title}. {table.how}"
        draft.reasons["file"] = f"{headers} {platform.refusal}".strip()
    _leave_out_personal(draft, glance)
    _explain_details(draft, glance)
    _explain_gaps(draft)
    return Guess(roles=draft.roles, reasons=draft.reasons, certain=draft.certain)


def _generic(glance: Glance) -> _Draft:
    draft = _Draft()
    named = _by_name(glance.columns)
    for role, (column, others) in named.items():
        also = f"; {others[0]!r} could be meant, too" if others else ""
        article = {"item": "items", "worker": "workers", "label": "labels"}.get(role, role)
        draft.give(role, column, f"{column!r} is a usual name for {article}{also}.")
    roles = draft.roles
    if None not in (roles.item, roles.worker, roles.label):
        draft.certain = not named["label"][1] and not named["worker"][1]
    elif not _wide(draft, glance):
        _fill_long(draft, glance)
    return draft


def _by_name(columns: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """The best-named column of each role, and the others that were possible."""
    found: dict[str, tuple[str, list[str]]] = {}
    taken: set[str] = set()
    for role in ("worker", "gold", "label", "item", "time"):
        ranked = [
            (rank, place, column)
            for place, column in enumerate(columns)
            if column not in taken and (rank := name_rank(role, column)) is not None
        ]
        if ranked:
            names = [column for _, _, column in sorted(ranked)]
            found[role] = (names[0], names[1:])
            taken.add(names[0])
    return found


def _wide(draft: _Draft, glance: Glance) -> bool:
    """Recognise a table with one column a worker (or one column an item)."""
    roles = draft.roles
    if roles.worker is not None and (roles.item is not None or glance.repeats(roles.worker)):
        return False
    taken = [name for name in (roles.item, roles.worker, roles.gold, roles.time) if name]
    free = [column for column in glance.columns if column not in taken]
    numbered = [column for column in free if is_numbered_worker(column)]
    if len(numbered) > 1 and roles.worker is None and roles.label is None:
        columns, sure = tuple(numbered), True
        why = f"The columns {_spoken(columns)} are named like workers."
    else:
        named = roles.item is not None or roles.worker is not None
        columns, sure = same_values(glance, free, named=named)
        why = f"The columns {_spoken(columns)} share one small set of values."
    if not any((roles.item, roles.worker, numbered)) and could_be_long(glance):
        return False
    if len(columns) < _FEWEST_COLUMNS or (roles.label is not None and roles.label not in columns):
        return False
    draft.reasons.pop("label", None)
    draft.roles = replace(roles, layout="wide", label=None, worker_columns=columns)
    draft.certain = sure
    draft.reasons["worker_columns"] = why
    if roles.worker is not None:
        draft.reasons["layout"] = "Each row is a worker and each of these columns an item."
        return True
    draft.reasons["layout"] = "Each row is an item and each of these columns a worker."
    if roles.item is None:
        _wide_item(draft, glance, columns)
    return True


def _wide_item(draft: _Draft, glance: Glance, columns: Sequence[str]) -> None:
    taken = {*columns, *draft.roles.used}
    free = [column for column in glance.columns if column not in taken]
    weak = [column for column in free if is_weak_item(column)]
    other = [column for column in free if looks_distinct(glance, column)]
    if weak or other:
        name = (weak or other)[0]
        draft.give("item", name, f"{name!r} is the column that names each row.")
    else:
        draft.reasons["item"] = "No column names the items; they are numbered from 1."


def _fill_long(draft: _Draft, glance: Glance) -> None:
    """Find the roles that no name told by the shape of the columns."""
    roles = draft.roles
    given = {"item": roles.item, "worker": roles.worker, "label": roles.label}
    if roles.item is None:
        weak = [c for c in glance.columns if is_weak_item(c) and c not in roles.used]
        repeated = [column for column in weak if glance.repeats(column)]
        if roles.worker is not None and (repeated or weak):
            name = (repeated or weak)[0]
            draft.give("item", name, f"{name!r} may name the items.")
            given["item"] = name
    draft.certain = None not in given.values()
    kept = [name for name in (roles.gold, roles.time) if name]
    found = best_long(glance, given, [c for c in glance.columns if c not in kept])
    for role, (column, why) in found.items():
        draft.give(role, column, why)
    if found and not glance.table.header and draft.roles.gold is None:
        gold = gold_by_shape(glance, draft.roles)
        if gold is not None:
            draft.give("gold", gold, f"{gold!r} holds one label for each item.")


def _add_details(draft: _Draft, glance: Glance) -> None:
    """Keep the other columns that belong to the items."""
    roles = draft.roles
    if roles.transposed:
        return
    kept = list(roles.details)
    taken = set(roles.used)
    free = [column for column in glance.columns if column not in taken]
    for column in free:
        about = roles.layout == "wide" or _belongs_to_items(glance, column, roles)
        if about and glance.values(column):
            kept.append(column)
    draft.roles = replace(roles, details=tuple(kept))


def _leave_out_personal(draft: _Draft, glance: Glance) -> None:
    kept = tuple(
        column
        for column in draft.roles.details
        if not personal_kind(column, glance.values(column)[:_PERSONAL_SAMPLE])
    )
    draft.roles = replace(draft.roles, details=kept[:_MOST_DETAILS])


def _explain_details(draft: _Draft, glance: Glance) -> None:
    if details := draft.roles.details:
        draft.reasons["details"] = f"About the items: {_spoken(details)}."
    used = set(draft.roles.used)
    left = [column for column in glance.columns if column not in used]
    if left:
        draft.reasons["unused"] = f"Not used: {_spoken(left)}."


def _belongs_to_items(glance: Glance, column: str, roles: Roles) -> bool:
    if roles.item is None or not glance.repeats(roles.item):
        return False
    if glance.varies_within(column, roles.item) > 0:
        return False
    # What never varies within a worker either is about the worker, or about the whole file.
    return roles.worker is None or glance.varies_within(column, roles.worker) > 0


def _explain_gaps(draft: _Draft) -> None:
    if draft.roles.layout == "wide":
        return
    draft.reasons.setdefault("layout", "Each row is one label.")
    words = {"item": "what was labelled", "worker": "who labelled", "label": "the label"}
    for role, meaning in words.items():
        if getattr(draft.roles, role) is None:
            draft.reasons[role] = f"No column seems to say {meaning}."
            draft.certain = False


def _spoken(columns: Sequence[str]) -> str:
    most = 6
    names = ", ".join(map(repr, columns[:most]))
    return names if len(columns) <= most else f"{names} and {len(columns) - most} more"
