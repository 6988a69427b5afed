"""Table: a file as columns of text, whatever its format was."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np

from crowdcore.data import Codes, DataError
from crowdcore.io.source import Content, Source, load

MAGIC_PARQUET = b"PAR1"


@dataclass(frozen=True, kw_only=True, eq=False)
class Coded:
    """A column as codes [rows] and the distinct texts behind them, in order of appearance."""

    codes: Codes
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A parsed file: named columns, all readable as text."""

    name: str
    data: Any  # a pyarrow Table with unique column names
    how: str = ""  # a sentence: format, delimiter, encoding
    first_line: int | None = None  # the file line of the first row, where a row is a line
    header: bool = True
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the file."""
        return tuple(self.data.column_names)

    @property
    def n_rows(self) -> int:
        """The number of rows below the header."""
        return int(self.data.num_rows)

    def raw(self, column: str) -> Any:
        """A column as the pyarrow array that the file gave."""
        return self.data.column(column)

    def text(self, column: str) -> Any:
        """A column as a pyarrow array of strings; nothing is null, a null is an empty text."""
        import pyarrow as pa

        raw = self.raw(column)
        if raw.type == pa.string() and not raw.null_count:
            return raw
        return _as_text(raw, self.name, column)

    def coded(self, column: str) -> Coded:
        """A column as codes; made once and kept."""
        if column not in self._cache:
            self._cache[column] = encode(self.text(column))
        coded: Coded = self._cache[column]
        return coded

    def head(self, rows: int = 5) -> list[dict[str, str]]:
        """The first rows, for a preview."""
        part = self.top(rows)
        columns = {name: part.text(name).to_pylist() for name in part.columns}
        return [
            {name: values[row] for name, values in columns.items()} for row in range(part.n_rows)
        ]

    def top(self, rows: int) -> Table:
        """The first rows as a table of their own."""
        return Table(
            name=self.name,
            data=self.data.slice(0, rows),
            how=self.how,
            first_line=self.first_line,
            header=self.header,
        )

    def number(self, row: int) -> int:
        """The 1-based number of a row in the file: its line, where rows are lines."""
        return row + (1 if self.first_line is None else self.first_line)

    def place(self, row: int) -> str:
        """Where a row stands, in words."""
        return f"{'row' if self.first_line is None else 'line'} {self.number(row)}"


def encode(texts: Any) -> Coded:
    """Number the distinct texts of a pyarrow array in order of appearance."""
    encoded = texts.dictionary_encode()
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.combine_chunks()
    indices = encoded.indices  # int32; to_numpy would import pandas
    codes = np.empty(0, np.int32)
    if len(indices):
        codes = np.frombuffer(indices.buffers()[1], np.int32, len(indices), 4 * indices.offset)
    return Coded(codes=codes, names=tuple(encoded.dictionary.to_pylist()))


def open_table(
    source: Source | Table, *, name: str | None = None, header: bool | None = None
) -> Table:
    """Parse CSV, TSV, JSON, JSONL or Parquet; `header` says whether line 1 names the columns."""
    if isinstance(source, Table):
        return source
    content = load(source, name)
    if content.head.startswith(MAGIC_PARQUET):
        table = _read_parquet(content)
    else:
        table = _read_text(content, header)
    if not table.columns:
        fix = "Check that the export is complete."
        raise DataError("There is neither a name nor a cell in the file", file=table.name, fix=fix)
    if not table.n_rows:
        raise DataError(
            "There is no row below the header" if table.header else "There is no row in the file",
            file=table.name,
            fix="Check that the export is complete.",
        )
    return table


def _read_text(content: Content, header: bool | None) -> Table:
    from crowdcore.io.delimited import read_delimited
    from crowdcore.io.encoding import decode, decode_head, sniff_encoding
    from crowdcore.io.json_table import looks_like_json, read_json

    encoding = sniff_encoding(content)
    head = decode_head(content, encoding)
    if not head.strip():
        raise DataError("The file is blank", file=content.name, fix="Choose a file with labels.")
    if looks_like_json(head, PurePath(content.name).suffix.lower()):
        text, encoding = decode(content, encoding)
        return read_json(text, content.name)
    return read_delimited(content, encoding, head, header)


def _read_parquet(content: Content) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        data = pq.read_table(pa.BufferReader(content.buffer))
        data.validate(full=True)  # text that is not UTF-8 would only fail much later
        names = Counter(data.column_names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"The Parquet file is damaged: {str(error).splitlines()[0]}",
            file=content.name,
            fix="Write the file again.",
        ) from None
    if twice := [name for name, times in names.items() if times > 1]:
        raise DataError("Two columns have the same name", file=content.name, column=twice[0])
    return Table(name=content.name, data=data, how="Read as Parquet.")


def _as_text(raw: Any, file: str, column: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_nested(raw.type):
            values = (None if v is None else json.dumps(v, default=str) for v in raw.to_pylist())
            texts = pa.chunked_array([pa.array(list(values), pa.string())])
        else:
            texts = raw.cast(pa.string())
    except (pa.ArrowException, ValueError, TypeError):
        raise DataError(
            f"Values of the type {raw.type} cannot be read as text",
            file=file,
            column=column,
            fix="Save the column as text.",
        ) from None
    return pc.fill_null(texts, "")
