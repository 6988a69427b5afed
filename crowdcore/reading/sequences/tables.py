"""Tables among the formats of annotated texts: rows as records of text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from crowdcore.reading.sequences.files import TextFile

csv.field_size_limit(1 << 30)


def _dialect(file: TextFile) -> str:
    first = file.head.split("\n", 1)[0]
    return max(",\t;", key=first.count)


def table_columns(file: TextFile) -> list[str]:
    """Return the names in the first line of a CSV or TSV."""
    if file.head.lstrip().startswith(("{", "[", "#")):
        return []
    return next(csv.reader(io.StringIO(file.head), delimiter=_dialect(file)), [])


def table_rows(file: TextFile) -> Iterator[dict[str, str]]:
    """Go through the rows of a CSV or TSV, as records."""
    reader = csv.DictReader(io.StringIO(file.text), delimiter=_dialect(file))
    for row in reader:
        yield {name: value or "" for name, value in row.items() if isinstance(name, str)}


def find_column(columns: Sequence[str], *names: str) -> str | None:
    """Return the first column that is called so, whatever its case and its separators."""
    plain = {"".join(c for c in column.lower() if c.isalnum()): column for column in columns}
    return next((plain[name] for name in names if name in plain), None)


def json_cell(cell: str) -> Any:
    """Return what a cell of JSON holds; None where it is none."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None
