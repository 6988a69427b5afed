"""Spans as files for other tools."""

from __future__ import annotations

import json
from functools import cache

from crowdcore.export.spans import to_conll, to_jsonl, to_label_studio, to_spacy
from crowdcore.reading.sequences.read import read_texts
from crowdcore.registry import fit
from crowdcore.results.result import Result

TEXT = "Anna  Bell, saw Rome."
SPANS = [[0, 10, "PER"], [16, 20, "LOC"]]


@cache
def result() -> Result:
    lines = [
        json.dumps({"text": TEXT, "id": "t", "annotator": worker, "label": SPANS})
        for worker in ("ann", "bob", "cat")
    ]
    return fit(read_texts("\n".join(lines).encode()), "token_mv")


def test_spans_come_back_at_their_characters() -> None:
    entry = json.loads(to_spacy(result()))
    assert entry["text"] == TEXT
    assert entry["entities"] == SPANS
    task = json.loads(to_label_studio(result()))[0]
    values = [entry["value"] for entry in task["predictions"][0]["result"]]
    assert [(v["start"], v["end"], v["labels"][0]) for v in values] == [tuple(s) for s in SPANS]
    assert [v["text"] for v in values] == ["Anna  Bell", "Rome"]


def test_written_json_lines_are_read_again_with_the_same_annotations() -> None:
    again = read_texts(to_jsonl(result()).encode())
    data = result().data
    assert again.classes == data.classes
    assert again.label.tolist() == data.label.tolist()
    record = json.loads(to_jsonl(result()))
    assert record["inferred"] == ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]
    assert record["spans"][0]["confidence"] == 1.0


def test_conll_has_a_token_per_line() -> None:
    lines = to_conll(result()).splitlines()
    assert lines[:3] == ["# id = t", "Anna\tB-PER\t1.0000", "Bell\tI-PER\t1.0000"]
