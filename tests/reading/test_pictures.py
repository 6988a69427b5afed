"""Pictures as features: from a folder or a zip, safely."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from crowdcore.data import CrowdData, DataError
from crowdcore.reading import read_labels
from crowdcore.reading.features import album, pictures
from tests.reading.tables import finding, table

RED, GREY = (200, 0, 0), (90, 90, 90)


def picture(
    colour: object = RED, size: tuple[int, int] = (40, 40), kind: str = "PNG", mode: str = "RGB"
) -> bytes:
    sink = io.BytesIO()
    Image.new(mode, size, colour).save(sink, kind)  # type: ignore[arg-type]
    return sink.getvalue()


def packed(**files: bytes) -> bytes:
    """A zip of files; __ stands for a dot and ___ for a slash."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("___", "/").replace("__", "."), content)
    return sink.getvalue()


def values(data: CrowdData) -> NDArray[np.float32]:
    assert data.features is not None
    assert data.features.dtype == np.float32
    return data.features


def test_pictures_in_colour_become_channels_by_height_by_width_from_0_to_1() -> None:
    data = read_labels(table(), features=packed(t2__png=picture(), t1__jpg=picture(GREY)))
    assert values(data).shape == (2, 3, 32, 32)
    assert values(data)[1].mean((1, 2)) == pytest.approx([200 / 255, 0, 0], abs=1e-6)
    assert data.n_features == 3 * 32 * 32
    assert data.report.features == "2 pictures of 32 × 32 in colour"


def test_pictures_without_a_colour_have_one_channel() -> None:
    grey = picture(128, mode="L")
    data = read_labels(table(), features=packed(t1__png=picture(GREY), t2__png=grey))
    assert values(data).shape == (2, 1, 32, 32)
    assert values(data).max((1, 2, 3)) == pytest.approx([90 / 255, 128 / 255])
    assert "in grey" in data.report.features


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP"])
def test_every_usual_format_is_read(kind: str) -> None:
    files = {f"t1__{kind.lower()}": picture(kind=kind), "t2__png": picture()}
    found = values(read_labels(table(), features=packed(**files)))
    assert found[0].mean((1, 2)) == pytest.approx([200 / 255, 0, 0], abs=0.03)


@pytest.mark.parametrize("name", ["t1__png", "some___folder___t1__PNG"])
def test_an_item_is_found_by_stem_in_any_folder(name: str) -> None:
    data = read_labels(table(), features=packed(**{name: picture(), "t2__png": picture(GREY)}))
    assert values(data)[0, 0].mean() == pytest.approx(200 / 255)


def test_an_item_may_be_called_like_the_whole_file_or_its_path() -> None:
    rows = [("a.png", "w1", "x"), ("b/c.png", "w1", "y")]
    data = read_labels(table(rows), features=packed(a__png=picture(), b___c__png=picture(GREY)))
    assert values(data)[:, 0, 0, 0] == pytest.approx([200 / 255, 90 / 255])


def test_a_folder_is_read_like_a_zip(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "t1.png").write_bytes(picture())
    (tmp_path / "deep" / "t2.png").write_bytes(picture(GREY))
    zipped = read_labels(table(), features=packed(t1__png=picture(), t2__png=picture(GREY)))
    assert np.array_equal(values(read_labels(table(), features=tmp_path)), values(zipped))


def test_the_middle_square_is_what_is_seen() -> None:
    wide = Image.new("RGB", (90, 30), "white")
    wide.paste("black", (30, 0, 60, 30))
    sink = io.BytesIO()
    wide.save(sink, "PNG")
    assert pictures.decode(sink.getvalue(), 16)[:, 1:-1].max() == 0  # the sides are blurred


def test_a_photo_is_turned_as_its_camera_says() -> None:
    photo = Image.new("RGB", (32, 32), "white")
    photo.paste("black", (0, 0, 16, 32))  # the left half
    exif = Image.Exif()
    exif[0x0112] = 6  # turn right: the left half comes to the top
    sink = io.BytesIO()
    photo.save(sink, "JPEG", exif=exif, quality=95)
    found = pictures.decode(sink.getvalue(), 32)
    assert found[:12].max() < 30
    assert found[-12:].min() > 220


def test_what_is_transparent_is_white_and_deep_grey_keeps_its_shade() -> None:
    assert pictures.decode(picture((9, 9, 9, 0), mode="RGBA"), 8).min() == 255
    deep = picture(128 * 257, mode="I;16")
    assert np.unique(pictures.decode(deep, 8)).tolist() == [128]


def test_another_size_may_be_chosen_within_bounds() -> None:
    files = packed(t1__png=picture(), t2__png=picture())
    assert values(read_labels(table(), features=files, picture_size=8)).shape[2:] == (8, 8)
    for size in (7, 129):
        with pytest.raises(DataError, match="8 to 128"):
            read_labels(table(), features=files, picture_size=size)


def test_damaged_strange_missing_and_other_files_are_counted() -> None:
    rows = [(name, "w1", "x") for name in ("a", "b", "c")]
    files = packed(
        a__png=picture(), b__png=b"no picture", x__png=picture(), notes__txt=b"hi",
        __MACOSX____a__png=b"", _hidden=b"",
    )  # fmt: skip
    data = read_labels(table(rows), features=files)
    assert np.isnan(values(data)).any((1, 2, 3)).tolist() == [False, True, True]
    assert finding(data, "features_damaged").examples == (
        "'b.png': damaged, or in another format than its name says",
    )
    assert finding(data, "features_without_labels").examples == ("item 'x'",)
    assert finding(data, "items_without_features").count == 2
    assert finding(data, "features_other_files").examples == ("'_hidden'", "'notes.txt'")
    assert finding(data, "features_pictures").count == 1
    assert data.report.features == "1 picture of 32 × 32 in colour"


def test_a_picture_of_too_many_pixels_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_PIXELS", 100)
    data = read_labels(table(), features=packed(t1__png=picture(), t2__png=picture(size=(9, 9))))
    assert "40 × 40 pixels are too many" in finding(data, "features_damaged").examples[0]


def test_a_bomb_is_told_and_never_unpacked_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(album, "MAX_FILE_BYTES", 1 << 20)
    files = packed(t1__png=b"\0" * (1 << 25), t2__png=picture())
    assert len(files) < 1 << 20
    data = read_labels(table(), features=files)
    assert "larger than 1 MB" in finding(data, "features_damaged").examples[0]


def test_pictures_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_FEATURE_BYTES", 1000)
    with pytest.raises(DataError, match="Choose a smaller size"):
        read_labels(table(), features=packed(t1__png=picture(), t2__png=picture()))


def test_a_path_out_of_the_zip_is_only_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    files = packed(**{"..___t1__png": picture(), "t2__png": picture(GREY)})
    assert b"../t1.png" in files
    assert not np.isnan(values(read_labels(table(), features=files))).any()
    assert [path.name for path in tmp_path.rglob("*")] == ["here"]


def locked() -> bytes:
    """A zip whose first file claims to need a password."""
    content = bytearray(packed(t1__png=picture(), t2__png=picture()))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.index(mark) + place
        content[at] |= 1
    return bytes(content)


def test_a_picture_behind_a_password_counts_as_damaged() -> None:
    data = read_labels(table(), features=locked())
    assert "cannot be unpacked" in finding(data, "features_damaged").examples[0]


FAULTS = {
    "nothing to read": (packed(t1__png=b"x", t2__png=b""), "None of 2 pictures can be read"),
    "no picture": (packed(a__txt=b"x"), "no picture among 1 file"),
    "a workbook": (packed(**{"[Content_Types]__xml": b"x"}), "saved as CSV"),
    "a table": (packed(features__csv=b"a,b"), "must be unpacked"),
    "nothing": (packed(), "no picture among 0 files"),
    "strangers": (packed(x__png=picture()), "None of the pictures belongs to an item"),
    "twice": (packed(t1__png=picture(), t1__jpg=picture()), "'t1' has several pictures"),
    "damaged": (packed(t1__png=picture())[:60], "The zip is damaged"),
}


@pytest.mark.parametrize(("file", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_pictures_that_cannot_be_used_are_refused(file: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_labels(table(), features=file, features_name="pictures.zip")
    assert caught.value.file == "pictures.zip"


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no picture among 0 files"):
        read_labels(table(), features=tmp_path)
