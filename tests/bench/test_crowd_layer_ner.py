"""Taggers are scored on sentences that nobody annotated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdcore.bench.papers import crowd_layer_ner
from crowdcore.registry import get_method

GOLDEN = Path(__file__).parents[1] / "golden" / "sequences" / "sentences.jsonl"


def test_every_tagger_takes_part() -> None:
    methods = {method for _, method, _, _ in crowd_layer_ner.TAGGERS}
    assert methods == {
        "dl_true", "dl_bsc", "crowd_layer", "dl_em", "dl_dn", "dl_wdn", "crf_ma", "dl_mv",
    }  # fmt: skip
    for _, method, settings, _ in crowd_layer_ner.TAGGERS:
        get_method(method, kind="sequences").configure(settings)


def test_the_table_has_a_row_per_tagger_with_its_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / crowd_layer_ner.NER
    folder.mkdir()
    lines = GOLDEN.read_text().splitlines()
    (folder / "sentences.jsonl").write_text("\n".join(lines))
    bare = [{**json.loads(line), "annotations": []} for line in lines]
    (folder / "test.jsonl").write_text("\n".join(map(json.dumps, bare)))
    quick = {"epochs": 15, "held_out": 0.0, "rate": 0.01}
    monkeypatch.setattr(crowd_layer_ner, "TAGGERS", (("vote", "dl_mv", quick, "54.6"),))
    done: list[str] = []
    table = crowd_layer_ner._unseen(tmp_path, done.append, 2)
    assert done == ["tagger on vote, seed 0", "tagger on vote, seed 1"]
    assert [row[0] for row in table.rows] == ["vote"]
    assert float(table.rows[0][3].split(" ± ")[0]) > 30
    assert table.rows[0][4] == "54.6"
