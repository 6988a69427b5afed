"""Pictures as features: each brought to one size, in grey or in colour."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from crowdcore.data import DataError
from crowdcore.reading.features.album import Album
from crowdcore.reading.features.rows import FeatureRows
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.wording import count

DEFAULT_SIDE_PIXELS, MIN_SIDE_PIXELS, MAX_SIDE_PIXELS = 32, 8, 128
"""The side of a picture that becomes features: the usual one, and its bounds."""

MAX_PIXELS = 100_000_000
"""A picture of more is not opened."""

MAX_FEATURE_BYTES = 1 << 32
"""What all pictures together may take as features."""

_PICTURE_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
_OPAQUE_MODES = ("RGB", "L")
_GREY = np.array([19595, 38470, 7471], np.uint32)  # luminance in 1/65536; equal channels stay


@dataclass(frozen=True, kw_only=True)
class PictureForm:
    """What every picture is made into.

    Parameters
    ----------
    size
        The side of the square, in pixels.
    channels
        1 for grey, 3 for colour.

    Raises
    ------
    DataError
        If the size is out of bounds.
    """

    size: int
    channels: int

    def __post_init__(self) -> None:
        check_size(self.size)
        if self.channels not in (1, 3):
            raise DataError(f"A picture has 1 or 3 channels, not {self.channels}")

    def describe(self, n_pictures: int) -> str:
        """Say that there are so many pictures of this form."""
        kind = "in colour" if self.channels > 1 else "in grey"
        return f"{count(n_pictures, 'picture')} of {self.size} × {self.size} {kind}"


def check_size(size: int) -> None:
    """Refuse a side of pictures that is out of bounds.

    Parameters
    ----------
    size
        The side in pixels.

    Raises
    ------
    DataError
        If it is too small or too large.
    """
    if not MIN_SIDE_PIXELS <= size <= MAX_SIDE_PIXELS:
        bounds = f"{MIN_SIDE_PIXELS} to {MAX_SIDE_PIXELS}"
        raise DataError(f"The size of pictures is {bounds} pixels, not {size}")


def read_pictures(
    album: Album, ids: tuple[str, ...], size: int, channels: int | None = None
) -> tuple[FeatureRows, PictureForm]:
    """Read the pictures of an album that can be read.

    Parameters
    ----------
    album
        The pictures.
    ids
        What each picture shows.
    size
        The side in pixels to which they are brought.
    channels
        1 for grey, 3 for colour; unless given, grey if no picture has a colour.

    Returns
    -------
    FeatureRows
        Pictures [n, C, size, size] from 0 to 1, without those that cannot be read.
    PictureForm
        What they were made into.

    Raises
    ------
    DataError
        If no picture can be read, or they would fill the memory.
    """
    check_size(size)
    _refuse_huge(album, size)
    pixels = np.empty((len(album.paths), size, size, 3), np.uint8)
    faults: dict[int, str] = {}
    for number, path in enumerate(album.paths):
        try:
            pixels[number] = decode(album.read(path), size)
        except DataError as error:
            faults[number] = f"{path!r}: {error.problem}"
    readable = np.array([number not in faults for number in range(len(pixels))], bool)
    if not readable.any():
        raise DataError(
            f"None of {count(len(pixels), 'picture')} can be read; {next(iter(faults.values()))}",
            file=album.name,
            fix="Save them as PNG or JPEG again.",
        )
    pixels = pixels[readable]
    coloured = (pixels != pixels[..., :1]).any((1, 2, 3))
    form = PictureForm(size=size, channels=channels or (3 if coloured.any() else 1))
    findings = [_damaged(faults), _other_files(album)]
    if form.channels == 1 and coloured.any():
        findings.append(_turned_grey(int(coloured.sum())))
    kept_ids = tuple(name for name, kept in zip(ids, readable, strict=True) if kept)
    values = _scaled(pixels, form)
    return FeatureRows(file=album.name, values=values, ids=kept_ids, findings=tuple(findings)), form


def decode(content: bytes, size: int) -> NDArray[np.uint8]:
    """Decode the middle square of a picture, shrunk or enlarged.

    Parameters
    ----------
    content
        The bytes of the picture's file.
    size
        The side in pixels to which it is brought.

    Returns
    -------
    ndarray
        Its pixels [size, size, 3]; what is transparent is white.

    Raises
    ------
    DataError
        If it is damaged or has too many pixels.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures and odd notes in them
            with Image.open(io.BytesIO(content), formats=_PICTURE_FORMATS) as picture:
                if prod(picture.size) > MAX_PIXELS:
                    width, height = picture.size
                    raise DataError(f"{width} × {height} pixels are too many")
                picture.draft(None, (2 * size, 2 * size))  # a JPEG need not be opened in full
                upright = ImageOps.exif_transpose(picture)
                if upright.mode == "I;16":
                    upright = Image.fromarray((np.asarray(upright) // 257).astype(np.uint8))
                if upright.mode not in _OPAQUE_MODES or "transparency" in upright.info:
                    upright = upright.convert("RGBA")  # a copy, so only where it is needed
                square = ImageOps.fit(upright, (size, size), method=Image.Resampling.BILINEAR)
                square = square.convert("RGBA")
                white = Image.new("RGBA", square.size, "white")
                return np.asarray(Image.alpha_composite(white, square).convert("RGB"))
    except DataError:
        raise
    except MemoryError:
        raise
    except Exception:  # damaged pictures make Pillow raise a dozen kinds
        raise DataError("damaged, or in another format than its name says") from None


def _scaled(pixels: NDArray[np.uint8], form: PictureForm) -> NDArray[np.float32]:
    """Return pixels [n, H, W, 3] as shades [n, C, H, W] from 0 to 1."""
    shades: NDArray[Any] = pixels
    if form.channels == 1:
        shades = ((pixels @ _GREY + (1 << 15)) >> 16)[..., None]
    values = np.ascontiguousarray(np.moveaxis(shades, -1, 1), np.float32)
    values /= 255
    return values


def _refuse_huge(album: Album, size: int) -> None:
    needed = len(album.paths) * 3 * size * size * 4
    if needed > MAX_FEATURE_BYTES:
        raise DataError(
            f"{count(len(album.paths), 'picture')} of {size} × {size} take "
            f"{needed / 2**30:.0f} GB as features",
            file=album.name,
            fix="Choose a smaller size, or give features that were made of them.",
        )


def _damaged(faults: dict[int, str]) -> Finding:
    return make_finding(
        "features_damaged",
        len(faults),
        severity="warning",
        examples=faults.values(),
        done="They were left out.",
    )


def _other_files(album: Album) -> Finding:
    return make_finding(
        "features_other_files",
        len(album.other_files),
        examples=map(repr, album.other_files),
        done="They were left out.",
    )


def _turned_grey(n_pictures: int) -> Finding:
    return make_finding(
        "features_turned_grey",
        n_pictures,
        done="They were turned to grey, as all pictures were that the features were learnt from.",
    )
