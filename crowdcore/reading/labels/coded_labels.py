"""CodedLabels: the labels of a table as codes, before and after cleaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crowdcore.data import Codes, DataError, Floats
from crowdcore.reading.columns.roles import Roles
from crowdcore.reading.parsing.table import CodedColumn, Table


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedLabels:
    """Parallel codes of item, worker and label, and the names behind them.

    Parameters
    ----------
    row
        The row of the table [L] that each label comes from, counted from 0.
    item, worker, label
        Codes [L].
    items, workers, classes
        The names behind the codes.
    time
        When each label was given [L], in seconds since the epoch; NaN where unknown.
    duration
        How many seconds each label took [L]; NaN where unknown.
    """

    row: Codes
    item: Codes
    worker: Codes
    label: Codes
    items: tuple[str, ...]
    workers: tuple[str, ...]
    classes: tuple[str, ...]
    time: Floats | None = None
    duration: Floats | None = None

    @cached_property
    def labels_per_item(self) -> NDArray[np.int64]:
        """The number of labels of each item [N]."""
        return np.bincount(self.item, minlength=len(self.items))

    @cached_property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """The number of labels of each worker [W]."""
        return np.bincount(self.worker, minlength=len(self.workers))

    @cached_property
    def labels_per_class(self) -> NDArray[np.int64]:
        """How often each class [K] was given."""
        return np.bincount(self.label, minlength=len(self.classes))

    def only(self, keep: NDArray[np.bool_]) -> CodedLabels:
        """Keep some of the labels [L], and every name."""
        if keep.all():
            return self
        return replace(
            self,
            row=self.row[keep],
            item=self.item[keep],
            worker=self.worker[keep],
            label=self.label[keep],
            time=None if self.time is None else self.time[keep],
            duration=None if self.duration is None else self.duration[keep],
        )


def extract(table: Table, roles: Roles) -> CodedLabels:
    """Take the labels out of a table.

    Parameters
    ----------
    table
        The table.
    roles
        What its columns are.

    Returns
    -------
    CodedLabels
        One per row of a long table; one per filled cell of a wide one, in the order of the file.

    Raises
    ------
    DataError
        If a role that is needed has no column.
    """
    return _extract_wide(table, roles) if roles.layout == "wide" else _extract_long(table, roles)


def _extract_long(table: Table, roles: Roles) -> CodedLabels:
    for role in ("item", "worker", "label"):
        if getattr(roles, role) is None:
            raise DataError(f"No column is the {role}", file=table.name)
    item, worker, label = (
        table.coded(str(column)) for column in (roles.item, roles.worker, roles.label)
    )
    return CodedLabels(
        row=np.arange(table.n_rows, dtype=np.int32),
        item=item.codes,
        worker=worker.codes,
        label=label.codes,
        items=item.names,
        workers=worker.names,
        classes=label.names,
    )


def _extract_wide(table: Table, roles: Roles) -> CodedLabels:
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
    return CodedLabels(
        row=row,
        item=item,
        worker=worker,
        label=label,
        items=items,
        workers=workers,
        classes=tuple(classes),
    )


def _row_names(table: Table, roles: Roles) -> CodedColumn:
    column = roles.worker if roles.transposed else roles.item
    if column is not None:
        return table.coded(column)
    numbers = tuple(str(number) for number in range(1, table.n_rows + 1))
    return CodedColumn(codes=np.arange(table.n_rows, dtype=np.int32), names=numbers)


def item_of_rows(table: Table, roles: Roles, trim: bool) -> tuple[Codes, tuple[str, ...]] | None:
    """Return the item of every row, whether or not the row holds a label.

    Parameters
    ----------
    table
        The table.
    roles
        What its columns are.
    trim
        Whether blanks around ids are cut off.

    Returns
    -------
    tuple or None
        Codes [rows] and the names of the items; None where rows are workers.
    """
    if roles.transposed:
        return None
    coded = _row_names(table, roles)
    codes, names = rename(coded.codes, coded.names, str.strip if trim else str)
    return codes, names


def match_items(names: tuple[str, ...], items: tuple[str, ...]) -> NDArray[np.int64]:
    """Look names up among the items.

    Parameters
    ----------
    names
        Names from another table.
    items
        The items.

    Returns
    -------
    ndarray
        The index of each name [len(names)] among the items; -1 where it is not one.
    """
    index = pc.index_in(pa.array(names, pa.string()), value_set=pa.array(items, pa.string()))
    return np.asarray(index.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def rename(
    codes: Codes, names: Sequence[str], new_name: Callable[[str], str]
) -> tuple[Codes, tuple[str, ...]]:
    """Give every name a new one and merge those that became equal; the order is kept.

    Parameters
    ----------
    codes
        Codes of names.
    names
        The names behind the codes.
    new_name
        Gives the new name of a name.

    Returns
    -------
    tuple
        The new codes and names.
    """
    renamed = [new_name(name) for name in names]
    new_codes: dict[str, int] = {}
    mapping = np.array([new_codes.setdefault(name, len(new_codes)) for name in renamed], np.int32)
    if len(new_codes) == len(names):
        return codes, tuple(renamed)
    return mapping[codes], tuple(new_codes)


def remove_names(
    codes: Codes, names: Sequence[str], removed: NDArray[np.bool_]
) -> tuple[Codes, tuple[str, ...]]:
    """Take names away that no code refers to any more.

    Parameters
    ----------
    codes
        Codes of names.
    names
        The names behind the codes.
    removed
        Which names go.

    Returns
    -------
    tuple
        The new codes and names.
    """
    if not removed.any():
        return codes, tuple(names)
    mapping = (np.cumsum(~removed) - 1).astype(np.int32)
    kept = tuple(name for name, gone in zip(names, removed.tolist(), strict=True) if not gone)
    return mapping[codes], kept
