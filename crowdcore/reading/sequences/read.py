"""read_texts: a file, folder or zip of annotated texts in, checked data and a report out."""

from __future__ import annotations

from pathlib import Path

from crowdcore.data import CrowdData, DataError
from crowdcore.reading.candidates.propose import propose_readings
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.parsing.source import Source
from crowdcore.reading.sequences.annotated import Tally
from crowdcore.reading.sequences.build import build
from crowdcore.reading.sequences.files import load_files
from crowdcore.reading.sequences.formats import find_text_format, text_formats

MAX_TEXT_BYTES = 500_000_000
"""A single file above this is no corpus of annotated texts, but a table of labels."""


def text_format_of(source: Source, name: str | None = None) -> str:
    """Return the title of the format of annotated texts that a file, folder or zip is in.

    Parameters
    ----------
    source
        A path, bytes, or an open binary file.
    name
        The file's name; that of the source unless given.

    Returns
    -------
    str
        Empty where it is no such format, or cannot be read: whoever reads it then says why.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    if path is not None and path.is_file() and path.stat().st_size > MAX_TEXT_BYTES:
        return ""  # a table of that size would be decoded for nothing
    try:
        text_format = find_text_format(load_files(source, name))
    except (DataError, OSError):
        return ""
    if text_format is None or _holds_labels(source, name):
        return ""
    return text_format.title


def _holds_labels(source: Source, name: str | None) -> bool:
    """Whether a file is beyond doubt a table of labels, although it also mentions spans."""
    try:
        readings = propose_readings(source, name=name)
    except (DataError, OSError):
        return False
    best, refusal = readings.best, readings.refusal
    if {"start", "end"} <= {column.lower() for column in readings.table.columns}:
        return False  # a row is a span there, not a label
    if best is None or best.doubt or (refusal is not None and not refusal.readable):
        return False
    return best.kind in ("classes", "ratings", "sets", "comparisons")


def read_texts(
    source: Source,
    *,
    name: str | None = None,
    cleaning: Cleaning | None = None,
) -> CrowdData:
    r"""Read texts in which workers marked spans.

    Parameters
    ----------
    source
        A path of a file, folder or zip, bytes, or an open binary file.
    name
        The file's name for messages; that of the source unless given.
    cleaning
        What to do about faults in the file; the defaults unless given.

    Returns
    -------
    CrowdData
        Of the kind "sequences": tokens are items, tags are classes. Its `report` says what was
        found and done.

    Raises
    ------
    DataError
        If the file cannot be used; the message says what, where, and what to do.

    Examples
    --------
    >>> ann = b'{"worker": "ann", "tags": ["O", "B-LOC"]}'
    >>> data = read_texts(b'{"tokens": ["In", "Rome"], "annotations": [' + ann + b"]}")
    >>> data.kind, data.classes
    ('sequences', ('O', 'B-LOC', 'I-LOC'))
    """
    files = load_files(source, name)
    called = name or (Path(str(source)).name if isinstance(source, str | Path) else files[0].name)
    text_format = find_text_format(files)
    if text_format is None:
        known = ", ".join(text_format.title for text_format in text_formats())
        raise DataError(
            "No text with marked spans is in it", file=called, fix=f"These can be read: {known}."
        )
    cleaning = cleaning or Cleaning()
    tally = Tally()
    try:
        texts = text_format.read(files, cleaning, tally)
    except DataError:
        raise
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        # Exports are nested deeply, and any value in them may be of another type than it should.
        raise DataError(
            f"The file looks like {text_format.title}, but a value in it is of another form: "
            f"{type(error).__name__}: {str(error)[:100]}",
            file=called,
            fix="Export it again.",
        ) from error
    return build(texts, source=called, title=text_format.title, cleaning=cleaning, tally=tally)
