"""Decisions as files: JSON lines, which lose nothing, and CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from crowdcore.decisions import Decision
from crowdcore.errors import DataError


def as_jsonl(decisions: Iterable[Decision]) -> str:
    """Write decisions as JSON lines, which lose nothing.

    Parameters
    ----------
    decisions
        The ledger.

    Returns
    -------
    str
        One line per decision.
    """
    return "".join(decision.as_json() + "\n" for decision in decisions)


def as_csv(decisions: Iterable[Decision]) -> str:
    """Write decisions as CSV for a spreadsheet; the evidence stands in a cell as JSON.

    Parameters
    ----------
    decisions
        The ledger.

    Returns
    -------
    str
        A header and one row per decision.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [entry.name for entry in fields(Decision)])
    writer.writeheader()
    for decision in decisions:
        row = asdict(decision)
        row["evidence"] = json.dumps(row["evidence"], ensure_ascii=False)
        writer.writerow({name: "" if value is None else value for name, value in row.items()})
    return text.getvalue()


MAX_FILE_BYTES = 50_000_000
"""A larger file is no list of decisions."""

_FIX = "Give a file that `crowdcore decide export` or the Decisions page wrote."


def read_decisions(source: str | bytes) -> list[Decision]:
    """Read decisions that were written as JSON lines or CSV.

    Parameters
    ----------
    source
        What `as_jsonl` or `as_csv` wrote, as text or as the bytes of a file.

    Returns
    -------
    list of Decision
        In the order of the file.

    Raises
    ------
    DataError
        If a line is no decision, with its number; or if the file is too large, or no text.
    """
    if len(source) > MAX_FILE_BYTES:
        raise DataError("The file is too large to be a list of decisions", fix=_FIX)
    try:
        text = source if isinstance(source, str) else source.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError("The file is not UTF-8 text", fix=_FIX) from None
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        rows = [line for line in text.split("\n") if line.strip()]
    else:
        limit = csv.field_size_limit(MAX_FILE_BYTES)  # a cell may name thousands of items
        try:
            rows = [_from_csv(row) for row in csv.DictReader(io.StringIO(text, newline=""))]
        except csv.Error as error:
            raise DataError(f"The file cannot be cut into columns: {error}", fix=_FIX) from None
        finally:
            csv.field_size_limit(limit)
    decisions = []
    for number, row in enumerate(rows, start=1):
        try:
            decisions.append(Decision.from_json(row))
        except DataError as error:
            raise DataError(error.problem, row=number, fix=error.fix) from None
    if not decisions:
        raise DataError("There is no decision in this file", fix=_FIX)
    return decisions


def _from_csv(row: Mapping[str, str]) -> str:
    """A row of CSV as the line of JSON that it came from."""
    values: dict[str, Any] = {name: value for name, value in row.items() if name is not None}
    for name in ("dataset", "run"):
        values[name] = values.get(name) or None
    try:
        values["evidence"] = json.loads(values.get("evidence") or "{}")
    except ValueError:
        values["evidence"] = {}
    return json.dumps(values)
