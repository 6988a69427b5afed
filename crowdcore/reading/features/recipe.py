"""FeatureRecipe: how features were made of a file, so that those of new items are made alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.reading.columns.roles import is_weak_item, name_rank
from crowdcore.reading.features.album import open_album
from crowdcore.reading.features.encoders import (
    CategoryColumn,
    FeatureColumn,
    NumberColumn,
    TextColumn,
)
from crowdcore.reading.features.pictures import PictureForm, read_pictures
from crowdcore.reading.features.rows import FeatureRows
from crowdcore.reading.features.texts import TextSpace
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.source import Source, is_folder
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count, join_names


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRecipe:
    """How features were made of a file: kept, so that those of new items are made alike.

    Parameters
    ----------
    key
        The column that names the items.
    columns
        The columns of the table and what becomes of each.
    pictures
        The form that pictures are brought to; None for a table.
    """

    key: str = ""
    columns: tuple[FeatureColumn, ...] = ()
    pictures: PictureForm | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureRecipe) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of everything that the recipe says."""
        facts, arrays = self.pack()
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for name, array in sorted(arrays.items()):
            digest.update(f"\x1d{name}\x1d{array.shape}\x1d".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features; pictures have none."""
        return tuple(name for column in self.columns for name in column.names)

    def describe(self, n_items: int) -> str:
        """Say what so many items have."""
        if self.pictures is not None:
            return self.pictures.describe(n_items)
        texts = [column for column in self.columns if isinstance(column, TextColumn)]
        notes = [f"text {column.name!r}: {column.describe()}" for column in texts]
        return "; ".join([describe_numbers(n_items, len(self.names)), *notes])

    def apply(self, source: Source | Table, *, name: str | None = None) -> FeatureRows:
        """Make the features of the items in a file.

        Parameters
        ----------
        source
            A table, or a folder or zip of pictures.
        name
            The file's name for messages; that of the source unless given.

        Returns
        -------
        FeatureRows
            Its findings say what could not be made.

        Raises
        ------
        DataError
            If the file is of another kind than the one that was learnt from.
        """
        if self.pictures is None:
            if is_folder(source):
                raise DataError(
                    "This is a folder, and the features are made of a table",
                    file=str(source),
                    fix=f"Give a table with {_listed(self.columns)}.",
                )
            return self.encode(open_table(source, name=name))
        if isinstance(source, Table):
            raise DataError("This is a table; pictures are needed", file=source.name)
        album = open_album(source, name)
        rows, _ = read_pictures(album, album.ids(), self.pictures.size, self.pictures.channels)
        return rows

    def encode(self, table: Table) -> FeatureRows:
        """Make the features of every row of a table.

        Parameters
        ----------
        table
            A table with the columns that were learnt from.

        Returns
        -------
        FeatureRows

        Raises
        ------
        DataError
            If a column is missing, or a cell cannot be turned into a number.
        """
        names = [column.name for column in self.columns]
        if missing := [name for name in names if name not in table.columns]:
            raise DataError(
                "A column is missing that the features are made of",
                file=table.name,
                column=missing[0],
                fix=f"The columns are {', '.join(map(repr, table.columns[:20]))}.",
            )
        key = self._key_of(table)
        rows = FeatureRows(
            file=table.name,
            values=np.hstack([column.encode(table) for column in self.columns]),
            ids=None if key is None else tuple(table.text(key).to_pylist()),
            names=self.names,
            first_row=table.row_number(0),
            findings=(self._new_values(table),),
        )
        return rows.checked()

    def _key_of(self, table: Table) -> str | None:
        """Find the column that names the rows: called as before, or as items usually are."""
        used = {column.name for column in self.columns}
        free = [name for name in table.columns if name not in used]
        if self.key in free or not free:
            return self.key if free else None
        usual = [name for name in free if name_rank("item", name) is not None]
        return [*usual, *filter(is_weak_item, free), *free][0]

    def _new_values(self, table: Table) -> Finding:
        categories = [column for column in self.columns if isinstance(column, CategoryColumn)]
        new = {column.name: values for column in categories if (values := column.new_values(table))}
        return make_finding(
            "features_new_values",
            len(new),
            severity="warning",
            examples=(
                f"{name!r}: {', '.join(map(repr, values[:5]))}" for name, values in new.items()
            ),
            done="They count as blank.",
        )

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the recipe as JSON values and arrays."""
        if self.pictures is not None:
            form = {"size": self.pictures.size, "channels": self.pictures.channels}
            return {"pictures": form}, {}
        arrays: dict[str, NDArray[Any]] = {}
        columns: list[dict[str, Any]] = []
        for number, column in enumerate(self.columns):
            facts: dict[str, Any] = {"name": column.name}
            if isinstance(column, NumberColumn):
                facts["width"] = column.width
            elif isinstance(column, CategoryColumn):
                facts["values"] = list(column.values)
            else:
                facts["words"] = list(column.space.vocabulary)
                arrays[f"idf{number}"] = column.space.idf
                arrays[f"directions{number}"] = column.space.directions
            columns.append(facts)
        return {"key": self.key, "columns": columns}, arrays

    @classmethod
    def unpack(cls, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> FeatureRecipe:
        """Make a recipe from what `pack` gave."""
        if "pictures" in facts:
            return cls(pictures=PictureForm(**facts["pictures"]))
        columns: list[FeatureColumn] = []
        for number, column in enumerate(facts["columns"]):
            name = column["name"]
            if "width" in column:
                columns.append(NumberColumn(name=name, width=column["width"]))
            elif "values" in column:
                columns.append(CategoryColumn(name=name, values=tuple(column["values"])))
            else:
                space = TextSpace(
                    vocabulary=tuple(column["words"]),
                    idf=arrays[f"idf{number}"],
                    directions=arrays[f"directions{number}"],
                )
                columns.append(TextColumn(name=name, space=space))
        return cls(key=facts["key"], columns=tuple(columns))


def describe_numbers(n_items: int, n_numbers: int) -> str:
    """Say that so many items have so many numbers each."""
    return f"{count(n_items, 'item')} with {count(n_numbers, 'number')} each"


def _listed(columns: tuple[FeatureColumn, ...]) -> str:
    return join_names([column.name for column in columns], most=20)
