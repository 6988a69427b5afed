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
from crowdcore.io.columns import Categories, Column, Numbers, Texts
from crowdcore.io.health import Finding, check, counted
from crowdcore.io.pictures import PictureForm, open_album, read_pictures
from crowdcore.io.roles import is_weak_item, name_rank
from crowdcore.io.rows import Rows
from crowdcore.io.source import Source, is_folder
from crowdcore.io.table import Table, open_table
from crowdcore.io.texts import TextSpace


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRecipe:
    """The columns of a table and what becomes of each, or the form of pictures."""

    key: str = ""  # the column that names the items
    columns: tuple[Column, ...] = ()
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

    def words(self, number: int) -> str:
        """What so many items have, in words."""
        if self.pictures is not None:
            return self.pictures.words(number)
        texts = [column for column in self.columns if isinstance(column, Texts)]
        said = [f"text {column.name!r}: {column.words()}" for column in texts]
        return "; ".join([numbers_in_words(number, len(self.names)), *said])

    def apply(self, source: Source | Table, *, name: str | None = None) -> Rows:
        """Make the features of the items in a file; rows that cannot be made are told."""
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

    def encode(self, table: Table) -> Rows:
        """Make the features of every row of a table."""
        if missing := [one.name for one in self.columns if one.name not in table.columns]:
            raise DataError(
                "A column is missing that the features are made of",
                file=table.name,
                column=missing[0],
                fix=f"The columns are {', '.join(map(repr, table.columns[:20]))}.",
            )
        key = self._key_of(table)
        rows = Rows(
            file=table.name,
            values=np.hstack([column.encode(table) for column in self.columns]),
            ids=None if key is None else tuple(table.text(key).to_pylist()),
            names=self.names,
            first=table.number(0),
            findings=(self._strange(table),),
        )
        return rows.checked()

    def _key_of(self, table: Table) -> str | None:
        """The column that names the rows: called as before, or else as items usually are."""
        free = [name for name in table.columns if name not in {one.name for one in self.columns}]
        if self.key in free or not free:
            return self.key if free else None
        usual = [name for name in free if name_rank("item", name) is not None]
        return [*usual, *filter(is_weak_item, free), *free][0]

    def _strange(self, table: Table) -> Finding:
        few = [column for column in self.columns if isinstance(column, Categories)]
        strange = {column.name: found for column in few if (found := column.strange(table))}
        return check(
            "features_new_values",
            "Columns with values that were not there to learn from",
            len(strange),
            severity="warning",
            examples=(
                f"{name!r}: {', '.join(map(repr, found[:5]))}" for name, found in strange.items()
            ),
            done="They count as blank.",
        )

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Turn the recipe into JSON values and arrays."""
        if self.pictures is not None:
            form = {"size": self.pictures.size, "channels": self.pictures.channels}
            return {"pictures": form}, {}
        arrays: dict[str, NDArray[Any]] = {}
        columns: list[dict[str, Any]] = []
        for place, column in enumerate(self.columns):
            facts: dict[str, Any] = {"name": column.name}
            if isinstance(column, Numbers):
                facts["width"] = column.width
            elif isinstance(column, Categories):
                facts["values"] = list(column.values)
            else:
                facts["words"] = list(column.space.words)
                arrays[f"idf{place}"] = column.space.idf
                arrays[f"directions{place}"] = column.space.directions
            columns.append(facts)
        return {"key": self.key, "columns": columns}, arrays

    @classmethod
    def unpack(cls, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> FeatureRecipe:
        """Make a recipe from what `pack` gave."""
        if "pictures" in facts:
            return cls(pictures=PictureForm(**facts["pictures"]))
        columns: list[Column] = []
        for place, one in enumerate(facts["columns"]):
            if "width" in one:
                columns.append(Numbers(name=one["name"], width=one["width"]))
            elif "values" in one:
                columns.append(Categories(name=one["name"], values=tuple(one["values"])))
            else:
                space = TextSpace(
                    words=tuple(one["words"]),
                    idf=arrays[f"idf{place}"],
                    directions=arrays[f"directions{place}"],
                )
                columns.append(Texts(name=one["name"], space=space))
        return cls(key=facts["key"], columns=tuple(columns))


def numbers_in_words(items: int, numbers: int) -> str:
    """So many items with so many numbers, in words."""
    return f"{counted(items, 'item')} with {counted(numbers, 'number')} each"


def _listed(columns: tuple[Column, ...]) -> str:
    most = 20
    return ", ".join(repr(column.name) for column in columns[:most])
