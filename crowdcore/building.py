"""Build data of several classes per answer, and of comparisons, from plain Python rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.codes import codes_by_name, natural_order
from crowdcore.data import OUTCOMES, UNKNOWN, Codes, CrowdData
from crowdcore.errors import DataError


def sets_of(
    rows: Sequence[tuple[Any, Any, Collection[Any]]],
    *,
    classes: Sequence[str] | None = None,
    gold: Mapping[Any, Collection[Any]] | None = None,
) -> CrowdData:
    """Build data whose answers hold any number of classes.

    Parameters
    ----------
    rows
        (item, worker, classes) of every answer; no classes at all is an answer, too.
    classes
        The classes in their order; None takes those that occur.
    gold
        Known answers by item; items without answers are left out.

    Returns
    -------
    CrowdData
        Of the kind "sets", with items and workers in order of appearance.

    Raises
    ------
    DataError
        If an answer holds a class that is none of the classes.

    Examples
    --------
    >>> data = sets_of([("pic 1", "ann", ["cat", "dog"]), ("pic 1", "bob", [])])
    >>> data.n_labels, data.classes
    (2, ('cat', 'dog'))
    """
    known = {str(item): answer for item, answer in (gold or {}).items()}
    given = [frozenset(map(str, row[2])) for row in rows]
    right = {item: frozenset(map(str, answer)) for item, answer in known.items()}
    used = {name for answer in (*given, *right.values()) for name in answer}
    names = natural_order(used) if classes is None else tuple(classes)
    if missing := sorted(used - set(names)):
        raise DataError(f"The class {missing[0]!r} is not one of the classes {list(names)}")
    items = codes_by_name(str(row[0]) for row in rows)
    workers = codes_by_name(str(row[1]) for row in rows)
    answers = {answer: code for code, answer in enumerate(dict.fromkeys([*given, *right.values()]))}
    gold_codes = np.full(len(items), UNKNOWN, np.int32) if gold else None
    for item, answer in right.items():
        if gold_codes is not None and item in items:
            gold_codes[items[item]] = answers[answer]
    return CrowdData(
        item=np.array([items[str(row[0])] for row in rows], np.int32),
        worker=np.array([workers[str(row[1])] for row in rows], np.int32),
        label=np.array([answers[answer] for answer in given], np.int32),
        items=tuple(items),
        workers=tuple(workers),
        classes=names,
        kind="sets",
        sets=tick_rows(list(answers), names),
        gold=gold_codes,
    )


def tick_rows(answers: Sequence[Collection[str]], classes: Sequence[str]) -> NDArray[np.bool_]:
    """Mark which classes each answer holds.

    Parameters
    ----------
    answers
        Classes by name.
    classes
        All classes in their order.

    Returns
    -------
    numpy.ndarray
        Ticks [answers, classes].
    """
    code = {name: index for index, name in enumerate(classes)}
    ticks = np.zeros((len(answers), len(classes)), bool)
    for row, answer in enumerate(answers):
        ticks[row, [code[name] for name in answer]] = True
    return ticks


def comparisons_of(
    rows: Sequence[tuple[Any, Any, Any, Any]], *, gold: Mapping[Any, float] | None = None
) -> CrowdData:
    """Build data of which of two items somebody prefers.

    Parameters
    ----------
    rows
        (left item, right item, worker, answer) of every comparison. The answer is the preferred
        item, or "left", "right" or "tie".
    gold
        Known scores by item; items that were never compared are left out.

    Returns
    -------
    CrowdData
        Of the kind "comparisons", with items and workers in order of appearance.

    Raises
    ------
    DataError
        If an answer is neither of the two items, or an item is compared with itself.

    Examples
    --------
    >>> data = comparisons_of([("a", "b", "ann", "a"), ("b", "c", "bob", "tie")])
    >>> data.n_items, data.n_labels
    (3, 2)
    """
    items = codes_by_name(str(name) for row in rows for name in row[:2])
    workers = codes_by_name(str(row[2]) for row in rows)
    scores = np.full(len(items), np.nan) if gold else None
    for name, score in (gold or {}).items():
        if scores is not None and str(name) in items:
            scores[items[str(name)]] = score
    return CrowdData(
        item=np.array([items[str(row[0])] for row in rows], np.int32),
        other=np.array([items[str(row[1])] for row in rows], np.int32),
        worker=np.array([workers[str(row[2])] for row in rows], np.int32),
        label=_outcomes(rows),
        items=tuple(items),
        workers=tuple(workers),
        classes=OUTCOMES,
        kind="comparisons",
        gold=scores,
    )


def _outcomes(rows: Sequence[tuple[Any, Any, Any, Any]]) -> Codes:
    codes = []
    for left, right, _, answer in rows:
        names = {str(left): 0, str(right): 1}
        plain = {name: code for code, name in enumerate(OUTCOMES) if name not in names}
        code = {**plain, **names}.get(str(answer))
        if code is None:
            raise DataError(
                f"The answer {answer!r} is neither {left!r} nor {right!r}",
                fix='Answers are one of the two items, or "left", "right" or "tie".',
            )
        codes.append(code)
    return np.array(codes, np.int32)
