"""Table: a file as columns of text, whatever its format was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crowdcore.data import Codes, DataError
from crowdcore.reading.findings import Finding
from crowdcore.reading.parsing.original import TextLayout
from crowdcore.reading.parsing.source import Content


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedColumn:
    """A column as codes [rows] and the distinct texts behind them, in order of appearance."""

    codes: Codes
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A parsed file: named columns, all readable as text.

    Parameters
    ----------
    name
        The file's name, for messages.
    data
        A pyarrow table whose column names are unique.
    description
        A sentence on how the file was read: format, delimiter, encoding.
    first_line
        The line of the first row in the file; None where rows are not lines.
    header
        Whether the file itself names the columns.
    content
        The bytes of the file, with its rows repaired where they had to be; None for a table that
        comes from no file.
    layout
        How the file is cut into rows and cells, where it is a delimited text.
    findings
        What was found while the file was cut into rows.
    split
        The table with cells cut into rows whose lines all look like rows; None where there is no
        such cell.
    source_row
        For a table that was derived from the one in the file: the row of the file [rows] that
        each row comes from, counted from 0; None where the rows are those of the file.
    n_source_rows
        How many rows the file has, where the table was derived from it.
    source_columns
        The columns of the file, where the table was derived from it.
    is_chosen
        Whether these are the rows of one question only.
    """

    name: str
    data: pa.Table
    description: str = ""
    first_line: int | None = None
    header: bool = True
    content: Content | None = field(default=None, repr=False)
    layout: TextLayout | None = None
    findings: tuple[Finding, ...] = ()
    split: Table | None = None
    source_row: NDArray[np.int64] | None = None
    n_source_rows: int = 0
    source_columns: tuple[str, ...] = ()
    is_chosen: bool = False
    _coded: dict[str, CodedColumn] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the file."""
        return tuple(self.data.column_names)

    @property
    def n_rows(self) -> int:
        """The number of rows below the header."""
        return int(self.data.num_rows)

    def raw(self, column: str) -> pa.ChunkedArray:
        """Return a column with the type that the file gave it."""
        return self.data.column(column)

    def text(self, column: str) -> pa.ChunkedArray:
        """Return a column as strings; a null is an empty text.

        Parameters
        ----------
        column
            The name of the column.

        Returns
        -------
        pyarrow.ChunkedArray
            Strings without nulls.

        Raises
        ------
        DataError
            If the column's type cannot be written as text.
        """
        raw = self.raw(column)
        if raw.type == pa.string() and not raw.null_count:
            return raw
        return _as_text(raw, self.name, column)

    def coded(self, column: str) -> CodedColumn:
        """Return a column as codes; made once and kept."""
        if column not in self._coded:
            self._coded[column] = encode_column(self.text(column))
        return self._coded[column]

    def preview(self, n_rows: int = 5) -> list[dict[str, str]]:
        """Return the first rows as records of text."""
        first = self.first_rows(n_rows)
        columns = {name: first.text(name).to_pylist() for name in first.columns}
        return [
            {name: texts[row] for name, texts in columns.items()} for row in range(first.n_rows)
        ]

    def first_rows(self, n_rows: int) -> Table:
        """Return the first rows as a table of their own."""
        source_row = None if self.source_row is None else self.source_row[:n_rows]
        return replace(self, data=self.data.slice(0, n_rows), source_row=source_row, _coded={})

    def row_number(self, row: int) -> int:
        """Return the 1-based number of a row in the file: its line, where rows are lines."""
        in_file = row if self.source_row is None else int(self.source_row[row])
        return in_file + (1 if self.first_line is None else self.first_line)

    def locate(self, row: int) -> str:
        """Say where a row stands: "line 12", or "row 11" where rows are not lines."""
        return f"{'row' if self.first_line is None else 'line'} {self.row_number(row)}"


def encode_column(texts: Any) -> CodedColumn:
    """Number the distinct texts of a column.

    Parameters
    ----------
    texts
        A pyarrow array, chunked or not, of strings without nulls.

    Returns
    -------
    CodedColumn
        With names in order of appearance.
    """
    encoded = texts.dictionary_encode()
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.combine_chunks()
    indices = encoded.indices  # int32; to_numpy would import pandas
    codes = np.empty(0, np.int32)
    if len(indices):
        codes = np.frombuffer(indices.buffers()[1], np.int32, len(indices), 4 * indices.offset)
    return CodedColumn(codes=codes, names=tuple(encoded.dictionary.to_pylist()))


def _as_text(raw: pa.ChunkedArray, file: str, column: str) -> pa.ChunkedArray:
    try:
        if pa.types.is_nested(raw.type):
            values = (None if v is None else json.dumps(v, default=str) for v in raw.to_pylist())
            texts = pa.chunked_array([pa.array(list(values), pa.string())])
        else:
            texts = raw.cast(pa.string())
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, TypeError):
        raise DataError(
            f"Values of the type {raw.type} cannot be read as text",
            file=file,
            column=column,
            fix="Save the column as text.",
        ) from None
    return pc.fill_null(texts, "")
