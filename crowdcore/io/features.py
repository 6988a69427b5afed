"""Features of items: a table, NPY or NPZ, or pictures in a folder or zip, matched by item."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import FLAT, PICTURES, DataError
from crowdcore.io.columns import Numbers, learn_columns, numbers_of
from crowdcore.io.gold import places
from crowdcore.io.health import Finding, check
from crowdcore.io.pictures import SIZE, Album, open_album, read_pictures
from crowdcore.io.recipe import FeatureRecipe, numbers_in_words
from crowdcore.io.roles import is_weak_item, name_rank
from crowdcore.io.rows import Rows
from crowdcore.io.source import ZIPS, Content, Source, is_folder, load
from crowdcore.io.table import Table, open_table

_ID_ARRAYS = ("task", "item", "id", "tasks", "items", "ids")
_VALUE_ARRAYS = ("x", "X", "features", "embeddings", "embedding")
_NPY = b"\x93NUMPY"


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """Features [N, D] or [N, C, H, W] in the order of the items; NaN where an item has none."""

    values: NDArray[np.float32]
    names: tuple[str, ...]
    findings: tuple[Finding, ...]
    recipe: FeatureRecipe | None = None

    @property
    def words(self) -> str:
        """How many items have what, in words."""
        there = int((~np.isnan(self.values).any(tuple(range(1, self.values.ndim)))).sum())
        if self.recipe is not None:
            return self.recipe.words(there)
        return numbers_in_words(there, int(np.prod(self.values.shape[1:])))


def read_features(
    source: Source | Table,
    items: tuple[str, ...],
    *,
    name: str | None = None,
    trim: bool = True,
    picture_size: int = SIZE,
) -> Features:
    """Read features and bring them into the order of the items."""
    if isinstance(source, Table):
        return _from_table(source, items, trim)
    if is_folder(source):
        return _from_album(open_album(source), items, picture_size)
    content = load(source, name)
    if _is_numpy(content):
        rows = _from_numpy(content)
        return _by_order(rows, items) if rows.ids is None else _by_id(rows, items, trim)
    if content.head.startswith(ZIPS):
        return _from_album(open_album(content), items, picture_size)
    return _from_table(open_table(content.all(), name=content.name), items, trim)


def column_features(
    columns: Mapping[str, Sequence[str]], items: tuple[str, ...], *, key: str, file: str
) -> Features:
    """Make features of what a table says about its items; `key` is its column of items."""
    import pyarrow as pa

    arrays = {name: pa.array(cells, pa.string()) for name, cells in {key: items, **columns}.items()}
    table = Table(name=f"{file}, one row an item", data=pa.table(arrays))
    return _from_table(table, items, trim=False, key=key)


def read_new_features(
    source: Source, recipe: FeatureRecipe | None, *, name: str | None = None
) -> Rows:
    """Read features of items that nobody labelled, made as `recipe` says.

    Finished numbers in an NPY or NPZ are taken as they are; without a recipe those of a table, too.
    """
    if is_folder(source):
        if recipe is None:
            raise _only_numbers(str(source))
        return recipe.apply(source)
    content = load(source, name)
    if _is_numpy(content):
        return _from_numpy(content)
    if recipe is not None:
        return recipe.apply(content.all(), name=content.name)
    if content.head.startswith(ZIPS):
        raise _only_numbers(content.name)
    table = open_table(content.all(), name=content.name)
    key = _id_column(table, ())
    columns = tuple(
        Numbers(name=column, width=numbers_of(table, column).shape[1])
        for column in table.columns
        if column != key
    )
    return FeatureRecipe(key=key, columns=columns).encode(table)


def _only_numbers(file: str) -> DataError:
    return DataError(
        "The features that were learnt from came as finished numbers, and these are files",
        file=file,
        fix="Give an NPY, an NPZ or a table of numbers that were made in the same way.",
    )


def _by_order(rows: Rows, items: tuple[str, ...]) -> Features:
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


def _by_id(rows: Rows, items: tuple[str, ...], trim: bool) -> Features:
    ids = _trimmed(rows.ids or (), trim)
    place = _match(ids, items, file=rows.file, first=rows.first)
    return _matched(rows, place, items, findings=(_strangers(ids, place),))


def _from_table(
    table: Table, items: tuple[str, ...], trim: bool, key: str | None = None
) -> Features:
    key = _id_column(table, items) if key is None else key
    ids = _trimmed(tuple(table.text(key).to_pylist()), trim)
    place = _match(ids, items, file=table.name, first=table.number(0))
    names = [name for name in table.columns if name != key]
    columns, told = learn_columns(table, names, np.flatnonzero(place >= 0))
    recipe = FeatureRecipe(key=key, columns=columns)
    rows = recipe.encode(table)
    return _matched(rows, place, items, findings=(*told, _strangers(ids, place)), recipe=recipe)


def _from_album(album: Album, items: tuple[str, ...], size: int) -> Features:
    ids = album.ids(items)
    place = _match(ids, items, file=album.name, rows="pictures")
    wanted = place >= 0
    kept = tuple(name for name, there in zip(ids, wanted, strict=True) if there)
    rows, form = read_pictures(album.only(wanted.tolist()), kept, size)
    made = check(
        "features_pictures",
        "Pictures that became features",
        len(rows.values),
        done=f"Of each the middle square was brought to {form.size} × {form.size} pixels, "
        f"{'in colour' if form.channels > 1 else 'in grey, for none has a colour'}.",
    )
    return _matched(
        rows,
        places(rows.ids or (), items),
        items,
        findings=(made, *rows.findings, _strangers(ids, place)),
        recipe=FeatureRecipe(pictures=form),
    )


def _trimmed(ids: tuple[str, ...], trim: bool) -> tuple[str, ...]:
    return tuple(name.strip() for name in ids) if trim else ids


def _match(
    ids: tuple[str, ...],
    items: tuple[str, ...],
    *,
    file: str,
    first: int | None = None,
    rows: str = "rows of features",
) -> NDArray[np.int64]:
    """Where each row belongs among the items, -1 where it does not; no item has two rows."""
    place = places(ids, items)
    matched = np.flatnonzero(place >= 0)
    if not len(matched):
        raise DataError(
            f"None of the {rows} belongs to an item; the first is {ids[0]!r}, "
            f"the first item {items[0]!r}",
            file=file,
            fix="Check that both use the same item ids.",
        )
    kept = np.unique(place[matched], return_index=True)[1]
    if len(kept) < len(matched):
        again = int(matched[np.setdiff1d(np.arange(len(matched)), kept)[0]])
        raise DataError(
            f"The item {ids[again]!r} has several {rows}",
            file=file,
            row=None if first is None else again + first,
            fix="Leave one for each item.",
        )
    return place


def _matched(
    rows: Rows,
    place: NDArray[np.int64],
    items: tuple[str, ...],
    *,
    findings: tuple[Finding, ...],
    recipe: FeatureRecipe | None = None,
) -> Features:
    """Put rows into the places of their items."""
    values = np.full((len(items), *rows.values.shape[1:]), np.nan, np.float32)
    values[place[place >= 0]] = rows.values[place >= 0]
    bare = np.ones(len(items), bool)
    bare[place[place >= 0]] = False
    without = check(
        "items_without_features",
        "Items without features",
        int(bare.sum()),
        severity="warning",
        examples=(f"item {items[at]!r}" for at in np.flatnonzero(bare)[:5]),
        fix="Add their features to the file.",
    )
    return Features(values=values, names=rows.names, findings=(*findings, without), recipe=recipe)


def _strangers(ids: tuple[str, ...], place: NDArray[np.int64]) -> Finding:
    strangers = np.flatnonzero(place < 0)
    return check(
        "features_without_labels",
        "Items in the features that nobody labelled",
        len(strangers),
        examples=(f"item {ids[at]!r}" for at in strangers[:5]),
        done="Their features were left out.",
        fix="Check the spelling of the ids.",
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


def _is_numpy(content: Content) -> bool:
    """Whether this is an NPY, or a zip of them; a damaged zip is what its name says."""
    import pyarrow as pa

    if not content.head.startswith(ZIPS):
        return content.head.startswith(_NPY)
    try:
        with ZipFile(pa.BufferReader(content.buffer)) as archive:
            names = archive.namelist()
    except (BadZipFile, OSError, ValueError):
        return not content.name.lower().endswith(".zip")
    return bool(names) and all(name.endswith(".npy") for name in names)


def _from_numpy(content: Content) -> Rows:
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
    _check_arrays(values, ids, content.name)
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = np.asarray(values, np.float32)
    names = None if ids is None else tuple(map(str, ids.tolist()))
    return Rows(file=content.name, values=numbers, ids=names).checked()


def _check_arrays(values: Any, ids: Any, file: str) -> None:
    if (
        values.ndim not in (FLAT, PICTURES)
        or 0 in values.shape[1:]
        or values.dtype.kind not in "fiub"
    ):
        raise DataError(
            f"The features are {values.dtype} of shape {values.shape}",
            file=file,
            fix="Give a matrix of numbers with one row an item, or pictures as [items, channels, "
            "height, width].",
        )
    if ids is None:
        return
    if ids.ndim != 1 or len(ids) != len(values) or ids.dtype.kind not in "iuU":
        raise DataError(
            f"The item ids are {ids.dtype} of shape {ids.shape} for {len(values)} rows of features",
            file=file,
            fix="Give one id a row, as text or whole numbers.",
        )
