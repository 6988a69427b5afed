"""A file format is one module; the surest of them reads a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdcore.data import DataError
from crowdcore.reading import open_table, read_labels
from crowdcore.reading.parsing import formats
from crowdcore.reading.parsing.source import load
from tests.reading.tables import ROWS, table, triples

MODULE = '''
"""Rows as words, such as "t1 of w1 is cat"."""

import pyarrow as pa

from crowdcore.reading.parsing.formats import Format
from crowdcore.reading.parsing.table import Table


def read(content, options):
    rows = [line.replace(" of ", " is ").split(" is ") for line in content.all().decode().split("\\n")[1:-1]]
    columns = dict(zip(("item", "worker", "label"), map(list, zip(*rows)), strict=True))
    return Table(name=content.name, data=pa.table(columns), description="Read as sentences.")


FORMAT = Format(title="Sentences", matches=lambda content: content.head[:9] == b"SENTENCES", read=read)
'''  # noqa: E501


@pytest.fixture
def sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A format of somebody else's, added as one module and nothing else."""
    (tmp_path / "sentences.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    formats.formats.cache_clear()
    yield
    formats.formats.cache_clear()
    sys.modules.pop("crowdcore.reading.parsing.formats.sentences", None)


@pytest.mark.usefixtures("sentences")
def test_a_format_is_added_by_one_module() -> None:
    source = "SENTENCES\n" + "".join(f"{item} of {who} is {label}\n" for item, who, label in ROWS)
    data = read_labels(source.encode())
    assert set(triples(data)) == set(ROWS)
    assert "Read as sentences." in data.report.reasons["file"]
    assert triples(read_labels(table())).keys() == set(ROWS), "other files are read as before"


def test_every_format_has_a_title_of_its_own() -> None:
    titles = [known.title for known in formats.formats()]
    assert len(titles) == len(set(titles)) >= 3


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (table(), "CSV, TSV and other delimited text"),
        (b'[{"task": 1}]', "JSON and JSON lines"),
        (b"PAR1....", "Parquet"),
    ],
)
def test_the_surest_format_is_chosen(source: bytes, title: str) -> None:
    found = formats.find_format(load(source))
    assert found is not None
    assert found.title == title


def test_a_file_of_no_format_is_refused() -> None:
    assert formats.find_format(load(b"\x89PNG\r\n\x1a\n\0\0")) is None
    with pytest.raises(DataError, match="binary, not text"):
        open_table(b"\x89PNG\r\n\x1a\n\0\0")
