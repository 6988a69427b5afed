"""Zips and gzips: the table inside, or a file per annotator."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import PurePosixPath

import pyarrow as pa

from crowdcore.data import DataError
from crowdcore.reading.parsing.combined import combine
from crowdcore.reading.parsing.formats import Format, ParseOptions, find_format
from crowdcore.reading.parsing.source import ZIP_MAGICS, Content
from crowdcore.reading.parsing.table import Table

MAX_BYTES = 1 << 31
"""What the files of an archive may have together; more is taken for an attack."""

_GZIP = b"\x1f\x8b"
_WORKBOOK = "xl/workbook.xml"
_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx",
             ".xml", ".manifest", ".gz")  # fmt: skip


def is_workbook(content: Content) -> bool:
    """Tell whether a zip is an Excel workbook."""
    return content.head.startswith(ZIP_MAGICS) and b"[Content_Types].xml" in content.head


def _matches(content: Content) -> float:
    if content.head.startswith(_GZIP):
        return 1.0
    return 0.9 * (content.head.startswith(ZIP_MAGICS) and not is_workbook(content))


def _read(content: Content, options: ParseOptions) -> Table:
    if content.head.startswith(_GZIP):
        return _read_gzip(content, options)
    tables: list[tuple[str, Table]] = []
    faults: list[tuple[str, DataError]] = []
    try:
        with zipfile.ZipFile(io.BytesIO(content.all())) as archive:
            members = [member for member in archive.infolist() if _is_table(member.filename)]
            if sum(member.file_size for member in members) > MAX_BYTES:
                fix = "Unpack it, and give a file of it."
                raise DataError("The archive is too large", file=content.name, fix=fix)
            for member in members:
                inner = Content(
                    name=PurePosixPath(member.filename).name,
                    buffer=pa.py_buffer(archive.read(member)),
                )
                try:
                    table = read_member(inner, options)
                except DataError as error:
                    faults.append((inner.name, error))
                    continue
                if table is not None:
                    tables.append((title_of(member.filename, members), table))
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
        raise DataError(
            f"The zip cannot be unpacked: {error}", file=content.name, fix="Pack it anew."
        ) from None
    return combine(tables, name=content.name, noun="file", faults=faults)


def read_member(content: Content, options: ParseOptions) -> Table | None:
    """Read one of several files; None where it holds no table."""
    file_format = find_format(content) if content.buffer.size else None
    if file_format is None:
        return None
    table = file_format.read(content, options)
    return table if table.columns and table.n_rows else None


def title_of(path: str, members: list[zipfile.ZipInfo]) -> str:
    """What a file among several is called: its stem, or its folder where all stems are alike."""
    pure = PurePosixPath(path)
    stems = {PurePosixPath(member.filename).stem for member in members}
    return pure.parent.name if len(stems) == 1 and len(members) > 1 else pure.stem


def _is_table(path: str) -> bool:
    parts = PurePosixPath(path).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not hidden and path.lower().endswith(_SUFFIXES)


def _read_gzip(content: Content, options: ParseOptions) -> Table:
    try:
        with gzip.open(io.BytesIO(content.all())) as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"The gzip cannot be unpacked: {error}", file=content.name, fix="Pack it anew."
        ) from None
    if len(data) > MAX_BYTES:
        raise DataError("The archive is too large", file=content.name, fix="Unpack it first.")
    inner = Content(name=content.name.removesuffix(".gz"), buffer=pa.py_buffer(data))
    table = read_member(inner, options)
    if table is None:
        fix = "Give a CSV, JSON or Parquet file."
        raise DataError("There is no table in the gzip", file=content.name, fix=fix)
    return table


FORMAT = Format(title="Zip and gzip archives of such files", matches=_matches, read=_read)
