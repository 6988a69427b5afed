"""Roles: which column says what; and the usual names of each role."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from crowdcore.data import DataError
from crowdcore.wording import join_names

Layout = Literal["long", "wide"]


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The column of each role.

    Parameters
    ----------
    layout
        "long" where each row is a label, "wide" where a row holds the labels of several workers.
    item, worker, label
        What was labelled, who labelled it, and the label. In the wide layout each row is an item,
        named by `item` or, where that is None, by its number. A wide table with a `worker` column
        is read the other way round: each row is a worker.
    gold
        The known answer of the item.
    time, started
        When the label was given, and when work on it began.
    duration
        How many seconds the label took.
    worker_columns
        In the wide layout the columns that hold the labels, one per worker (per item where the
        rows are workers).
    details
        Columns that are kept because they describe the item.
    rows
        A column and a value, where only the rows with that value are read: those of one question.
    """

    layout: Layout = "long"
    item: str | None = None
    worker: str | None = None
    label: str | None = None
    gold: str | None = None
    time: str | None = None
    started: str | None = None
    duration: str | None = None
    worker_columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()

    @property
    def transposed(self) -> bool:
        """Whether the rows of a wide table are workers."""
        return self.layout == "wide" and self.worker is not None

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that has a role."""
        single = (
            self.item,
            self.worker,
            self.label,
            self.gold,
            self.time,
            self.started,
            self.duration,
        )
        named = [name for name in single if name is not None]
        return tuple(dict.fromkeys([*named, *self.worker_columns, *self.details]))

    def to_json(self) -> dict[str, Any]:
        """Return the roles as plain JSON values."""
        plain = asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Roles:
        """Make roles from what `to_json` gave."""
        values: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in plain.items()
        }
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class Guess:
    """Roles as guessed.

    Parameters
    ----------
    roles
        The column of each role.
    reasons
        For each role a sentence that says why.
    certain
        Whether no other reading was likely.
    kind
        What the answers are: classes, ratings, sets, comparisons or sequences.
    others
        The other questions that the file holds, each with its counts in words.
    missing
        Cells of a matrix that mean no answer, such as -1 or NA.
    """

    roles: Roles
    reasons: dict[str, str]
    certain: bool
    kind: str = "classes"
    others: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


_USUAL = {  # stems, the most usual first; and endings
    "item": (
        "task item unit question example instance subject object image doc document sample row"
        " hit record sentence tweet",
        "id|name|key",
    ),
    "worker": (
        "worker annotator user rater coder labell?er performer participant judge tasker"
        " contributor evaluator reviewer",
        "id|name|email",
    ),
    "label": (
        "label answer response value class category annotation judge?ment rating vote choice"
        " given score",
        "name|value",
    ),
    "gold": (
        "gold golden truth ground_?truth gt expert true_?(?:label|answer|class|value)"
        " correct_?(?:label|answer|class|value)",
        "label|answer|class|value|standard|response",
    ),
    "time": (
        "timestamp time datetime date submit_?time end_?time submitted completed? finished"
        " answered updated created",
        "at|time|on",
    ),
}
_PATTERNS = {
    role: re.compile(f"({stems.replace(' ', '|')})(_?({endings}))?")
    for role, (stems, endings) in _USUAL.items()
}
_WEAK_ITEM = re.compile("(id|uid|uuid|key|index|url|uri|file|file_?name|path|text)")
_NUMBERED_WORKER = re.compile(
    "(worker|annotator|user|rater|coder|labell?er|performer|participant|judge|evaluator|reviewer"
    r"|ann|a|w|r)_?(\d+|[a-z])"
)


def plain_name(column: str) -> str:
    """Spell a column name in lower case, with underscores between its words."""
    return re.sub(r"[\s\-.]+", "_", column.strip().lower())


def name_rank(role: str, column: str) -> int | None:
    """Rank how usual a name is for a role.

    Parameters
    ----------
    role
        "item", "worker", "label", "gold" or "time".
    column
        The name of a column.

    Returns
    -------
    int or None
        0 is the most usual; None is not usual at all.
    """
    match = _PATTERNS[role].fullmatch(plain_name(column))
    if match is None:
        return None
    stems = _USUAL[role][0].split()
    return next(rank for rank, stem in enumerate(stems) if re.fullmatch(stem, match[1]))


def inferred_columns(columns: Sequence[str]) -> frozenset[str]:
    """Find what an earlier run inferred, which must not be read as known answers.

    Parameters
    ----------
    columns
        The columns of a table.

    Returns
    -------
    frozenset of str
        A column "truth" with "confidence" behind it, as exports of results have them, and what
        stands with them.
    """
    plain = [plain_name(column) for column in columns]
    inferred = set()
    for at, (name, after) in enumerate(zip(plain, [*plain[1:], ""], strict=True)):
        if name.startswith("truth") and after.startswith("confidence"):
            inferred |= set(columns[at : at + 2])
            inferred |= {column for column in columns[at + 2 : at + 3] if "agrees" in column}
    return frozenset(inferred)


def is_role_name(column: str) -> bool:
    """Tell whether a text is a usual name of any role."""
    plain = plain_name(column)
    return _WEAK_ITEM.fullmatch(plain) is not None or any(
        pattern.fullmatch(plain) for pattern in _PATTERNS.values()
    )


def is_weak_item(column: str) -> bool:
    """Tell whether a name may stand for an item where nothing better is there."""
    return _WEAK_ITEM.fullmatch(plain_name(column)) is not None


def is_numbered_worker(column: str) -> bool:
    """Tell whether a name looks like one of several workers: worker_3, rater B."""
    return _NUMBERED_WORKER.fullmatch(plain_name(column)) is not None


def override(
    guess: Guess, chosen: Roles | Mapping[str, Any], columns: Sequence[str], *, file: str
) -> Guess:
    """Put the user's choice over a guess.

    Parameters
    ----------
    guess
        The guessed roles.
    chosen
        All roles, or some of them by name; a role that is not mentioned stays guessed.
    columns
        The columns of the table.
    file
        The file's name, for messages.

    Returns
    -------
    Guess
        A role that was chosen as it was guessed keeps its reason.

    Raises
    ------
    DataError
        If there is no such role or column.
    """
    if isinstance(chosen, Roles):
        picked = {field.name: getattr(chosen, field.name) for field in fields(Roles)}
    else:
        picked = _completed(dict(chosen), file)
    for role, value in picked.items():
        _check_columns(role, value, columns, file)
    roles = _without_clashes(replace(guess.roles, **picked), picked)
    changed = {role: v for role, v in picked.items() if v != getattr(guess.roles, role)}
    reasons = {role: why for role, why in guess.reasons.items() if role not in changed}
    reasons |= {role: _chosen(value) for role, value in changed.items() if value}
    reasons.pop("unused", None)
    reasons |= unused_columns(roles, columns)
    return replace(guess, roles=roles, reasons=reasons, certain=True, missing=())


def check_roles(roles: Roles, columns: Sequence[str], *, file: str) -> None:
    """Refuse roles whose columns are not in a table.

    Parameters
    ----------
    roles
        The column of each role.
    columns
        The columns of the table.
    file
        The file's name, for messages.

    Raises
    ------
    DataError
        If a column is not there.
    """
    for field in fields(Roles):
        _check_columns(field.name, getattr(roles, field.name), columns, file)


def unused_columns(roles: Roles, columns: Sequence[str]) -> dict[str, str]:
    """Say which columns have no role, as a reason among those of a guess; {} where all have."""
    unused = [column for column in columns if column not in set(roles.used)]
    return {"unused": f"Not used: {join_names(unused)}."} if unused else {}


def _completed(picked: dict[str, Any], file: str) -> dict[str, Any]:
    role_names = [field.name for field in fields(Roles)]
    if unknown := [role for role in picked if role not in role_names]:
        fix = f"The roles are {', '.join(role_names)}."
        raise DataError(f"There is no role {unknown[0]!r}", file=file, fix=fix)
    for role in ("worker_columns", "details", "rows"):
        if role in picked:
            value = picked[role] or ()
            picked[role] = (value,) if isinstance(value, str) else tuple(value)
    if "layout" not in picked:
        if picked.get("worker_columns"):
            picked["layout"] = "wide"
        elif picked.get("label") or (picked.get("worker") and picked.get("item")):
            picked["layout"] = "long"
    if picked.get("layout") == "long":
        picked["worker_columns"] = ()
    elif picked.get("layout") == "wide":
        picked["label"] = None
    return picked


def _check_columns(role: str, value: Any, columns: Sequence[str], file: str) -> None:
    if role == "rows":
        value = value[:1]
    if role == "layout":
        if value not in ("long", "wide"):
            raise DataError(f"The layout is 'long' or 'wide', not {value!r}", file=file)
        return
    for name in value if isinstance(value, tuple) else (value,):
        if name is not None and name not in columns:
            similar = difflib.get_close_matches(str(name), columns, n=1)
            hint = f"Did you mean {similar[0]!r}? " if similar else ""
            raise DataError(
                f"The role {role!r} names a column that is not in the file",
                file=file,
                column=str(name),
                fix=f"{hint}The columns are {', '.join(map(repr, columns[:20]))}.",
            )


def _without_clashes(roles: Roles, picked: Mapping[str, Any]) -> Roles:
    """Take columns that were chosen for one role out of the roles that were only guessed."""
    taken = {value for value in picked.values() if isinstance(value, str)}
    taken |= {name for value in picked.values() if isinstance(value, tuple) for name in value}
    guessed: dict[str, Any] = {}
    for field in fields(Roles):
        value = getattr(roles, field.name)
        if field.name in picked or field.name == "layout":
            continue
        if isinstance(value, tuple):
            guessed[field.name] = tuple(name for name in value if name not in taken)
        elif value in taken:
            guessed[field.name] = None
    if roles.layout == "wide" and picked.get("item") and "worker" not in picked:
        guessed["worker"] = None
    elif roles.layout == "wide" and picked.get("worker") and "item" not in picked:
        guessed["item"] = None
    return replace(roles, **guessed)


def _chosen(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} columns were chosen by hand."
    return f"{value!r} was chosen by hand."
