"""Pictures as features: a folder or a zip of them, each named by its item; nothing is unpacked."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.io.health import Finding, check, counted
from crowdcore.io.rows import Rows
from crowdcore.io.source import ZIPS, Content, Source, is_folder, load

SIZE, SMALLEST, LARGEST = 32, 8, 128
"""The side of a picture that becomes features: the usual one, and its bounds."""

MOST_PIXELS = 100_000_000
MOST_BYTES = 1 << 27
"""Of a picture's file; a zip can claim anything, so no more than this is ever read."""

MOST_MEMORY = 1 << 32
"""Bytes that all pictures together may take as features."""

_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
_GREY = np.array([19595, 38470, 7471], np.uint32)  # luminance in 1/65536; equal channels stay


@dataclass(frozen=True, kw_only=True)
class Album:
    """The pictures of a folder or a zip by their paths in it, and how many other files it has."""

    name: str
    paths: tuple[str, ...]
    others: tuple[str, ...]
    read: Callable[[str], bytes]

    def ids(self, items: Sequence[str] | None = None) -> tuple[str, ...]:
        """What each picture shows: the item called like its path, its file name or its stem.

        Without items it is the shortest of these that tells all pictures apart.
        """
        places = [PurePosixPath(path.replace("\\", "/")) for path in self.paths]
        spellings = [(place.stem, place.name, str(place)) for place in places]
        if items is not None:
            known = set(items)
            return tuple(
                next((one for one in reversed(names) if one in known), names[0])
                for names in spellings
            )
        columns = [*zip(*spellings, strict=True), self.paths]
        return next(tuple(names) for names in columns if len(set(names)) == len(spellings))

    def only(self, keep: Sequence[bool]) -> Album:
        """Some of the pictures, and every other file."""
        paths = tuple(path for path, kept in zip(self.paths, keep, strict=True) if kept)
        return replace(self, paths=paths)


@dataclass(frozen=True, kw_only=True)
class PictureForm:
    """What every picture is made into: a square of this side, in grey or in colour."""

    size: int
    channels: int

    def __post_init__(self) -> None:
        check_size(self.size)
        if self.channels not in (1, 3):
            raise DataError(f"A picture has 1 or 3 channels, not {self.channels}")

    def words(self, number: int) -> str:
        """So many pictures, in words."""
        kind = "in colour" if self.channels > 1 else "in grey"
        return f"{counted(number, 'picture')} of {self.size} × {self.size} {kind}"


def check_size(size: int) -> None:
    """Refuse a side of pictures that is out of bounds."""
    if not SMALLEST <= size <= LARGEST:
        raise DataError(f"The size of pictures is {SMALLEST} to {LARGEST} pixels, not {size}")


def open_album(source: Source | Content, name: str | None = None) -> Album:
    """List the pictures of a folder, or of a zip."""
    if is_folder(source):
        album = _in_folder(Path(str(source)))
    else:
        album = _in_zip(source if isinstance(source, Content) else load(source, name))
    if not album.paths:
        raise DataError(
            f"There is no picture among {counted(len(album.others), 'file')}",
            file=album.name,
            fix=f"Give PNG, JPEG, GIF, BMP or WebP files named by item. {_hint(album)}".strip(),
        )
    return album


def read_pictures(
    album: Album, ids: tuple[str, ...], size: int, channels: int | None = None
) -> tuple[Rows, PictureForm]:
    """Read the pictures [n, C, size, size] of an album that can be read, from 0 to 1.

    `channels` is found where it is not known: grey if no picture has a colour.
    """
    check_size(size)
    _refuse_huge(album, size)
    found = np.empty((len(album.paths), size, size, 3), np.uint8)
    faults: dict[int, str] = {}
    for place, path in enumerate(album.paths):
        try:
            found[place] = decode(album.read(path), size)
        except DataError as error:
            faults[place] = f"{path!r}: {error.what}"
    whole = np.array([place not in faults for place in range(len(found))], bool)
    if not whole.any():
        raise DataError(
            f"None of {counted(len(found), 'picture')} can be read; {next(iter(faults.values()))}",
            file=album.name,
            fix="Save them as PNG or JPEG again.",
        )
    found = found[whole]
    coloured = (found != found[..., :1]).any((1, 2, 3))
    form = PictureForm(size=size, channels=channels or (3 if coloured.any() else 1))
    findings = [_damaged(faults), _others(album)]
    if form.channels == 1 and coloured.any():
        findings.append(_turned_grey(int(coloured.sum())))
    kept = tuple(name for name, good in zip(ids, whole, strict=True) if good)
    values = _numbers(found, form)
    return Rows(file=album.name, values=values, ids=kept, findings=tuple(findings)), form


def decode(content: bytes, size: int) -> NDArray[np.uint8]:
    """The middle square of a picture, shrunk or enlarged [size, size, 3]; white behind it."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures and odd notes in them
            with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
                if prod(picture.size) > MOST_PIXELS:
                    width, height = picture.size
                    raise DataError(f"{width} × {height} pixels are too many")
                picture.draft(None, (2 * size, 2 * size))  # a JPEG need not be opened in full
                upright = ImageOps.exif_transpose(picture)
                if upright.mode == "I;16":
                    upright = Image.fromarray((np.asarray(upright) // 257).astype(np.uint8))
                square = ImageOps.fit(
                    upright.convert("RGBA"), (size, size), method=Image.Resampling.BILINEAR
                )
                white = Image.new("RGBA", square.size, "white")
                return np.asarray(Image.alpha_composite(white, square).convert("RGB"))
    except DataError:
        raise
    except Exception:  # damaged pictures make Pillow raise a dozen kinds
        raise DataError("damaged, or in another format than its name says") from None


def _numbers(found: NDArray[np.uint8], form: PictureForm) -> NDArray[np.float32]:
    shades: NDArray[Any] = found
    if form.channels == 1:
        shades = ((found @ _GREY + (1 << 15)) >> 16)[..., None]
    values = np.ascontiguousarray(np.moveaxis(shades, -1, 1), np.float32)
    values /= 255
    return values


def _refuse_huge(album: Album, size: int) -> None:
    needed = len(album.paths) * 3 * size * size * 4
    if needed > MOST_MEMORY:
        raise DataError(
            f"{counted(len(album.paths), 'picture')} of {size} × {size} take "
            f"{needed / 2**30:.0f} GB as features",
            file=album.name,
            fix="Choose a smaller size, or give features that were made of them.",
        )


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
    import pyarrow as pa

    if not content.head.startswith(ZIPS):
        fix = "Give a folder or a zip of pictures."
        raise DataError("This is neither a folder nor a zip", file=content.name, fix=fix)
    try:
        archive = ZipFile(pa.BufferReader(content.buffer))
    except (BadZipFile, OSError, ValueError):
        fix = "Pack the pictures again."
        raise DataError("The zip is damaged", file=content.name, fix=fix) from None
    paths = sorted({info.filename for info in archive.infolist() if not info.is_dir()})

    def read(path: str) -> bytes:
        try:
            with archive.open(path) as file:
                return _limited(file)
        except DataError:
            raise
        except Exception:  # damaged, with a password, packed in an unknown way
            raise DataError("it cannot be unpacked") from None

    return _album(content.name, paths, read)


def _album(name: str, paths: Sequence[str], read: Callable[[str], bytes]) -> Album:
    # Hidden files, and the shadows that macOS puts beside every file of a zip, are nobody's.
    seen = [path for path in paths if not _is_hidden(path)]
    pictures = tuple(path for path in seen if path.lower().endswith(_SUFFIXES))
    others = tuple(path for path in seen if not path.lower().endswith(_SUFFIXES))
    return Album(name=name, paths=pictures, others=others, read=read)


def _is_hidden(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return any(part.startswith((".", "__MACOSX")) for part in parts if part != "..")


def _limited(file: Any) -> bytes:
    content: bytes = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DataError(f"its file is larger than {MOST_BYTES >> 20} MB")
    return content


def _hint(album: Album) -> str:
    if "[Content_Types].xml" in album.others:
        return "An Excel workbook must be saved as CSV."
    if any(path.lower().endswith((".csv", ".tsv", ".json", ".parquet")) for path in album.others):
        return "A table in a zip must be unpacked."
    return ""


def _damaged(faults: dict[int, str]) -> Finding:
    return check(
        "features_damaged",
        "Pictures that cannot be read",
        len(faults),
        severity="warning",
        examples=faults.values(),
        done="They were left out.",
        fix="Save them as PNG or JPEG again.",
    )


def _others(album: Album) -> Finding:
    return check(
        "features_other_files",
        "Files that are no pictures",
        len(album.others),
        examples=map(repr, album.others),
        done="They were left out.",
    )


def _turned_grey(number: int) -> Finding:
    return check(
        "features_turned_grey",
        "Pictures in colour",
        number,
        done="They were turned to grey, as all pictures were that the features were learnt from.",
    )
