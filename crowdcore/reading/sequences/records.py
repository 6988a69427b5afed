"""Records of JSON: one per line, or a list of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.tokens import Passage


def records(file: TextFile) -> Iterator[dict[str, Any]]:
    """Go through the objects of a JSON or JSON lines file.

    Parameters
    ----------
    file
        The file.

    Yields
    ------
    dict
        One object each.

    Raises
    ------
    DataError
        If a line is no JSON, or holds no object.
    """
    text = file.text.strip()
    if text.startswith("["):
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"The file is no JSON: {error}", file=file.name) from None
        yield from (_object(entry, file, number) for number, entry in enumerate(entries, 1))
        return
    for number, line in enumerate(file.text.splitlines(), 1):
        if line.strip():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError) as error:
                fix = "Check that the export is complete."
                raise DataError(
                    f"A line is no JSON: {error}", file=file.name, row=number, fix=fix
                ) from None
            yield _object(entry, file, number)


def _object(entry: object, file: TextFile, number: int) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise DataError("An entry is no JSON object", file=file.name, row=number)
    return entry


def first_record(file: TextFile) -> dict[str, Any]:
    """Return the first object of a file that may be JSON; empty where there is none."""
    head = file.head.lstrip()
    if not head.startswith(("{", "[")):
        return {}
    try:
        if head.startswith("{"):
            line = next(line for line in file.text.splitlines() if line.strip())
            entry = json.loads(line)
        else:
            decoder = json.JSONDecoder()
            entry, _ = decoder.raw_decode(file.text[file.text.index("[") + 1 :].lstrip())
    except (ValueError, StopIteration, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def passage(start: object, end: object, name: object, file: str) -> Passage:
    """Make a passage of values from a file, or say what is wrong with them."""
    try:
        return Passage(int(str(start)), int(str(end)), str(name))
    except ValueError:
        raise DataError(
            f"A span from {start!r} to {end!r} has no whole numbers as positions", file=file
        ) from None
