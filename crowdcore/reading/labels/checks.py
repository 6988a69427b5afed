"""Checks of the labels as they will be used: thin spots, islands, odd classes, personal labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crowdcore.reading.columns.personal import personal_kind
from crowdcore.reading.columns.roles import Roles
from crowdcore.reading.finding_kinds import FEW_LABELS
from crowdcore.reading.findings import MAX_EXAMPLES, Finding, make_finding
from crowdcore.reading.labels.class_checks import check_classes
from crowdcore.reading.labels.coded_labels import CodedLabels
from crowdcore.reading.labels.identity_checks import check_names
from crowdcore.reading.labels.spelling import check_spellings
from crowdcore.reading.parsing.header import is_number
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count

_FEW_CLASSES = 20
_MANY_CLASSES = 1_000
_PERSONAL_ROWS = 2_000
_PERSONAL_VALUES = 200
_WORKER_HEADERS = "the headers of the workers' columns"
_MISSING = frozenset(
    ("na", "n/a", "nan", "none", "null", "nil", "-", "?", ".", "-1", "<na>", "#n/a", "missing")
)


def check_labels(labels: CodedLabels, *, wide: bool) -> list[Finding]:
    """Make every check that needs nothing but the labels.

    Parameters
    ----------
    labels
        The labels as they will be used.
    wide
        Whether they come from a wide table.

    Returns
    -------
    list of Finding
    """
    given = dict(zip(labels.classes, labels.labels_per_class.tolist(), strict=True))
    return [
        check_spellings(given),
        _missing_marks(given, wide),
        _many_classes(labels),
        _one_class(given),
        *check_classes(labels),
        *check_coverage(labels),
    ]


def check_coverage(labels: CodedLabels) -> list[Finding]:
    """Check who labelled what, whatever the labels are.

    Parameters
    ----------
    labels
        The labels as they will be used.

    Returns
    -------
    list of Finding
    """
    return [
        _unlabelled_items(labels),
        _single_label_items(labels),
        _thin_workers(labels),
        _islands(labels),
        *check_names(labels),
    ]


def _missing_marks(given: dict[str, int], wide: bool) -> Finding:
    # In a long table -1 is usually a class; in a matrix it usually marks an empty cell.
    marks = [
        name
        for name in given
        if name.strip().casefold() in _MISSING and (wide or not is_number(name))
    ]
    return make_finding(
        "missing_marks",
        len(marks),
        severity="warning" if any(is_number(name) for name in marks) else "notice",
        examples=(f"{name!r} ({count(given[name], 'label')})" for name in marks),
        option={"missing": marks},
    )


def _many_classes(labels: CodedLabels) -> Finding:
    too_many = len(labels.classes) > min(_MANY_CLASSES, max(_FEW_CLASSES, len(labels.row) // 2))
    return make_finding(
        "many_classes",
        len(labels.classes) if too_many else 0,
        severity="warning",
        examples=map(repr, labels.classes),
    )


def _one_class(given: dict[str, int]) -> Finding:
    used = [name for name, number in given.items() if number]
    return make_finding(
        "one_class",
        given[used[0]] if len(used) == 1 else 0,
        severity="warning",
        examples=map(repr, used),
    )


def _unlabelled_items(labels: CodedLabels) -> Finding:
    which = np.flatnonzero(labels.labels_per_item == 0)
    return make_finding(
        "unlabelled_items",
        len(which),
        examples=(f"item {labels.items[at]!r}" for at in which[:MAX_EXAMPLES]),
        done="They stay in the data, and no method can decide them by votes.",
    )


def _single_label_items(labels: CodedLabels) -> Finding:
    which = np.flatnonzero(labels.labels_per_item == 1)
    return make_finding(
        "single_label_items",
        len(which),
        severity="warning" if 2 * len(which) > len(labels.items) else "notice",
        examples=(f"item {labels.items[at]!r}" for at in which[:MAX_EXAMPLES]),
    )


def _thin_workers(labels: CodedLabels) -> Finding:
    which = np.flatnonzero(labels.labels_per_worker < FEW_LABELS)
    return make_finding(
        "thin_workers",
        len(which),
        examples=(
            f"worker {labels.workers[at]!r}: {labels.labels_per_worker[at]}"
            for at in which[:MAX_EXAMPLES]
        ),
    )


def _islands(labels: CodedLabels) -> Finding:
    """Groups of workers and items that share nothing: their qualities cannot be compared."""
    item_island, worker_island, n_islands = components(labels)
    examples = []
    if n_islands > 1:
        items = np.bincount(item_island[labels.labels_per_item > 0], minlength=n_islands)
        workers = np.bincount(worker_island, minlength=n_islands)
        for island in np.argsort(-items, kind="stable")[:MAX_EXAMPLES].tolist():
            worker = labels.workers[int(np.flatnonzero(worker_island == island)[0])]
            examples.append(
                f"{count(items[island], 'item')} and {count(workers[island], 'worker')}, "
                f"such as worker {worker!r}"
            )
    return make_finding(
        "islands",
        n_islands if n_islands > 1 else 0,
        severity="warning",
        examples=examples,
    )


def components(labels: CodedLabels) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Find the islands: groups of workers and items that no label connects.

    Parameters
    ----------
    labels
        The labels.

    Returns
    -------
    item_island
        The island of each item [N], numbered by worker; -1 for an item that nobody labelled.
    worker_island
        The island of each worker [W].
    n_islands
        How many there are.
    """
    n_items = len(labels.items)
    size = n_items + len(labels.workers)
    edges = (labels.item, labels.worker + np.int32(n_items))
    graph = coo_array((np.ones(len(labels.row), np.int8), edges), (size, size)).tocsr()
    _, component = connected_components(graph, directed=False)
    with_workers, worker_island = np.unique(component[n_items:], return_inverse=True)
    island = np.full(int(component.max()) + 1, -1)
    island[with_workers] = np.arange(len(with_workers))
    return island[component[:n_items]], worker_island, len(with_workers)


def check_personal(table: Table, roles: Roles, *, pseudonyms: bool) -> Finding:
    """Look for columns that may say who a person is, and workers called by their address.

    Parameters
    ----------
    table
        The table; its first rows are looked at.
    roles
        What its columns are.
    pseudonyms
        Whether workers were already called by number.

    Returns
    -------
    Finding
    """
    sample, worker_columns = table.first_rows(_PERSONAL_ROWS), set(roles.worker_columns)
    kinds = {
        column: personal_kind(column, sample.coded(column).names[:_PERSONAL_VALUES])
        for column in table.columns
        if column not in worker_columns
    }
    if not roles.transposed:
        kinds[_WORKER_HEADERS] = personal_kind("", roles.worker_columns[:_PERSONAL_VALUES])
    personal = {column: kind for column, kind in kinds.items() if kind}
    naming_workers = [column for column in personal if column in (roles.worker, _WORKER_HEADERS)]
    replaced = naming_workers if pseudonyms else []
    used = [c for c in personal if c in (*roles.used, _WORKER_HEADERS) and c not in replaced]
    left_out = [column for column in personal if column not in (*used, *replaced)]
    done = [f"Not taken over: {', '.join(left_out)}."] if left_out else []
    done += [f"Replaced by numbers: {', '.join(replaced)}."] if replaced else []
    offers_pseudonyms = bool(naming_workers) and not replaced
    return make_finding(
        "personal",
        len(personal),
        severity="warning" if used else "notice",
        examples=(f"{column} seems to hold {kind}" for column, kind in personal.items()),
        done=" ".join(done),
        fix="Replace the workers' ids by pseudonyms." if offers_pseudonyms else None,
        option={"pseudonyms": True} if offers_pseudonyms else {},
    )
