"""CoNLL files: a token per line with its columns, a blank line between sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crowdcore.reading.sequences.files import TextFile

_TAG = re.compile(r"O|[BIESLUM][-_].+")
_DOCUMENT = re.compile(r"-DOCSTART-|#\s*(?:begin document|newdoc)\b", re.IGNORECASE)
_NAME = re.compile(r"#\s*(?:sent_id|id|name)\s*[=:]\s*(\S+)", re.IGNORECASE)
NOT_SEEN = frozenset({"?", "-", "_", ""})
"""What stands in the column of a worker who did not annotate the sentence."""


@dataclass(eq=False)
class Block:
    """The lines of one sentence: its cells, and the document that it is in."""

    rows: list[list[str]]
    name: str
    document: int


def header(file: TextFile) -> list[str] | None:
    """Return the names of the columns, where the first line has them."""
    first = next((line for line in file.text.splitlines() if line.strip()), "")
    cells = split(first.lstrip("# ").strip())
    is_header = len(cells) > 1 and cells[0].lower() in ("token", "word", "form", "text")
    return cells if is_header else None


def split(line: str) -> list[str]:
    """Cut a line into cells: at tabs where it has any, else at blanks."""
    return line.rstrip("\n").split("\t") if "\t" in line else line.split()


def blocks(file: TextFile) -> Iterator[Block]:
    """Go through the sentences of a file; comments and document marks are no tokens."""
    rows: list[list[str]] = []
    name, document = "", 0
    skip_first = header(file) is not None
    for line in file.text.splitlines():
        if not line.strip():
            if rows:
                yield Block(rows, name, document)
                rows, name = [], ""
            continue
        if skip_first:
            skip_first = False
            continue
        if _DOCUMENT.match(line):
            document += 1
            continue
        is_token = len(cells := split(line)) > 1 and _TAG.fullmatch(cells[-1]) is not None
        if line.startswith("#") and not is_token:
            match = _NAME.match(line)
            name = match.group(1) if match else name
            continue
        rows.append(cells)
    if rows:
        yield Block(rows, name, document)


def tag_columns(rows: Sequence[list[str]]) -> list[int]:
    """Return the columns, behind the token, whose cells are all tags or marks of absence."""
    width = min((len(row) for row in rows), default=0)
    return [
        column
        for column in range(1, width)
        if all(row[column] in NOT_SEEN or _TAG.fullmatch(row[column]) for row in rows)
        and any(_TAG.fullmatch(row[column]) for row in rows)
    ]


def looks_like_conll(file: TextFile) -> bool:
    """Whether the first lines of a file are tokens with tags."""
    lines = [line for line in file.head.splitlines()[:-1] if line.strip()]
    lines = lines or file.head.splitlines()
    names = header(file)
    rows = [
        split(line)
        for line in lines[1 if names else 0 :]
        if line.strip() and not line.startswith("#") and not _DOCUMENT.match(line)
    ]
    if not rows or len({len(row) for row in rows}) != 1 or any("," in row[0][1:] for row in rows):
        return False
    return bool(tag_columns(rows))
