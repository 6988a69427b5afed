"""Texts without annotations, for a tagger to mark: plain lines, JSON, tables, CoNLL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crowdcore.data import DataError
from crowdcore.reading.parsing.source import Source
from crowdcore.reading.sequences.annotated import AnnotatedText
from crowdcore.reading.sequences.columns import blocks, looks_like_conll
from crowdcore.reading.sequences.files import TextFile, load_files
from crowdcore.reading.sequences.records import first_record, records
from crowdcore.reading.sequences.tables import find_column, table_columns, table_rows
from crowdcore.reading.sequences.tokens import cut

CONLL_SUFFIXES = frozenset({".conll", ".iob", ".bio"})
"""Endings of files with a token per line, also where they have no column of tags."""


@dataclass(frozen=True, eq=False)
class PlainTexts:
    """Texts that nobody has to have annotated.

    Attributes
    ----------
    texts : list of AnnotatedText
        Their names, tokens and, where there are any, the characters at which tokens begin.
    form : str
        What the file was read as.
    n_empty : int
        Texts without a token, which were left out.
    """

    texts: list[AnnotatedText]
    form: str
    n_empty: int


def read_plain_texts(source: Source, *, name: str | None = None) -> PlainTexts:
    """Read texts that are to be tagged; tags and annotations in them are not looked at.

    Parameters
    ----------
    source
        A path, bytes, or an open binary file.
    name
        The file's name; that of the source unless given.

    Returns
    -------
    PlainTexts

    Raises
    ------
    DataError
        If there is no text in it.

    Examples
    --------
    >>> read_plain_texts(b"She lives in Rome.").texts[0].tokens
    ['She', 'lives', 'in', 'Rome', '.']
    """
    files = load_files(source, name)
    if len(files) > 1:
        raise DataError(
            "There are several files in it", file=files[0].name, fix="Give one file of texts."
        )
    file = files[0]
    if first_record(file):
        form, texts = "JSON", list(_from_json(file))
    elif Path(file.name).suffix.lower() in CONLL_SUFFIXES or looks_like_conll(file):
        form, texts = "CoNLL, its first column", list(_from_conll(file))
    elif (column := find_column(table_columns(file), "text", "sentence", "document")) is not None:
        form, texts = f"a table with the column {column!r}", list(_from_table(file, column))
    else:
        form = "plain text, a text per line"
        lines = enumerate(file.text.splitlines(), 1)
        texts = [_from_text(f"line {number}", line) for number, line in lines if line.strip()]
    kept = [text for text in texts if text.tokens]
    if not kept:
        raise DataError("There is no text in it", file=file.name, fix="Check the file.")
    return PlainTexts(kept, form, len(texts) - len(kept))


def _from_text(name: str, text: str) -> AnnotatedText:
    bounds = cut(text)
    return AnnotatedText(
        name=name,
        tokens=[text[start:end] for start, end in bounds],
        starts=[start for start, _ in bounds],
    )


def _from_json(file: TextFile) -> Iterator[AnnotatedText]:
    for number, record in enumerate(records(file), 1):
        name = str(record.get("id", f"text {number}"))
        nested = record.get("data")
        text = record.get("text", nested.get("text") if isinstance(nested, dict) else None)
        if isinstance(record.get("tokens"), list) and all(
            isinstance(token, str) for token in record["tokens"]
        ):
            yield AnnotatedText(name=name, tokens=list(record["tokens"]))
        elif isinstance(text, str):
            yield _from_text(name, text)
        else:
            raise DataError(
                "An entry has neither tokens nor a text",
                file=file.name,
                row=number,
                fix="Give each entry a list `tokens` or a string `text`.",
            )


def _from_conll(file: TextFile) -> Iterator[AnnotatedText]:
    for number, block in enumerate(blocks(file), 1):
        tokens = [row[0] for row in block.rows]
        yield AnnotatedText(name=block.name or f"sentence {number}", tokens=tokens)


def _from_table(file: TextFile, column: str) -> Iterator[AnnotatedText]:
    names = find_column(table_columns(file), "id", "item", "name")
    for number, row in enumerate(table_rows(file), 1):
        yield _from_text(row[names] if names else f"row {number}", row[column])
