from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Six items by three workers: c is wrong on 5 and 6, and item 6 has a single label."""
    path = tmp_path / "labels.csv"
    answers = ["1 a x", "1 b x", "1 c x", "2 a y", "2 b y", "2 c y", "3 a x", "3 b x", "3 c x",
               "4 a y", "4 b y", "4 c y", "5 a x", "5 b x", "5 c y", "6 c x"]  # fmt: skip
    text = "\n".join(["item,worker,label", *(answer.replace(" ", ",") for answer in answers)])
    path.write_text(text + "\n")
    (tmp_path / "gold.csv").write_text("item,gold\n1,x\n2,y\n5,x\n6,y\n")
    return path
