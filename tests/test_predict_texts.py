"""`crowdcore predict` tags texts that nobody annotated."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crowdcore.cli import app
from crowdcore.data import DataError
from crowdcore.engine.learning.classifier import FILE, Classifier
from crowdcore.reading.sequences.plain import read_plain_texts

GOLDEN = Path(__file__).with_name("golden") / "sequences" / "sentences.jsonl"
QUICK = ["-p", "epochs=20", "-p", "held_out=0", "-p", "rate=0.01"]


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    done = call("run", GOLDEN, "--method", "dl_mv", *QUICK, "--out", out)
    assert done.exit_code == 0, done.output
    return out


def test_a_run_leaves_a_tagger_that_tags_its_own_texts_as_before(
    folder: Path, tmp_path: Path
) -> None:
    done = call("predict", folder, GOLDEN, "--out", tmp_path / "new.jsonl")
    assert done.exit_code == 0, done.output
    assert "Read as JSON." in done.stderr
    kept = [json.loads(line) for line in (folder / "spans.jsonl").read_text().splitlines()]
    new = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert [text["inferred"] for text in new] == [text["inferred"] for text in kept]
    assert any(text["spans"] for text in new)
    assert f"{sum(len(text['spans']) for text in new)} spans in 60 texts" in done.stdout


def test_spans_of_plain_lines_are_a_table_with_characters(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "new.txt"
    source.write_text("word1 Type1word4 word21\n\n  Type2word8,  word3\n")
    done = call("predict", folder, source)
    assert done.exit_code == 0, done.output
    table = list(csv.DictReader(done.stdout.splitlines()))
    assert table
    lines = source.read_text().splitlines()
    for row in table:
        line = lines[int(row["item"].removeprefix("line ")) - 1]
        assert line[int(row["start"]) : int(row["end"])] == row["text"]
        assert 0 < float(row["confidence"]) <= 1


def test_conll_goes_in_and_out(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "new.conll").write_text("word1\nType1word4\n\nword3\n")
    done = call("predict", folder, tmp_path / "new.conll", "--out", tmp_path / "out.conll")
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "out.conll").read_text().splitlines()
    tokens = [line.split("\t")[0] for line in lines if line and not line.startswith("#")]
    assert tokens == ["word1", "Type1word4", "word3"]


FORMS = {
    b'{"id": "a", "tokens": ["In", "Rome"]}': ["In", "Rome"],
    b'[{"text": "In Rome"}]': ["In", "Rome"],
    b'{"data": {"text": "In Rome"}}': ["In", "Rome"],
    b"id,text\na,In Rome\n": ["In", "Rome"],
    b"In B-X\nRome O\n": ["In", "Rome"],
    b"In Rome": ["In", "Rome"],
}


@pytest.mark.parametrize(("content", "tokens"), FORMS.items())
def test_new_texts_come_in_many_forms(content: bytes, tokens: list[str]) -> None:
    assert [text.tokens for text in read_plain_texts(content).texts] == [tokens]


@pytest.mark.parametrize("content", [b"  \n", b'{"words": 1}'])
def test_a_file_without_texts_is_refused_in_a_sentence(content: bytes) -> None:
    with pytest.raises(DataError):
        read_plain_texts(content)


def test_what_is_learnt_is_read_back_whole(folder: Path) -> None:
    tagger = Classifier.load(folder / FILE)
    assert tagger.tags_texts
    tagged = tagger.tag([("a", ["word1", "Type1word4"]), ("b", ["word1"])])
    assert tagged.posterior.shape == (3, len(tagger.classes))
    assert tagged.posterior.sum(1) == pytest.approx(1)
