"""Features of items: CSV, Parquet, JSON, NPY or NPZ, matched to the items by id."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.io.gold import places
from crowdcore.io.health import Finding, check
from crowdcore.io.roles import is_weak_item, name_rank
from crowdcore.io.source import Content, Source, load
from crowdcore.io.table import Table, open_table

_ID_ARRAYS = ("task", "item", "id", "tasks", "items", "ids")
_VALUE_ARRAYS = ("x", "X", "features", "embeddings", "embedding")
_NPY, _ZIP = b"\x93NUMPY", b"PK\x03\x04"
_MATRIX = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """A matrix [N, D] in the order of the items; NaN rows where an item has none."""

    values: NDArray[np.float32]
    names: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    """A matrix [rows, D] as the file has it; `ids` is None where rows have no names."""

    file: str
    values: NDArray[np.float32]
    ids: tuple[str, ...] | None
    names: tuple[str, ...] = ()
    first: int = 1  # the number of the first row in messages


def read_features(
    source: Source | Table, items: tuple[str, ...], *, name: str | None = None, trim: bool = True
) -> Features:
    """Read features and bring them into the order of the items."""
    if isinstance(source, Table):
        rows = _from_table(source, items)
    else:
        content = load(source, name)
        if content.head.startswith((_NPY, _ZIP)):
            rows = _from_numpy(content)
        else:
            rows = _from_table(open_table(content.all(), name=content.name), items)
    wrong = np.flatnonzero(~np.isfinite(rows.values).all(1))
    if len(wrong):
        raise DataError(
            "A feature is not a finite number",
            file=rows.file,
            row=int(wrong[0]) + rows.first,
            fix="Fill in or remove missing values.",
        )
    return _by_order(rows, items) if rows.ids is None else _by_id(rows, rows.ids, items, trim)


def _by_order(rows: _Rows, items: tuple[str, ...]) -> Features:
    if len(rows.values) != len(items):
        raise DataError(
            f"There are {len(rows.values)} rows of features without ids for {len(items)} items",
            file=rows.file,
            fix="Give an NPZ with the item ids in 'item' and the features in 'x'.",
        )
    finding = check(
        "features_by_order",
        "Features without ids",
        len(items),
        examples=(f"row {at + 1} was taken for item {item!r}" for at, item in enumerate(items[:5])),
        done="The rows were taken to be in the order in which the items first appear.",
        fix="Give an NPZ with the item ids in 'item' and the features in 'x', to be sure.",
    )
    return Features(values=rows.values, names=rows.names, findings=(finding,))


def _by_id(rows: _Rows, ids: tuple[str, ...], items: tuple[str, ...], trim: bool) -> Features:
    ids = tuple(name.strip() for name in ids) if trim else ids
    place = places(ids, items)
    matched = np.flatnonzero(place >= 0)
    if not len(matched):
        raise DataError(
            f"None of the rows of features belongs to an item; the first is {ids[0]!r}, "
            f"the first item {items[0]!r}",
            file=rows.file,
            fix="Check that both files use the same item ids.",
        )
    first = np.unique(place[matched], return_index=True)[1]
    if len(first) < len(matched):
        again = np.setdiff1d(np.arange(len(matched)), first)[0]
        raise DataError(
            f"The item {ids[matched[again]]!r} has several rows of features",
            file=rows.file,
            row=int(matched[again]) + rows.first,
            fix="Leave one row for each item.",
        )
    values = np.full((len(items), rows.values.shape[1]), np.nan, np.float32)
    values[place[matched]] = rows.values[matched]
    bare = np.ones(len(items), bool)
    bare[place[matched]] = False
    strangers = np.flatnonzero(place < 0)
    findings = (
        check(
            "features_without_labels",
            "Items in the features that nobody labelled",
            len(strangers),
            examples=(f"item {ids[at]!r}" for at in strangers[:5]),
            done="Their features were left out.",
            fix="Check the spelling of the ids.",
        ),
        check(
            "items_without_features",
            "Items without features",
            int(bare.sum()),
            severity="warning",
            examples=(f"item {items[at]!r}" for at in np.flatnonzero(bare)[:5]),
            fix="Add their features to the file.",
        ),
    )
    return Features(values=values, names=rows.names, findings=findings)


def _from_table(table: Table, items: tuple[str, ...]) -> _Rows:
    column = _id_column(table, items)
    rest = [name for name in table.columns if name != column]
    if not rest:
        raise DataError("There is no column of features", file=table.name)
    parts = [_numbers(table, name) for name in rest]
    names = tuple(
        f"{name}[{place}]" if part.shape[1] > 1 else name
        for name, part in zip(rest, parts, strict=True)
        for place in range(part.shape[1])
    )
    ids = tuple(table.text(column).to_pylist())
    return _Rows(
        file=table.name, values=np.hstack(parts), ids=ids, names=names, first=table.number(0)
    )


def _id_column(table: Table, items: tuple[str, ...]) -> str:
    """The column whose values are items; a usual name decides between equals."""
    there = set(items)
    best, best_score = table.columns[0], (-1, False)
    for column in table.columns:
        usual = name_rank("item", column) is not None or is_weak_item(column)
        hits = sum(text.strip() in there for text in table.top(1_000).text(column).to_pylist())
        # A usual name is worth more than hits: small numbers in features may look like ids.
        score = (hits if not usual or not hits else hits + 10_000, usual)
        if score > best_score:
            best, best_score = column, score
    return best


def _numbers(table: Table, column: str) -> NDArray[np.float32]:
    import pyarrow as pa
    import pyarrow.compute as pc

    raw = table.raw(column)
    if pa.types.is_list(raw.type) or pa.types.is_large_list(raw.type) or _is_fixed(raw.type):
        return _unnest(table, column)
    try:
        texts = raw if not pa.types.is_string(raw.type) else pc.utf8_trim_whitespace(raw)
        numbers = texts.cast(pa.float64()).fill_null(np.nan).to_numpy()
    except (pa.ArrowException, ValueError):
        raise _not_a_number(table, column) from None
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # what is beyond float32 is refused as not finite
        return np.asarray(numbers, np.float32)[:, None]


def _is_fixed(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_list(kind))


def _unnest(table: Table, column: str) -> NDArray[np.float32]:
    import pyarrow as pa
    import pyarrow.compute as pc

    raw = table.raw(column)
    sizes = np.unique(pc.list_value_length(raw).fill_null(-1).to_numpy())
    try:
        flat = pc.list_flatten(raw).cast(pa.float32()).fill_null(np.nan).to_numpy()
    except (pa.ArrowException, ValueError):
        raise _not_a_number(table, column) from None
    if len(sizes) != 1 or sizes[0] <= 0:
        fix = "Give every item a list of the same length."
        raise DataError("The lists differ in length", file=table.name, column=column, fix=fix)
    return np.asarray(flat, np.float32).reshape(table.n_rows, int(sizes[0]))


def _not_a_number(table: Table, column: str) -> DataError:
    """Find the first cell that is no number."""
    for row, text in enumerate(table.text(column).to_pylist()):
        try:
            float(text)
        except ValueError:
            return DataError(
                f"The feature {text[:50]!r} is not a number",
                file=table.name,
                column=column,
                row=table.number(row),
                fix="Leave only an id column and columns of numbers.",
            )
    return DataError("A feature is not a number", file=table.name, column=column)


def _from_numpy(content: Content) -> _Rows:
    try:
        loaded = np.load(io.BytesIO(content.all()), allow_pickle=False)
        arrays = {"x": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    except Exception:  # a damaged file makes numpy, zipfile and tokenize raise a dozen kinds
        raise DataError(
            "The NumPy file cannot be read, or holds Python objects",
            file=content.name,
            fix="Save plain numbers and texts with numpy.save or numpy.savez.",
        ) from None
    values = next((arrays[name] for name in _VALUE_ARRAYS if name in arrays), None)
    ids = next((arrays[name] for name in _ID_ARRAYS if name in arrays), None)
    if values is None:
        raise DataError(
            f"The NPZ has no array 'x' or 'features', only {', '.join(map(repr, arrays))}",
            file=content.name,
            fix="Save the item ids as 'item' and the features as 'x'.",
        )
    _check_matrix(values, ids, content.name)
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = np.asarray(values, np.float32)
    names = None if ids is None else tuple(map(str, ids.tolist()))
    return _Rows(file=content.name, values=matrix, ids=names)


def _check_matrix(values: Any, ids: Any, file: str) -> None:
    if values.ndim != _MATRIX or not values.shape[1] or values.dtype.kind not in "fiub":
        raise DataError(
            f"The features are {values.dtype} of shape {values.shape}",
            file=file,
            fix="Give a matrix of numbers with one row an item.",
        )
    if ids is None:
        return
    if ids.ndim != 1 or len(ids) != len(values) or ids.dtype.kind not in "iuU":
        raise DataError(
            f"The item ids are {ids.dtype} of shape {ids.shape} for {len(values)} rows of features",
            file=file,
            fix="Give one id a row, as text or whole numbers.",
        )
