"""Tables as files: CSV for spreadsheets, and exact CSV, Parquet and JSON lines for machines."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from crowdcore.atomic import atomic

ROWS_PER_GROUP = 65_536
"""Rows of a row group of large tables, so that pages read a few of them."""

Target = str | Path | BinaryIO
"""A path, whose file is either whole or not there, or an open file."""

Format = Literal["csv", "csv-exact", "parquet", "jsonl"]
"""CSV for spreadsheets, CSV with names as they are, Parquet, JSON lines."""

# What a spreadsheet takes for a formula, also behind blanks and in full width.
_FORMULA = r"^(?:[\t\r\n]|[\s\x{00A0}\x{FEFF}]*[=+\-@＝＋－＠])"
# The same behind a semicolon or tab, at which some spreadsheets cut cells although commas divide.
_INNER_FORMULA = r"([;\t])([\s\x{00A0}\x{FEFF}]*[=+\-@＝＋－＠])"
_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"


def write_csv(frame: pd.DataFrame, target: Target, *, spreadsheet_safe: bool = True) -> None:
    """Write CSV.

    Parameters
    ----------
    frame
        The table; its index is left out.
    target
        A path or an open file.
    spreadsheet_safe
        Put a ' before texts, and column names, that a spreadsheet would take for a formula.
    """
    table = _arrow(frame)
    _write(target, lambda sink: _csv(_defused(table) if spreadsheet_safe else table, sink))


def write_parquet(frame: pd.DataFrame, target: Target) -> None:
    """Write Parquet, compressed with zstd."""
    table = _arrow(frame)
    _write(target, lambda sink: pq.write_table(table, sink, compression="zstd"))


def write_jsonl(frame: pd.DataFrame, target: Target) -> None:
    """Write JSON lines, one record per line."""
    _write(target, lambda sink: _jsonl(frame, sink))


def frame_bytes(frame: pd.DataFrame, format: Format) -> bytes:
    """Return a table as the bytes of a file, for a download.

    Parameters
    ----------
    frame
        The table.
    format
        One of "csv", "csv-exact", "parquet" and "jsonl".

    Raises
    ------
    ValueError
        Where there is no such format.
    """
    buffer = io.BytesIO()
    if format == "csv":
        write_csv(frame, buffer)
    elif format == "csv-exact":
        write_csv(frame, buffer, spreadsheet_safe=False)
    elif format == "parquet":
        write_parquet(frame, buffer)
    elif format == "jsonl":
        write_jsonl(frame, buffer)
    else:
        raise ValueError(f"There is no format {format!r}: csv, csv-exact, parquet or jsonl")
    return buffer.getvalue()


def _write(target: Target, write: Callable[[BinaryIO], Any]) -> None:
    """Write to an open file, or to a path that is either whole or not there."""
    if not isinstance(target, str | Path):
        write(target)
        return
    with atomic(target) as temporary, temporary.open("wb") as file:
        write(file)


def _csv(table: Any, sink: BinaryIO) -> None:
    names = table.column_names
    sink.write(csv_header(names))
    options = pyarrow.csv.WriteOptions(include_header=False)
    numbered = table.rename_columns([str(index) for index in range(len(names))])
    pyarrow.csv.write_csv(numbered, sink, options)


def csv_header(names: Sequence[str]) -> bytes:
    """Return the first line of a CSV file; pyarrow does not double the quotes of a header."""
    return ",".join('"' + name.replace('"', '""') + '"' for name in names).encode() + b"\n"


def _jsonl(frame: pd.DataFrame, sink: BinaryIO) -> None:
    text = frame.to_json(orient="records", lines=True, force_ascii=False, double_precision=15)
    sink.write(text.encode())


def _arrow(frame: pd.DataFrame) -> Any:
    """A frame as a pyarrow table of plain columns, without its index."""
    columns: list[Any] = []
    for index in range(frame.shape[1]):  # two columns may have one name
        column = frame.iloc[:, index]
        try:
            array = pa.chunked_array([pa.Array.from_pandas(column)])
        except (pa.ArrowException, TypeError, ValueError):  # a column of mixed objects
            texts = [None if value is None else str(value) for value in column.tolist()]
            array = pa.chunked_array([pa.array(texts, pa.string())])
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        columns.append(array)
    return pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])


def _defused(table: Any) -> Any:
    """The same table with ' before every text, and header, that could be a formula."""
    columns = [
        defuse(column) if _is_text(column.type) else column for column in table.itercolumns()
    ]
    names = defuse(pa.chunked_array([pa.array(table.column_names, pa.string())])).to_pylist()
    return pa.Table.from_arrays(columns, names=names)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def defuse(texts: Any) -> Any:
    """Put ' before every text that a spreadsheet would take for a formula.

    Parameters
    ----------
    texts
        A pyarrow array, plain or chunked.

    Returns
    -------
    pyarrow.Array or pyarrow.ChunkedArray
        The same texts, marked where they need it.
    """
    risky = pc.and_not(
        pc.match_substring_regex(texts, _FORMULA), pc.match_substring_regex(texts, _NUMBER)
    )
    if pc.any(risky).as_py():
        # Scalars of the column's own type: pandas makes large strings, and kernels do not mix them.
        mark, glue = (pa.scalar(text, texts.type) for text in ("'", ""))
        texts = pc.if_else(risky, pc.binary_join_element_wise(mark, texts, glue), texts)
    if pc.any(pc.match_substring_regex(texts, _INNER_FORMULA)).as_py():
        texts = pc.replace_substring_regex(texts, _INNER_FORMULA, r"\1'\2")
    return texts


def defuse_text(text: str) -> str:
    """Put ' before a text that a spreadsheet would take for a formula.

    Parameters
    ----------
    text
        One text.

    Returns
    -------
    str
        The same text, marked where it needs it.
    """
    return str(defuse(pa.array([text]))[0].as_py())


def write_float32_parquet(table: pd.DataFrame, path: Path) -> None:
    """Write a large table as Parquet, with numbers in single precision.

    Parameters
    ----------
    table
        What to write.
    path
        The file; it appears whole or not at all.
    """
    numbers = table.select_dtypes("float64").columns
    narrow = pa.Table.from_pandas(table.astype(dict.fromkeys(numbers, np.float32)))
    with atomic(path) as temporary:
        pq.write_table(narrow, temporary, compression="zstd", row_group_size=ROWS_PER_GROUP)
