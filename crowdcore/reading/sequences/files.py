"""The files of an annotated corpus: one file, a folder, or a zip."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pyarrow as pa

from crowdcore.data import DataError
from crowdcore.reading.parsing.encoding import decode, text_encoding
from crowdcore.reading.parsing.source import ZIP_MAGICS, Content, Source, is_folder, load

HEAD_CHARACTERS = 20_000
"""How much of a file is looked at to learn its format."""

MAX_BYTES = 2 << 30
"""A zip that unpacks to more is refused."""


@dataclass(frozen=True, eq=False)
class TextFile:
    """One text file, decoded.

    Parameters
    ----------
    path
        Its path within the folder or zip; its name alone where it came by itself.
    text
        What it holds, with plain line ends.
    """

    path: PurePosixPath
    text: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.name

    @property
    def head(self) -> str:
        """The first characters."""
        return self.text[:HEAD_CHARACTERS]


def load_files(source: Source, name: str | None = None) -> list[TextFile]:
    """Read every text file of a source.

    Parameters
    ----------
    source
        A path of a file or folder, bytes, or an open binary file; a zip is unpacked in memory.
    name
        The file's name for messages; that of the source unless given.

    Returns
    -------
    list of TextFile
        In the order of their paths; hidden files and files that are no text are left out.

    Raises
    ------
    DataError
        If there is no text file.
    """
    if is_folder(source):
        root = Path(str(source))
        found = [path for path in sorted(root.rglob("*")) if path.is_file()]
        files = [(path.relative_to(root).as_posix(), _loaded(path)) for path in found]
    else:
        content = load(source, name)
        files = [(content.name, content)]
        if content.head.startswith(ZIP_MAGICS):
            files = _unpacked(content)
    texts = [
        TextFile(PurePosixPath(path), text)
        for path, content in files
        if not _is_hidden(path) and (text := _decoded(content)) is not None
    ]
    if not texts:
        raise DataError(
            "There is no text file in it", file=name or str(source)[-200:], fix="Check the path."
        )
    return texts


def _loaded(path: Path) -> Content:
    if path.stat().st_size:
        return load(path)
    return Content(name=path.name, buffer=pa.py_buffer(b""))  # it may say "nothing was marked"


def _is_hidden(path: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(path).parts)


def _decoded(content: Content) -> str | None:
    encoding = text_encoding(content)
    if encoding is None:
        return None
    text, _ = decode(content, encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unpacked(content: Content) -> list[tuple[str, Content]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content.all())) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if sum(info.file_size for info in infos) > MAX_BYTES:
                raise DataError("The zip unpacks to more than 2 GB", file=content.name)
            return [
                (
                    info.filename,
                    Content(name=info.filename, buffer=pa.py_buffer(archive.read(info))),
                )
                for info in sorted(infos, key=lambda info: info.filename)
            ]
    except (DataError, MemoryError):
        raise
    except Exception as error:  # damaged, with a password, packed in an unknown way
        raise DataError(
            f"The zip cannot be unpacked: {error}", file=content.name, fix="Pack it again."
        ) from None
