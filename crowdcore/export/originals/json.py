"""JSON and JSON lines: keys are put at the end of each record, all other characters stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from crowdcore.export.originals import AddedColumns, misfit
from crowdcore.reading.parsing.encoding import decode, text_encoding
from crowdcore.reading.parsing.original import Original


def write(original: Original, added: AddedColumns, path: Path) -> None:
    """Write the file with further keys in every record.

    Parameters
    ----------
    original
        The file: a list of records, or one record per line.
    added
        What is put behind the keys of each record.
    path
        Where to write.

    Raises
    ------
    DataError
        If the file does not hold as many records as were read from it.
    """
    content = original.content()
    text, encoding = decode(content, text_encoding(content) or "utf-8")
    ends = list(_record_ends(text))
    if len(ends) != len(added):
        raise misfit(original.name, len(ends), len(added))
    keys = [
        ", ".join(
            f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in zip(added.names, record, strict=True)
        )
        for record in added.records
    ]
    parts, at = [], 0
    for end, code in zip(ends, added.code.tolist(), strict=True):
        body = text[at:end].rstrip()
        parts += [body, "" if body.endswith("{") else ", ", keys[code], text[at + len(body) : end]]
        at = end
    parts.append(text[at:])
    path.write_bytes("".join(parts).encode(encoding))


def _record_ends(text: str) -> Iterator[int]:
    """Give the place of the closing brace of every record."""
    decoder = json.JSONDecoder()
    at = _skip(text, 0, "\ufeff")
    is_list = text[at : at + 1] == "["
    at = _skip(text, at + is_list, "")
    while at < len(text) and text[at] == "{":
        _, end = decoder.raw_decode(text, at)
        yield end - 1
        at = _skip(text, end, "," if is_list else "")


def _skip(text: str, at: int, sign: str) -> int:
    """Go on behind blanks, and behind a sign among them."""
    match = re.compile(rf"\s*{re.escape(sign)}?\s*" if sign else r"\s*").match(text, at)
    return at if match is None else match.end()
