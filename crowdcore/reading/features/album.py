"""Album: the pictures in a folder or a zip, each named by its item; nothing is unpacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from crowdcore.data import DataError
from crowdcore.reading.parsing.source import ZIP_MAGICS, Content, Source, is_folder, load
from crowdcore.wording import count

MAX_FILE_BYTES = 1 << 27
"""Of a picture's file; a zip can claim anything, so no more than this is ever read."""

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


@dataclass(frozen=True, kw_only=True)
class Album:
    """The pictures of a folder or a zip.

    Parameters
    ----------
    name
        The name of the folder or zip, for messages.
    paths
        The paths of the pictures in it.
    other_files
        The paths of files that are not pictures.
    read
        Reads the bytes of a picture.
    """

    name: str
    paths: tuple[str, ...]
    other_files: tuple[str, ...]
    read: Callable[[str], bytes]

    def ids(self, items: Sequence[str] | None = None) -> tuple[str, ...]:
        """Say what each picture shows: the item called like its path, file name or stem.

        Parameters
        ----------
        items
            The items that may be shown. Without them it is the shortest of these names that
            tells all pictures apart.

        Returns
        -------
        tuple of str
            One per picture.
        """
        paths = [PurePosixPath(path.replace("\\", "/")) for path in self.paths]
        spellings = [(path.stem, path.name, str(path)) for path in paths]
        if items is not None:
            item_names = set(items)
            return tuple(
                next((name for name in reversed(names) if name in item_names), names[0])
                for names in spellings
            )
        columns = [*zip(*spellings, strict=True), self.paths]
        return next(tuple(names) for names in columns if len(set(names)) == len(spellings))

    def only(self, keep: Sequence[bool]) -> Album:
        """Keep some of the pictures, and every other file."""
        paths = tuple(path for path, kept in zip(self.paths, keep, strict=True) if kept)
        return replace(self, paths=paths)


def open_album(source: Source | Content, name: str | None = None) -> Album:
    """List the pictures of a folder, or of a zip; nothing is unpacked.

    Parameters
    ----------
    source
        The path of a folder, or a zip.
    name
        The file's name for messages; that of the source unless given.

    Returns
    -------
    Album

    Raises
    ------
    DataError
        If there is no picture.
    """
    if is_folder(source):
        album = _in_folder(Path(str(source)))
    else:
        album = _in_zip(source if isinstance(source, Content) else load(source, name))
    if not album.paths:
        raise DataError(
            f"There is no picture among {count(len(album.other_files), 'file')}",
            file=album.name,
            fix=f"Give PNG, JPEG, GIF, BMP or WebP files named by item. {_hint(album)}".strip(),
        )
    return album


def _in_folder(folder: Path) -> Album:
    paths = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )

    def read(path: str) -> bytes:
        try:
            with (folder / path).open("rb") as file:
                return _limited(file)
        except OSError as error:
            raise DataError(error.strerror or str(error)) from None

    return _album(folder.name or str(folder), paths, read)


def _in_zip(content: Content) -> Album:
    if not content.head.startswith(ZIP_MAGICS):
        fix = "Give a folder or a zip of pictures."
        raise DataError("This is neither a folder nor a zip", file=content.name, fix=fix)
    try:
        archive = ZipFile(pa.BufferReader(content.buffer))
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        fix = "Pack the pictures again."
        raise DataError("The zip is damaged", file=content.name, fix=fix) from None
    paths = sorted({info.filename for info in archive.infolist() if not info.is_dir()})

    def read(path: str) -> bytes:
        try:
            with archive.open(path) as file:
                return _limited(file)
        except DataError:
            raise
        except MemoryError:
            raise
        except Exception:  # damaged, with a password, packed in an unknown way
            raise DataError("it cannot be unpacked") from None

    return _album(content.name, paths, read)


def _album(name: str, paths: Sequence[str], read: Callable[[str], bytes]) -> Album:
    # Hidden files, and the shadows that macOS puts beside every file of a zip, are nobody's.
    visible = [path for path in paths if not _is_hidden(path)]
    pictures = tuple(path for path in visible if path.lower().endswith(_SUFFIXES))
    other_files = tuple(path for path in visible if not path.lower().endswith(_SUFFIXES))
    return Album(name=name, paths=pictures, other_files=other_files, read=read)


def _is_hidden(path: str) -> bool:
    names = PurePosixPath(path).parts
    return any(name.startswith((".", "__MACOSX")) for name in names if name != "..")


def _limited(file: Any) -> bytes:
    content: bytes = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise DataError(f"its file is larger than {MAX_FILE_BYTES >> 20} MB")
    return content


def _hint(album: Album) -> str:
    if "[Content_Types].xml" in album.other_files:
        return "An Excel workbook must be saved as CSV."
    if any(
        path.lower().endswith((".csv", ".tsv", ".json", ".parquet")) for path in album.other_files
    ):
        return "A table in a zip must be unpacked."
    return ""
