"""Triples: the labels of a table as codes, before and after cleaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Codes, DataError
from crowdcore.io.roles import Roles
from crowdcore.io.table import Coded, Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Triples:
    """Parallel codes of item, worker and label, the names behind them, and each one's row."""

    row: Codes  # [L] rows of the table, counted from 0
    item: Codes  # [L]
    worker: Codes  # [L]
    label: Codes  # [L]
    items: tuple[str, ...]
    workers: tuple[str, ...]
    labels: tuple[str, ...]

    def only(self, keep: NDArray[np.bool_]) -> Triples:
        """Keep some of the labels, and every name."""
        if keep.all():
            return self
        return replace(
            self,
            row=self.row[keep],
            item=self.item[keep],
            worker=self.worker[keep],
            label=self.label[keep],
        )


def extract(table: Table, roles: Roles) -> Triples:
    """Take the labels out of a table; a blank cell of a wide table is no label."""
    return _extract_wide(table, roles) if roles.layout == "wide" else _extract_long(table, roles)


def _extract_long(table: Table, roles: Roles) -> Triples:
    for role in ("item", "worker", "label"):
        if getattr(roles, role) is None:
            raise DataError(f"No column is the {role}", file=table.name)
    item, worker, label = (
        table.coded(str(column)) for column in (roles.item, roles.worker, roles.label)
    )
    return Triples(
        row=np.arange(table.n_rows, dtype=np.int32),
        item=item.codes,
        worker=worker.codes,
        label=label.codes,
        items=item.names,
        workers=worker.names,
        labels=label.names,
    )


def _extract_wide(table: Table, roles: Roles) -> Triples:
    names = _row_names(table, roles)
    classes: dict[str, int] = {}
    rows, labels, sizes = [], [], []
    for column in roles.worker_columns:
        cells = table.coded(column)
        codes = np.array([classes.setdefault(name, len(classes)) for name in cells.names])
        filled = np.array([bool(name.strip()) for name in cells.names], bool)[cells.codes]
        kept = np.flatnonzero(filled)
        rows.append(kept.astype(np.int32))
        labels.append(codes[cells.codes[kept]].astype(np.int32))
        sizes.append(len(kept))
    row = np.concatenate(rows)
    column_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    order = np.argsort(row, kind="stable")  # the order of the file
    row, column_of, label = row[order], column_of[order], np.concatenate(labels)[order]
    across, down = (column_of, roles.worker_columns), (names.codes[row], names.names)
    (worker, workers), (item, items) = (down, across) if roles.transposed else (across, down)
    return Triples(
        row=row,
        item=item,
        worker=worker,
        label=label,
        items=items,
        workers=workers,
        labels=tuple(classes),
    )


def _row_names(table: Table, roles: Roles) -> Coded:
    column = roles.worker if roles.transposed else roles.item
    if column is not None:
        return table.coded(column)
    numbers = tuple(str(number) for number in range(1, table.n_rows + 1))
    return Coded(codes=np.arange(table.n_rows, dtype=np.int32), names=numbers)


def item_of_rows(table: Table, roles: Roles, trim: bool) -> tuple[Codes, tuple[str, ...]] | None:
    """The item code of every row; None where rows are workers."""
    if roles.transposed:
        return None
    coded = _row_names(table, roles)
    codes, names = rename(coded.codes, coded.names, str.strip if trim else str)
    return codes, names


def rename(
    codes: Codes, names: Sequence[str], new_name: Callable[[str], str]
) -> tuple[Codes, tuple[str, ...]]:
    """Give every name a new one and merge those that became equal; the order is kept."""
    renamed = [new_name(name) for name in names]
    place: dict[str, int] = {}
    mapping = np.array([place.setdefault(name, len(place)) for name in renamed], np.int32)
    if len(place) == len(names):
        return codes, tuple(renamed)
    return mapping[codes], tuple(place)


def forget(
    codes: Codes, names: Sequence[str], gone: NDArray[np.bool_]
) -> tuple[Codes, tuple[str, ...]]:
    """Take names away that no code refers to any more."""
    if not gone.any():
        return codes, tuple(names)
    mapping = (np.cumsum(~gone) - 1).astype(np.int32)
    kept = tuple(name for name, out in zip(names, gone.tolist(), strict=True) if not out)
    return mapping[codes], kept
