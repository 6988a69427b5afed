"""Columns of written tables as data: name, heading, explanation, unit, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN

Source = TypeVar("Source")

Unit = Literal[
    "name", "class", "number", "text", "share", "score", "labels", "yes or no", "seconds"
]
"""What a column holds: names and texts, numbers on the scale of ratings, shares between 0 and 1,
scores of any range, counts of labels, answers, or seconds since 1970."""

PROBABILITY, SCORE, GIVEN, DETAIL = "p:", "score:", "given:", "detail:"
"""Prefixes of columns of which there is one per class, per score of a method, or per detail."""


@dataclass(frozen=True, kw_only=True)
class TableColumn(Generic[Source]):
    """One column of a table, or a family of columns.

    Attributes
    ----------
    name
        The name in files. It ends with a colon where it is the prefix of a family, one column
        per class or score.
    title, help
        The heading on pages, and a sentence that says what the column holds.
    unit
        What its values are.
    values
        Makes the values, one per row; of a family, by what follows the prefix. None leaves the
        column out.
    """

    name: str
    title: str
    help: str
    unit: Unit
    values: Callable[[Source], Any]

    @property
    def is_family(self) -> bool:
        """Whether this is one column per class or score."""
        return self.name.endswith(":")

    def covers(self, name: str) -> bool:
        """Tell whether a file's column is this one, or one of this family."""
        return name.startswith(self.name) if self.is_family else name == self.name


def build_table(columns: Iterable[TableColumn[Source]], source: Source) -> pd.DataFrame:
    """Make a table from the definitions of its columns.

    Parameters
    ----------
    columns
        The columns, in their order.
    source
        What their values are made of.

    Returns
    -------
    pandas.DataFrame
        The table, with a numbered index.
    """
    table: dict[str, Any] = {}
    for column in columns:
        values = column.values(source)
        if values is None:
            continue
        if column.is_family:
            table |= {column.name + key: of_key for key, of_key in values.items()}
        else:
            table[column.name] = values
    return pd.DataFrame(table)


def score_columns(
    names: Collection[str], columns: Collection[TableColumn[Any]]
) -> Mapping[str, str]:
    """Find the columns of a written table that hold a method's own scores.

    Files of earlier versions have scores without a prefix: every column that is not one of the
    table's own.

    Parameters
    ----------
    names
        The names of the file's columns.
    columns
        The definitions of the table's columns.

    Returns
    -------
    dict
        The name of the column -> the name of the score.
    """
    prefixed = {name: name.removeprefix(SCORE) for name in names if name.startswith(SCORE)}
    if prefixed:
        return prefixed
    return {name: name for name in names if not any(column.covers(name) for column in columns)}


def as_categories(codes: NDArray[Any], names: Sequence[str]) -> pd.Categorical[str]:
    """Turn codes into a column of names as categories, which takes little memory.

    Parameters
    ----------
    codes
        Places among the names, or UNKNOWN.
    names
        The names, all different.

    Returns
    -------
    pandas.Categorical
        The names; "" for UNKNOWN.
    """
    unknown = codes == UNKNOWN
    if unknown.any():
        names = names if "" in names else (*names, "")
        codes = np.where(unknown, names.index(""), codes)
    index = pd.Index(list(names), dtype="str")
    return pd.Categorical.from_codes(codes.astype(np.int32), index)
