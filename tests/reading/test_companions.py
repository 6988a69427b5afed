"""Files that come together: each is told for what it is."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from crowdcore.reading.companions import recognise

LABELS = "task,worker,label\n" + "".join(
    f"t{item},w{worker},{'ab'[(item + (worker == 2)) % 2]}\n"
    for item in range(9)
    for worker in range(3)
)
GOLD = "task,truth\n" + "".join(f"t{item},{'ab'[item % 2]}\n" for item in range(4))
ANSWERS = "id,answer\n" + "".join(f"t{item},{'ab'[item % 2]}\n" for item in range(4))
FEATURES = "task,length,colour\n" + "".join(f"t{item},{item * 1.5},red\n" for item in range(9))
STRANGE = "city,people\nUlm,120000\nBonn,330000\n"


def archive(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name in names:
            file.writestr(name, b"x")
    return content.getvalue()


def array() -> bytes:
    content = io.BytesIO()
    np.save(content, np.zeros((9, 2)))
    return content.getvalue()


def told(folder: Path, **contents: str | bytes) -> dict[str, tuple[str, str]]:
    files = []
    for name, content in contents.items():
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        files.append((name, path))
    return {file.name: (file.kind, file.why) for file in recognise(files)}


def test_labels_gold_features_and_pictures_are_told_apart(tmp_path: Path) -> None:
    files = told(
        tmp_path,
        features=FEATURES,
        gold=GOLD,
        labels=LABELS,
        pictures=archive("t1.jpg", "t2.png"),
        array=array(),
        npz=archive("x.npy"),
        strange=STRANGE,
        broken=b"\x00\x01",
    )
    assert {name: kind for name, (kind, _) in files.items()} == {
        "features": "features",
        "gold": "gold",
        "labels": "labels",
        "pictures": "features",
        "array": "features",
        "npz": "features",
        "strange": "other",
        "broken": "other",
    }
    assert files["gold"][1] == "Column 'truth' holds answers of 4 of the 9 items."
    assert files["features"][1] == "2 columns about 9 of the 9 items."
    assert files["pictures"][1].startswith("2 pictures")
    assert "names the items of labels" in files["strange"][1]


@pytest.mark.parametrize("gold", [GOLD, ANSWERS])
def test_answers_are_gold_by_their_values_too(tmp_path: Path, gold: str) -> None:
    assert told(tmp_path, a=gold, b=LABELS)["a"][0] == "gold"


def test_more_labels_are_said_to_be_such(tmp_path: Path) -> None:
    files = told(
        tmp_path, first=LABELS, second=LABELS.replace("t", "u").replace("uask", "task")[:200]
    )
    assert files["first"][0] == "labels"
    assert files["second"][0] == "other"


def test_a_single_table_is_taken_for_the_labels_whatever_it_is(tmp_path: Path) -> None:
    assert told(tmp_path, only=STRANGE, picture=archive("a.jpg"))["only"][0] == "labels"
