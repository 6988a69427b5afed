"""Features of items: a table, NPY or NPZ, or pictures in a folder or zip, matched by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.reading.columns.roles import is_weak_item, name_rank
from crowdcore.reading.features.album import Album, open_album
from crowdcore.reading.features.arrays import is_numpy, read_arrays
from crowdcore.reading.features.encoders import NumberColumn, learn_columns, read_numbers
from crowdcore.reading.features.pictures import DEFAULT_SIDE_PIXELS, read_pictures
from crowdcore.reading.features.recipe import FeatureRecipe, describe_numbers
from crowdcore.reading.features.rows import FeatureRows
from crowdcore.reading.findings import MAX_EXAMPLES, Finding, make_finding
from crowdcore.reading.labels.coded_labels import match_items
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.source import ZIP_MAGICS, Source, is_folder, load
from crowdcore.reading.parsing.table import Table

_ID_ROWS = 1_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """Features in the order of the items.

    Parameters
    ----------
    values
        The features [N, D], or pictures [N, C, H, W]; NaN where an item has none.
    names
        The names of the features; empty where they have none.
    findings
        What was found while they were read.
    recipe
        How they were made; None where they came as finished numbers.
    file
        The name of the file, for messages.
    file_findings
        What was found while the file was cut into rows.
    """

    values: NDArray[np.float32]
    names: tuple[str, ...]
    findings: tuple[Finding, ...]
    recipe: FeatureRecipe | None = None
    file: str = ""
    file_findings: tuple[Finding, ...] = ()

    @property
    def description(self) -> str:
        """How many items have what, in words."""
        missing = np.isnan(self.values).any(tuple(range(1, self.values.ndim)))
        n_items = int((~missing).sum())
        if self.recipe is not None:
            return self.recipe.describe(n_items)
        return describe_numbers(n_items, int(np.prod(self.values.shape[1:])))


def read_features(
    source: Source | Table,
    items: tuple[str, ...],
    *,
    name: str | None = None,
    trim: bool = True,
    picture_size: int = DEFAULT_SIDE_PIXELS,
) -> Features:
    """Read features and bring them into the order of the items.

    Parameters
    ----------
    source
        A table, an NPY or NPZ, or a folder or zip of pictures.
    items
        The items.
    name
        The file's name for messages; that of the source unless given.
    trim
        Whether blanks around ids are cut off.
    picture_size
        The side in pixels to which pictures are brought.

    Returns
    -------
    Features

    Raises
    ------
    DataError
        If the file cannot be used, or belongs to none of the items.
    """
    if isinstance(source, Table):
        return _from_table(source, items, trim)
    if is_folder(source):
        return _from_album(open_album(source), items, picture_size)
    content = load(source, name)
    if is_numpy(content):
        rows = read_arrays(content)
        return _by_order(rows, items) if rows.ids is None else _by_id(rows, items, trim)
    if content.head.startswith(ZIP_MAGICS):
        return _from_album(open_album(content), items, picture_size)
    return _from_table(open_table(content.all(), name=content.name), items, trim)


def column_features(
    columns: Mapping[str, Sequence[str]], items: tuple[str, ...], *, key: str, file: str
) -> Features:
    """Make features of what the labels' own table says about its items.

    Parameters
    ----------
    columns
        For each column the text of each item [N].
    items
        The items.
    key
        The table's column of items.
    file
        The table's name, for messages.

    Returns
    -------
    Features

    Raises
    ------
    DataError
        If none of the columns can be a feature.
    """
    arrays = {name: pa.array(cells, pa.string()) for name, cells in {key: items, **columns}.items()}
    table = Table(name=f"{file}, one row per item", data=pa.table(arrays))
    return _from_table(table, items, trim=False, key=key)


def read_new_features(
    source: Source, recipe: FeatureRecipe | None, *, name: str | None = None
) -> FeatureRows:
    """Read features of items that nobody labelled.

    Parameters
    ----------
    source
        A table, an NPY or NPZ, or a folder or zip of pictures.
    recipe
        How the features were made that were learnt from. Finished numbers in an NPY or NPZ are
        taken as they are; without a recipe those of a table, too.
    name
        The file's name for messages; that of the source unless given.

    Returns
    -------
    FeatureRows

    Raises
    ------
    DataError
        If the file is of another kind than the one that was learnt from.
    """
    if is_folder(source):
        if recipe is None:
            raise _only_numbers(str(source))
        return recipe.apply(source)
    content = load(source, name)
    if is_numpy(content):
        return read_arrays(content)
    if recipe is not None:
        return recipe.apply(content.all(), name=content.name)
    if content.head.startswith(ZIP_MAGICS):
        raise _only_numbers(content.name)
    table = open_table(content.all(), name=content.name)
    key = _id_column(table, ())
    columns = tuple(
        NumberColumn(name=column, width=read_numbers(table, column).shape[1])
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


def _by_order(rows: FeatureRows, items: tuple[str, ...]) -> Features:
    if len(rows.values) != len(items):
        raise DataError(
            f"There are {len(rows.values)} rows of features without ids for {len(items)} items",
            file=rows.file,
            fix="Give an NPZ with the item ids in 'item' and the features in 'x'.",
        )
    finding = make_finding(
        "features_by_order",
        len(items),
        examples=(
            f"row {at + 1} was taken for item {item!r}"
            for at, item in enumerate(items[:MAX_EXAMPLES])
        ),
        done="The rows were taken to be in the order in which the items first appear.",
    )
    return Features(values=rows.values, names=rows.names, findings=(finding,))


def _by_id(rows: FeatureRows, items: tuple[str, ...], trim: bool) -> Features:
    ids = _trimmed(rows.ids or (), trim)
    index = _match(ids, items, file=rows.file, first_row=rows.first_row)
    return _in_item_order(rows, index, items, findings=(_unlabelled(ids, index),))


def _from_table(
    table: Table, items: tuple[str, ...], trim: bool, key: str | None = None
) -> Features:
    key = _id_column(table, items) if key is None else key
    ids = _trimmed(tuple(table.text(key).to_pylist()), trim)
    index = _match(ids, items, file=table.name, first_row=table.row_number(0))
    names = [name for name in table.columns if name != key]
    columns, findings = learn_columns(table, names, np.flatnonzero(index >= 0))
    recipe = FeatureRecipe(key=key, columns=columns)
    rows = recipe.encode(table)
    findings = (*findings, _unlabelled(ids, index))
    features = _in_item_order(rows, index, items, findings=findings, recipe=recipe)
    return replace(features, file=table.name, file_findings=table.findings)


def _from_album(album: Album, items: tuple[str, ...], size: int) -> Features:
    ids = album.ids(items)
    index = _match(ids, items, file=album.name, noun="pictures")
    wanted = index >= 0
    wanted_ids = tuple(name for name, is_wanted in zip(ids, wanted, strict=True) if is_wanted)
    rows, form = read_pictures(album.only(wanted.tolist()), wanted_ids, size)
    made = make_finding(
        "features_pictures",
        len(rows.values),
        done=f"Of each the middle square was brought to {form.size} × {form.size} pixels, "
        f"{'in colour' if form.channels > 1 else 'in grey, for none has a colour'}.",
    )
    return _in_item_order(
        rows,
        match_items(rows.ids or (), items),
        items,
        findings=(made, *rows.findings, _unlabelled(ids, index)),
        recipe=FeatureRecipe(pictures=form),
    )


def _trimmed(ids: tuple[str, ...], trim: bool) -> tuple[str, ...]:
    return tuple(name.strip() for name in ids) if trim else ids


def _match(
    ids: tuple[str, ...],
    items: tuple[str, ...],
    *,
    file: str,
    first_row: int | None = None,
    noun: str = "rows of features",
) -> NDArray[np.int64]:
    """Find the item of each row [rows], -1 where it has none; no item has two rows."""
    index = match_items(ids, items)
    matched = np.flatnonzero(index >= 0)
    if not len(matched):
        raise DataError(
            f"None of the {noun} belongs to an item; the first is {ids[0]!r}, "
            f"the first item {items[0]!r}",
            file=file,
            fix="Check that both use the same item ids.",
        )
    first_of_item = np.unique(index[matched], return_index=True)[1]
    if len(first_of_item) < len(matched):
        second = int(matched[np.setdiff1d(np.arange(len(matched)), first_of_item)[0]])
        raise DataError(
            f"The item {ids[second]!r} has several {noun}",
            file=file,
            row=None if first_row is None else second + first_row,
            fix="Leave one for each item.",
        )
    return index


def _in_item_order(
    rows: FeatureRows,
    index: NDArray[np.int64],
    items: tuple[str, ...],
    *,
    findings: tuple[Finding, ...],
    recipe: FeatureRecipe | None = None,
) -> Features:
    """Put each row where its item stands."""
    values = np.full((len(items), *rows.values.shape[1:]), np.nan, np.float32)
    values[index[index >= 0]] = rows.values[index >= 0]
    lacking = np.ones(len(items), bool)
    lacking[index[index >= 0]] = False
    finding = make_finding(
        "items_without_features",
        int(lacking.sum()),
        severity="warning",
        examples=(f"item {items[at]!r}" for at in np.flatnonzero(lacking)[:MAX_EXAMPLES]),
    )
    return Features(values=values, names=rows.names, findings=(*findings, finding), recipe=recipe)


def _unlabelled(ids: tuple[str, ...], index: NDArray[np.int64]) -> Finding:
    unlabelled = np.flatnonzero(index < 0)
    return make_finding(
        "features_without_labels",
        len(unlabelled),
        examples=(f"item {ids[at]!r}" for at in unlabelled[:MAX_EXAMPLES]),
        done="Their features were left out.",
    )


def _id_column(table: Table, items: tuple[str, ...]) -> str:
    """Find the column whose values are items; a usual name decides between equals."""
    item_names = set(items)
    sample = table.first_rows(_ID_ROWS)
    best, best_score = table.columns[0], (-1, False)
    for column in table.columns:
        usual = name_rank("item", column) is not None or is_weak_item(column)
        hits = sum(text.strip() in item_names for text in sample.text(column).to_pylist())
        # A usual name is worth more than hits: small numbers in features may look like ids.
        score = (hits if not usual or not hits else hits + 10_000, usual)
        if score > best_score:
            best, best_score = column, score
    return best
