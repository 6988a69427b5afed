"""Where bytes come from: a path, a buffer in memory, or an upload."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from crowdcore.data import DataError

Source = str | Path | bytes | BinaryIO

HEAD_BYTES = 1 << 16
"""How many bytes are looked at to learn what a file is."""

ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip begins, be it full or empty."""

_BYTES_PER_BLOCK = 1 << 24


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """The bytes of a file.

    Parameters
    ----------
    name
        The file's name, for messages.
    buffer
        The bytes; those of a file on disk are mapped, not copied.
    """

    name: str
    buffer: pa.Buffer

    @property
    def head(self) -> bytes:
        """The first bytes."""
        return self.slice(0, HEAD_BYTES)

    def slice(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        size = max(0, min(stop, self.buffer.size) - start)
        return bytes(self.buffer.slice(start, size).to_pybytes()) if size else b""

    def all(self) -> bytes:
        """Return every byte; a copy."""
        return bytes(self.buffer.to_pybytes())

    def blocks(self) -> Iterator[bytes]:
        """Go through all bytes in blocks, so that a scan of a large file needs little memory."""
        for start in range(0, self.buffer.size, _BYTES_PER_BLOCK):
            yield self.slice(start, start + _BYTES_PER_BLOCK)

    @cached_property
    def scan(self) -> Scan:
        """What one pass over all bytes finds."""
        feeds = returns = quotes = zeros = 0
        for block in self.blocks():
            feeds += block.count(b"\n")
            returns += block.count(b"\r")
            quotes += b'"' in block
            zeros += b"\0" in block
        last = self.slice(self.buffer.size - 1, self.buffer.size)
        ends = feeds or returns
        return Scan(
            n_lines=ends + (last not in b"\r\n"),
            has_quotes=quotes > 0,
            has_zeros=zeros > 0,
        )


@dataclass(frozen=True, kw_only=True)
class Scan:
    """Lines in a file of single-byte line ends, and whether it has quotes or zero bytes."""

    n_lines: int
    has_quotes: bool
    has_zeros: bool


def load(source: Source, name: str | None = None) -> Content:
    """Get at the bytes of a source.

    Parameters
    ----------
    source
        A path, bytes, or an open binary file. A file on disk is mapped, not copied.
    name
        The file's name for messages; that of the source unless given.

    Returns
    -------
    Content

    Raises
    ------
    DataError
        If there is no such file, or it is empty or cannot be read.
    """
    if isinstance(source, str | Path):
        content = Content(name=name or Path(source).name, buffer=_map(source))
    else:
        data = source if isinstance(source, bytes) else _drain(source)
        content = Content(name=name or _name_of(source), buffer=pa.py_buffer(data))
    if not content.buffer.size:
        raise DataError("The file is empty", file=content.name, fix="Choose a file with labels.")
    return content


def is_folder(source: object) -> bool:
    """Tell whether a source is the path of a folder."""
    try:
        return isinstance(source, str | Path) and Path(source).is_dir()
    except (OSError, ValueError):  # a path that is too long, or with a zero byte
        return False


def _map(path: str | Path) -> pa.Buffer:
    try:
        if Path(path).is_file() and Path(path).stat().st_size:
            return pa.memory_map(str(path)).read_buffer()
        return pa.py_buffer(Path(path).read_bytes())
    except FileNotFoundError:
        short = str(path)[-200:]
        raise DataError(f"There is no file {short!r}", fix="Check the path.") from None
    except (OSError, ValueError) as error:  # a folder, no permission, a path with a zero byte
        fix = "Check the path and its permissions."
        raise DataError(f"The file cannot be read: {error}", fix=fix) from None


def _drain(source: Any) -> bytes:
    try:
        data = source.read()
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(
            f"The file cannot be read: {error}", fix="Give a path, bytes or an open binary file."
        ) from None
    return data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data)


def _name_of(source: Any) -> str:
    name = getattr(source, "name", None)
    # An upload may be called ../../etc/passwd.csv; only its last part is shown.
    return re.split(r"[/\\]", name)[-1] if isinstance(name, str) and name else "the upload"
