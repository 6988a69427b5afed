import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from crowdcore.samples import samples
from sample_data.make import HERE, make


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample_data")
    make(folder)
    return folder


def committed() -> list[Path]:
    folders = [sample.folder for sample in samples()]
    return sorted(path.relative_to(HERE) for folder in folders for path in folder.iterdir())


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_committed_files_are_what_the_script_makes_now(fresh: Path) -> None:
    made = sorted(path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file())
    assert made == committed()
    for name in made:
        if name.suffix == ".npz":  # an archive's bytes depend on who packed it
            one, two = np.load(fresh / name), np.load(HERE / name)
            assert one.files == two.files
            assert all(np.array_equal(one[key], two[key]) for key in one.files), name
        else:
            assert (fresh / name).read_bytes() == (HERE / name).read_bytes(), name


def test_the_samples_are_small() -> None:
    assert sum((HERE / path).stat().st_size for path in committed()) < 1_500_000


def test_worker_names_do_not_tell_what_the_worker_is() -> None:
    for sample in samples():
        workers = read(sample.folder / "workers.csv")
        assert [row["worker"] for row in workers] == [
            f"w{n:02d}" for n in range(1, len(workers) + 1)
        ]
        assert len(Counter(row["character"] for row in workers)) > 3


def test_gold_is_a_part_of_the_truth() -> None:
    for sample in samples():
        truth = {row["item"]: row["truth"] for row in read(sample.folder / "truth.csv")}
        gold = {row["item"]: row["gold"] for row in read(sample.folder / "gold.csv")}
        assert 0.05 < len(gold) / len(truth) < 0.25
        assert all(truth[item] == answer for item, answer in gold.items())


def test_the_pictures_are_valid_and_show_their_digit() -> None:
    import base64
    import io

    from PIL import Image

    rows = read(HERE / "digits" / "items.csv")
    features = np.load(HERE / "digits" / "features.npz")
    assert [row["item"] for row in rows] == features["item"].tolist()
    for place in (0, 99, 599):
        data = base64.b64decode(rows[place]["image"].partition(",")[2])
        with Image.open(io.BytesIO(data)) as picture:
            assert picture.size == (32, 32)
            ink = 255 - np.asarray(picture.convert("L"), float)[::4, ::4]
        pixels = features["x"][place].astype(float).reshape(8, 8)
        assert np.abs(ink / 255 - pixels / 16).max() < 0.05
