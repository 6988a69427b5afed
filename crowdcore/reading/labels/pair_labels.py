"""Comparisons of two items: found by the names of columns, and read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import OUTCOMES, UNKNOWN, CrowdData, DataError
from crowdcore.reading.columns.roles import Guess, Roles, plain_name
from crowdcore.reading.findings import make_finding
from crowdcore.reading.labels.health import HealthReport
from crowdcore.reading.labels.times import read_times
from crowdcore.reading.parsing.table import CodedColumn, Table

SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("x", "y"))
"""Words by which the names of two columns of items differ."""

TIES = frozenset(
    (
        "tie",
        "equal",
        "same",
        "draw",
        "both",
        "neither",
        "none",
        "undecided",
        "bothbad",
        "tiebothbad",
    )
)
"""Answers that prefer neither item."""

MIN_READABLE = 0.95
"""So many of the answers must name one of the two items, a side or a tie."""


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The columns of a table of comparisons."""

    left: str
    right: str
    labels: tuple[str, ...]  # one in a long table, one per worker in a wide one
    reason: str


def find_sides(table: Table, roles: Roles) -> Sides | None:
    """Find the two columns of items of which the labels say which is preferred.

    Parameters
    ----------
    table
        The table.
    roles
        Its column of labels, or its columns of workers.

    Returns
    -------
    Sides or None
        None where the labels do not name the winner of two columns.
    """
    labels = roles.worker_columns or ((roles.label,) if roles.label else ())
    if not labels:
        return None
    for left, right in _sided(table.columns):
        if left in labels or right in labels:
            continue
        outcome = np.concatenate([_outcomes(table, left, right, label) for label in labels])
        blank = np.concatenate([_blank(table.coded(label)) for label in labels])
        readable = outcome != UNKNOWN
        enough = readable.sum() >= max(1, MIN_READABLE * int((~blank).sum()))
        if enough and {0, 1} <= set(outcome[readable].tolist()):
            said = "The answer" if len(labels) > 1 else repr(labels[0])
            reason = f"{said} says which of {left!r} and {right!r} is preferred."
            return Sides(left=left, right=right, labels=tuple(labels), reason=reason)
    return None


def _sided(columns: tuple[str, ...] | list[str]) -> list[tuple[str, str]]:
    """Pairs of columns whose names differ by a side: left and right, model_a and model_b."""
    found: list[tuple[str, str]] = []
    words = {column: plain_name(column).split("_") for column in columns}
    for first, second in SIDES:
        for column, parts in words.items():
            if parts.count(first) != 1:
                continue
            twin = [second if part == first else part for part in parts]
            found += [(column, other) for other, its in words.items() if its == twin]
    return found


def _outcomes(table: Table, left: str, right: str, label: str) -> NDArray[np.int32]:
    """The outcome of each row: a code of `OUTCOMES`, or UNKNOWN."""
    one, other, answer = (table.coded(column) for column in (left, right, label))
    side = {_plain(left): 0, _plain(right): 1}
    for first, second in SIDES:
        if first in plain_name(left).split("_") and second in plain_name(right).split("_"):
            side |= {first: 0, second: 1}
    by_word = np.array(
        [side.get(_plain(name), 2 if _plain(name) in TIES else UNKNOWN) for name in answer.names],
        np.int32,
    )[answer.codes]
    is_left, is_right = _same_text(answer, one), _same_text(answer, other)
    outcome = np.where(is_left & ~is_right, 0, np.where(is_right & ~is_left, 1, by_word))
    return outcome.astype(np.int32)


def _plain(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


def _same_text(first: CodedColumn, second: CodedColumn) -> NDArray[np.bool_]:
    numbers: dict[str, int] = {}
    codes = [
        np.array([numbers.setdefault(name.strip(), len(numbers)) for name in each.names])[
            each.codes
        ]
        for each in (first, second)
    ]
    return np.asarray(codes[0] == codes[1])


def read_comparisons(table: Table, sides: Sides, guess: Guess) -> CrowdData:
    """Read a table of comparisons.

    Parameters
    ----------
    table
        The table.
    sides
        Its columns of items and answers.
    guess
        What its other columns are: the worker, and the time.

    Returns
    -------
    CrowdData
        Of the kind "comparisons"; its report says what was left out. A worker may compare the same
        two items more than once: every row counts.

    Raises
    ------
    DataError
        If no column says who compared, or no comparison is left.
    """
    roles, n, width = guess.roles, table.n_rows, len(sides.labels)
    row = np.repeat(np.arange(n), width)
    if roles.layout == "wide":
        who = CodedColumn(codes=np.tile(np.arange(width, dtype=np.int32), n), names=sides.labels)
    elif roles.worker is not None:
        who = table.coded(roles.worker)
    else:
        raise DataError(
            "No column says who compared the items",
            file=table.name,
            fix="Choose the column of the role 'worker'.",
        )
    one, other = (_repeated(table.coded(column), width) for column in (sides.left, sides.right))
    outcome = np.stack(
        [_outcomes(table, sides.left, sides.right, label) for label in sides.labels], 1
    ).ravel()
    answers = [table.coded(label) for label in sides.labels]
    blank = np.stack([_blank(answer) for answer in answers], 1).ravel()
    unnamed = (_blank(one) | _blank(other) | _blank(who)) & ~blank
    unread = (outcome == UNKNOWN) & ~blank & ~unnamed
    alone = _same_text(one, other) & ~blank & ~unnamed & ~unread
    keep = np.flatnonzero(~(blank | unnamed | unread | alone))
    if not len(keep):
        raise DataError(
            "No comparison is left after cleaning", file=table.name, column=sides.labels[0]
        )
    left, right, items = _joint_codes(one, other, keep)
    worker, _, workers = _joint_codes(who, who, keep)
    time = None if roles.time is None else read_times(table, roles.time)[0]
    texts = np.stack([np.array(a.names, dtype=object)[a.codes] for a in answers], 1).ravel()
    in_cells = roles.layout == "wide"
    n_answers = int((~blank).sum()) if in_cells else len(row)
    n_blank = 0 if in_cells else int(blank.sum())
    others = sorted(set(texts[unread].tolist()))
    n_unread, n_alone, n_unnamed = (int(each.sum()) for each in (unread, alone, unnamed))
    left_out = "They were left out."
    findings = (
        make_finding("empty_labels", n_blank, done=left_out, left_out=n_blank),
        make_finding("missing_ids", n_unnamed, done=left_out, left_out=n_unnamed),
        make_finding(
            "other_winners",
            n_unread,
            examples=map(repr, others),
            done=left_out,
            left_out=n_unread,
        ),
        make_finding("self_comparisons", n_alone, done=left_out, left_out=n_alone),
    )
    return CrowdData(
        item=left,
        other=right,
        worker=worker,
        label=outcome[keep],
        items=items,
        workers=workers,
        classes=OUTCOMES,
        kind="comparisons",
        time=None if time is None else time[row[keep]],
        row=row[keep].astype(np.int32),
        report=HealthReport(
            findings=findings,
            source=table.name,
            n_rows=n,
            n_answers=n_answers,
            n_labels=len(keep),
            n_items=len(items),
            n_workers=len(workers),
            n_classes=len(np.unique(outcome[keep])),
            roles=roles,
            reasons={**guess.reasons, "item": sides.reason},
        ),
    )


def _repeated(column: CodedColumn, times: int) -> CodedColumn:
    return CodedColumn(codes=np.repeat(column.codes, times), names=column.names)


def _blank(column: CodedColumn) -> NDArray[np.bool_]:
    return np.array([not name.strip() for name in column.names], bool)[column.codes]


def _joint_codes(
    one: CodedColumn, other: CodedColumn, keep: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]:
    """Codes of two columns with common names, in the order in which these first appear."""
    numbers: dict[str, int] = {}
    codes = [
        np.array([numbers.setdefault(name.strip(), len(numbers)) for name in each.names], np.int32)
        for each in (one, other)
    ]
    left, right = codes[0][one.codes[keep]], codes[1][other.codes[keep]]
    both = np.stack([left, right], 1).ravel()
    used, first = np.unique(both, return_index=True)
    order = used[np.argsort(first, kind="stable")]
    place = np.zeros(len(numbers), np.int32)
    place[order] = np.arange(len(order))
    names = list(numbers)
    return place[left], place[right], tuple(names[code] for code in order)
