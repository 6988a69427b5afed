"""Checks of the labels as they will be used: thin spots, islands, odd classes, personal data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from crowdcore.data import CrowdData
from crowdcore.io.header import is_number
from crowdcore.io.health import Finding, check, counted
from crowdcore.io.personal import personal_kind
from crowdcore.io.roles import Roles
from crowdcore.io.spelling import spelling_finding
from crowdcore.io.table import Table

FEW_LABELS = 5
_MANY_NUMBERS = 20
_MANY_CLASSES = 1_000
_PERSONAL_ROWS = 2_000
_PERSONAL_SAMPLE = 200
_HEADERS = "the headers of the workers' columns"
_MISSING = frozenset(
    ("na", "n/a", "nan", "none", "null", "nil", "-", "?", ".", "-1", "<na>", "#n/a", "missing")
)


def check_labels(data: CrowdData, wide: bool) -> list[Finding]:
    """Every check that needs nothing but the labels."""
    counts = np.bincount(data.label.astype(np.int64), minlength=data.n_classes).tolist()
    given = dict(zip(data.classes, counts, strict=True))
    return [
        spelling_finding(given),
        _missing_marks(given, wide),
        _ratings(data.classes),
        _many_classes(data),
        _one_class(given),
        _unlabelled(data),
        _thin_items(data),
        _thin_workers(data),
        _islands(data),
    ]


def _missing_marks(given: dict[str, int], wide: bool) -> Finding:
    # In a long table -1 is usually a class; in a matrix it usually marks an empty cell.
    marks = [
        name
        for name in given
        if name.strip().casefold() in _MISSING and (wide or not is_number(name))
    ]
    return check(
        "missing_marks",
        "Classes that may mean no answer",
        len(marks),
        severity="warning" if any(is_number(name) for name in marks) else "notice",
        examples=(f"{name!r} ({counted(given[name], 'label')})" for name in marks),
        fix="Leave these labels out, if they mean that there is no answer.",
        option={"missing": marks},
    )


def _ratings(classes: Sequence[str]) -> Finding:
    numbers = all(is_number(name) for name in classes)
    values = {float(name) for name in classes} if numbers else set()
    like = len(values) > _MANY_NUMBERS or any(not value.is_integer() for value in values)
    return check(
        "ratings",
        "Labels that look like ratings",
        len(values) if like else 0,
        examples=classes[:5],
        done="They are treated as classes without an order.",
        fix="Group them into a few classes, if they are measurements.",
    )


def _many_classes(data: CrowdData) -> Finding:
    many = data.n_classes > min(_MANY_CLASSES, max(_MANY_NUMBERS, data.n_labels // 2))
    return check(
        "many_classes",
        "Very many classes",
        data.n_classes if many else 0,
        severity="warning",
        examples=map(repr, data.classes),
        fix="Check that the label column is not free text.",
    )


def _one_class(given: dict[str, int]) -> Finding:
    used = [name for name, number in given.items() if number]
    return check(
        "one_class",
        "Nothing to infer: all labels are of one class",
        given[used[0]] if len(used) == 1 else 0,
        severity="warning",
        examples=map(repr, used),
        fix="Check that the label column is really the label.",
    )


def _unlabelled(data: CrowdData) -> Finding:
    which = np.flatnonzero(data.labels_per_item == 0)
    return check(
        "unlabelled_items",
        "Items without a label",
        len(which),
        examples=(f"item {data.items[at]!r}" for at in which[:5]),
        done="They stay in the data, and no method can decide them by votes.",
        fix="Have them labelled.",
    )


def _thin_items(data: CrowdData) -> Finding:
    which = np.flatnonzero(data.labels_per_item == 1)
    return check(
        "single_label_items",
        "Items with one label only",
        len(which),
        severity="warning" if 2 * len(which) > data.n_items else "notice",
        examples=(f"item {data.items[at]!r}" for at in which[:5]),
        fix="Have them labelled again: one opinion cannot be checked.",
    )


def _thin_workers(data: CrowdData) -> Finding:
    which = np.flatnonzero(data.labels_per_worker < FEW_LABELS)
    return check(
        "thin_workers",
        f"Workers with fewer than {FEW_LABELS} labels",
        len(which),
        examples=(f"worker {data.workers[at]!r}: {data.labels_per_worker[at]}" for at in which[:5]),
        fix="Do not judge these workers by so few labels.",
    )


def _islands(data: CrowdData) -> Finding:
    """Groups of workers and items that share nothing: their qualities cannot be compared."""
    item_island, worker_island, count = components(data)
    examples = []
    if count > 1:
        items = np.bincount(item_island[data.labels_per_item > 0], minlength=count)
        workers = np.bincount(worker_island, minlength=count)
        for island in np.argsort(-items, kind="stable")[:5].tolist():
            worker = data.workers[int(np.flatnonzero(worker_island == island)[0])]
            examples.append(
                f"{counted(items[island], 'item')} and {counted(workers[island], 'worker')}, "
                f"such as worker {worker!r}"
            )
    return check(
        "islands",
        "Islands of workers and items",
        count if count > 1 else 0,
        severity="warning",
        examples=examples,
        fix="Compare workers within an island only, or have some items labelled across islands.",
    )


def components(data: CrowdData) -> tuple[Any, Any, int]:
    """The island of each item [N] and worker [W], numbered by worker, and how many there are.

    An item that nobody labelled belongs to none (-1).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = data.n_items + data.n_workers
    shape = (size, size)
    ones = np.ones(data.n_labels, np.int8)
    graph = coo_array((ones, (data.item, data.worker + np.int32(data.n_items))), shape).tocsr()
    _, island = connected_components(graph, directed=False)
    found, workers = np.unique(island[data.n_items :], return_inverse=True)
    number = np.full(int(island.max()) + 1, -1)
    number[found] = np.arange(len(found))
    return number[island[: data.n_items]], workers, len(found)


def check_personal(table: Table, roles: Roles, *, pseudonyms: bool) -> Finding:
    """Columns that may say who a person is, and workers that are called by their address."""
    top, heads = table.top(_PERSONAL_ROWS), set(roles.worker_columns)
    kinds = {
        column: personal_kind(column, top.coded(column).names[:_PERSONAL_SAMPLE])
        for column in table.columns
        if column not in heads
    }
    if not roles.transposed:
        kinds[_HEADERS] = personal_kind("", roles.worker_columns[:_PERSONAL_SAMPLE])
    found = {column: kind for column, kind in kinds.items() if kind}
    workers = [column for column in found if column in (roles.worker, _HEADERS)]
    replaced = workers if pseudonyms else []
    used = [c for c in found if c in (*roles.used, _HEADERS) and c not in replaced]
    left_out = [column for column in found if column not in (*used, *replaced)]
    done = [f"Not taken over: {', '.join(left_out)}."] if left_out else []
    done += [f"Replaced by numbers: {', '.join(replaced)}."] if replaced else []
    offer = bool(workers) and not replaced
    return check(
        "personal",
        "Columns with personal data",
        len(found),
        severity="warning" if used else "notice",
        examples=(f"{column} seems to hold {kind}" for column, kind in found.items()),
        done=" ".join(done),
        fix="Replace the workers' ids by pseudonyms." if offer else "Remove them from the file.",
        option={"pseudonyms": True} if offer else {},
    )
