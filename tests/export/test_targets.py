"""Files for other tools: opened by those tools, and held to their documented forms."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdcore import CrowdData, DataError, fit
from crowdcore.building import comparisons_of, sets_of
from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import (
    checked_files,
    download_name,
    find_obstacle,
    get_target,
    targets,
    write_download,
    write_files,
)
from crowdcore.reading import Cleaning, read_labels
from tests.export.finished import APPEN, LONG, MTURK, TOLOKA, finished


def export(target: str, run: FinishedRun, folder: Path) -> dict[str, Path]:
    paths = write_files(checked_files(get_target(target), run), folder)
    return {path.name: path for path in paths}


def table(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    text = path.read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ask(tool: str, code: str, *arguments: Path) -> Any:
    """Let another tool open a file in a process of its own, which prints JSON."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    command = [sys.executable, "-c", f"import json, sys\n{code}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_every_target_says_what_it_writes_and_the_given_file_comes_first() -> None:
    assert next(iter(targets())) == "same"
    assert {"mturk", "toloka", "appen", "labelstudio", "prodigy", "doccano", "spacy", "conll",
            "huggingface", "long", "wide", "xlsx"} <= set(targets())  # fmt: skip
    for name, target in targets().items():
        assert target.id == name
        assert target.contents.endswith(".")
    with pytest.raises(DataError, match="There is no export called 'word'"):
        get_target("word")


@pytest.mark.parametrize("target", sorted(targets()))
def test_a_run_is_written_or_refused_in_a_sentence(target: str, tmp_path: Path) -> None:
    run = finished(LONG)
    if problem := find_obstacle(get_target(target), run):
        assert problem.endswith(".")
        with pytest.raises(DataError, match="cannot be exported"):
            checked_files(get_target(target), run)
        return
    files = checked_files(get_target(target), run)
    path = tmp_path / download_name(files, "pets")
    write_download(files, path)
    assert path.stat().st_size > 0
    assert path.suffix == ".zip" or len(files) == 1
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


def test_mturk_rejects_the_excluded_alone_and_leaves_reviewed_work(tmp_path: Path) -> None:
    run = finished(MTURK, "Batch_1.csv", excluded={"W3": "Answers at random."})
    files = export("mturk", run, tmp_path)
    rows = {row["AssignmentId"]: row for row in table(files["Batch_1-reviewed.csv"])}
    assert {name: row["Approve"] for name, row in rows.items()} == {
        "a1": "x", "a2": "x", "a3": "", "a4": "", "a5": "x", "a6": "",
    }  # fmt: skip
    assert [name for name, row in rows.items() if row["Reject"]] == ["a3", "a6"]
    assert rows["a3"]["Reject"].startswith("Answers at random.")
    assert list(rows["a1"]) == next(csv.reader([MTURK.decode().splitlines()[0]]))
    blocks = {row["Worker ID"]: row for row in table(files["workers.csv"])}
    assert [name for name, row in blocks.items() if row["UPDATE BlockStatus"]] == ["W3"]
    assert blocks["W3"]["BlockReason"].startswith("Answers at random.")
    accuracy = dict(zip(run.workers["worker"], run.workers["accuracy"], strict=True))
    assert int(blocks["W1"]["UPDATE-crowdcore"]) == round(100 * accuracy["W1"])
    bonus = {row["WorkerId"] for row in table(files["bonus.csv"])}
    assert "W3" not in bonus


def test_nobody_is_rejected_unless_somebody_decided_so(tmp_path: Path) -> None:
    files = export("mturk", finished(MTURK, "Batch_1.csv"), tmp_path)
    assert not any(row["Reject"] for row in table(files["Batch_1-reviewed.csv"]))
    verdicts = export("toloka", finished(TOLOKA, "a.tsv"), tmp_path)["assignments-review.tsv"]
    assert {row["ACCEPT:verdict"] for row in table(verdicts, "\t")} == {"+"}


def test_toloka_gets_a_verdict_per_open_assignment_and_the_aggregate(tmp_path: Path) -> None:
    run = finished(TOLOKA, "assignments.tsv", excluded={"w2": ""})
    files = export("toloka", run, tmp_path)
    verdicts = table(files["assignments-review.tsv"], "\t")
    assert [(row["ASSIGNMENT:assignment_id"], row["ACCEPT:verdict"]) for row in verdicts] == [
        ("s1", "+"), ("s2", "-"),
    ]  # fmt: skip
    assert verdicts[1]["ACCEPT:comment"]
    aggregated = table(files["aggregated.tsv"], "\t")
    assert aggregated == [
        {"INPUT:image": "1.jpg", "OUTPUT:result": "cat", "CONFIDENCE:result": "66.67%"},
        {"INPUT:image": "2.jpg", "OUTPUT:result": "dog", "CONFIDENCE:result": "66.67%"},
    ]


def test_appen_gets_an_aggregated_report(tmp_path: Path) -> None:
    run = finished(APPEN, roles={"label": "animal"}, excluded={"13": "no"})
    (path,) = export("appen", run, tmp_path).values()
    first, second = table(path)
    assert first["_unit_id"] == "7"
    assert (first["animal"], float(first["animal:confidence"])) == ("cat", 0.6667)
    assert (first["_trusted_judgments"], second["_trusted_judgments"]) == ("2", "2")
    assert (first["_golden"], second["_golden"]) == ("false", "true")
    assert first["_last_judgment_at"] == "02/25/2015 05:26:10"


def check_label_studio(tasks: list[dict[str, Any]], interface: str) -> None:
    """Hold tasks to the documented form, by the names of their labelling interface."""
    (choices,) = ET.fromstring(interface).iter("Choices")
    shown = next(node for node in ET.fromstring(interface) if node.tag in ("Text", "Image"))
    allowed = {choice.attrib["value"] for choice in choices.iter("Choice")}
    assert choices.attrib["toName"] == shown.attrib["name"]
    for task in tasks:
        assert shown.attrib["value"].removeprefix("$") in task["data"]
        for made in [*task.get("predictions", []), *task.get("annotations", [])]:
            for part in made["result"]:
                assert part["from_name"] == choices.attrib["name"]
                assert part["to_name"] == choices.attrib["toName"]
                assert part["type"] == "choices"
                assert set(part["value"]["choices"]) <= allowed


def test_label_studio_gets_tasks_with_predictions_and_ground_truth(tmp_path: Path) -> None:
    files = export("labelstudio", finished(LONG), tmp_path)
    predictions = json.loads(files["predictions.json"].read_text())
    interface = files["interface.xml"].read_text()
    check_label_studio(predictions, interface)
    assert predictions[0]["data"] == {"item": "t1", "text": "a, b"}
    (made,) = predictions[0]["predictions"]
    assert made["score"] == pytest.approx(2 / 3)
    assert made["model_version"].endswith(" mv")
    assert made["result"][0]["value"] == {"choices": ["cat"]}
    truths = json.loads(files["ground-truth.json"].read_text())
    check_label_studio(truths, interface)
    assert truths[1]["annotations"][0]["ground_truth"] is True


def test_texts_go_to_prodigy_doccano_and_spacy(tmp_path: Path) -> None:
    run = finished(LONG)
    first = lines(export("prodigy", run, tmp_path)["pets-prodigy.jsonl"])[0]
    assert (first["text"], first["accept"], first["answer"]) == ("a, b", ["cat"], "accept")
    assert [option["id"] for option in first["options"]] == ["cat", "dog"]
    first = lines(export("doccano", run, tmp_path)["pets-doccano.jsonl"])[0]
    assert (first["text"], first["label"], first["item"]) == ("a, b", ["cat"], "t1")
    soft = lines(export("spacy", run, tmp_path)["textcat-soft.jsonl"])[0]
    assert soft["cats"] == {"cat": pytest.approx(2 / 3), "dog": pytest.approx(1 / 3)}


def test_spacy_makes_training_examples_of_its_lines(tmp_path: Path) -> None:
    path = export("spacy", finished(LONG), tmp_path)["textcat.jsonl"]
    code = """
import spacy, srsly
from spacy.training import Example
nlp = spacy.blank("xx")
made = [Example.from_dict(nlp.make_doc(r["text"]), {"cats": r["cats"]})
        for r in srsly.read_jsonl(sys.argv[1])]
nlp.add_pipe("textcat").initialize(lambda: made, nlp=nlp)
print(json.dumps([example.reference.cats for example in made]))
"""
    cats = ask("spacy", code, path)
    assert cats[0] == {"cat": 1.0, "dog": 0.0}
    assert len(cats) == 3


TAGS = "# id = 1\nBob\tB-PER\t0.9\nsaw\tO\t1.0\nAnn\tB-PER\t0.8\n\n# id = 2\nYes\tO\t1.0\n\n"


def tokens() -> FinishedRun:
    data = CrowdData(
        item=np.arange(4),
        worker=np.zeros(4, int),
        label=np.array([1, 0, 1, 0]),
        items=("1", "2", "3", "4"),
        workers=("w",),
        classes=("O", "B-PER"),
        kind="sequences",
        offsets=np.array([0, 3, 4]),
        details={"token": ("Bob", "saw", "Ann", "Yes")},
    )
    frame = pd.DataFrame({"item": ["1", "2"], "truth": ["PER Bob; PER Ann", ""]})
    return FinishedRun(name="s", data=data, truths=frame, workers=pd.DataFrame(),
                       provenance={"method": "bsc"},
                       span_files={"tags.conll": lambda: TAGS})  # fmt: skip


def test_tools_without_spans_say_where_texts_go() -> None:
    for id, target in targets().items():
        problem = find_obstacle(target, tokens())
        if id in ("conll", "spacy", "labelstudio"):
            assert not problem
        else:
            assert problem.endswith("Tools that take them: Label Studio, spaCy, CoNLL.")


def test_sequences_go_to_conll_which_spacy_converts(tmp_path: Path) -> None:
    path = export("conll", tokens(), tmp_path)["s.conll"]
    assert path.read_text() == ("Bob -X- _ B-PER\nsaw -X- _ O\nAnn -X- _ B-PER\n\nYes -X- _ O\n\n")
    code = """
from spacy.training.converters import conll_ner_to_docs
docs = list(conll_ner_to_docs(open(sys.argv[1]).read(), no_print=True))
print(json.dumps([[entity.text, entity.label_] for doc in docs for entity in doc.ents]))
"""
    assert ask("spacy", code, path) == [["Bob", "PER"], ["Ann", "PER"]]


def test_hugging_face_loads_classes_soft_labels_and_annotators(tmp_path: Path) -> None:
    files = export("huggingface", finished(LONG, excluded={"cyd": "no"}), tmp_path / "set")
    card = files["README.md"].read_text()
    assert card.startswith("---\npretty_name:")
    assert "1 excluded worker" in card
    code = """
import os
os.environ["HF_HUB_OFFLINE"] = "1"
from datasets import load_dataset
data = load_dataset(sys.argv[1], split="train", cache_dir=sys.argv[2])
print(json.dumps([data.features["label"].names, data[0]]))
"""
    names, first = ask("datasets", code, tmp_path / "set", tmp_path / "cache")
    assert names == ["cat", "dog"]
    assert first["label"] == 0
    assert first["soft_label"] == pytest.approx([2 / 3, 1 / 3])
    assert (first["annotators"], first["annotations"]) == (["ann", "bob"], [0, 0])
    assert first["text"] == "a, b"


def test_crowd_kit_and_pandas_take_the_long_table(tmp_path: Path) -> None:
    files = export("long", finished(LONG), tmp_path)
    code = """
import pandas as pd
from crowdkit.aggregation import MajorityVote
print(json.dumps(MajorityVote().fit_predict(pd.read_csv(sys.argv[1])).to_dict()))
"""
    votes = ask("crowdkit", code, files["pets-labels.csv"])
    truths = pd.read_csv(files["pets-truths.csv"]).set_index("task")["label"].to_dict()
    assert votes == truths == {"t1": "cat", "t2": "dog", "t3": "cat"}


def test_the_wide_table_has_a_column_per_worker_who_is_not_excluded(tmp_path: Path) -> None:
    files = export("wide", finished(LONG, excluded={"bob": ""}), tmp_path)
    frame = pd.read_csv(files["pets-wide.csv"], keep_default_na=False)
    assert list(frame) == ["item", "ann", "cyd", "truth", "confidence"]
    assert frame["cyd"].tolist() == ["dog", "", ""]


def test_a_workbook_holds_texts_and_no_formula(tmp_path: Path) -> None:
    content = b"task,worker,label\n=1+1,007,=HYPERLINK(1)\n=1+1,w2,=HYPERLINK(1)\nt2,w2,1e5\n"
    path = export("xlsx", finished(content), tmp_path)["pets.xlsx"]
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["truths", "workers", "labels", "report"]
    cells = [cell for row in book["labels"].iter_rows(min_row=2) for cell in row]
    assert {cell.data_type for cell in cells} == {"s", "b"}
    assert [cell.value for cell in book["labels"][2]][:3] == ["=1+1", "007", "=HYPERLINK(1)"]
    truths = pd.read_excel(path, sheet_name="truths", engine="openpyxl")
    assert truths["truth"].tolist() == ["=HYPERLINK(1)", "1e5"]
    assert truths["confidence"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("target", "name"), [("same", "labels-with-truths.csv"), ("long", "pets-labels.csv"),
                         ("wide", "pets-wide.csv")],
)  # fmt: skip
def test_what_we_wrote_opens_again_without_a_question(
    target: str, name: str, tmp_path: Path
) -> None:
    content = "task,worker,label\n" + "".join(
        f"t{item},w{worker},{'ab'[(item + (worker == 2)) % 2]}\n"
        for item in range(8)
        for worker in range(4)
    )
    run = finished(content.encode())
    again = read_labels(export(target, run, tmp_path)[name])
    assert (again.n_labels, again.n_items, again.n_workers) == (32, 8, 4)
    assert (again.classes, again.n_gold) == (("a", "b"), 0)
    assert again.report.finding("roles").count == 0


def test_without_the_file_what_needs_it_is_refused_with_the_reason(tmp_path: Path) -> None:
    run = finished(LONG, cleaning=Cleaning(pseudonyms=True))
    for target in ("same", "mturk", "toloka", "appen"):
        with pytest.raises(DataError, match=r"pseudonyms|has no column"):
            checked_files(get_target(target), run)
    export("long", run, tmp_path)


def of_kind(data: CrowdData, method: str) -> FinishedRun:
    result = fit(data, method)
    return FinishedRun(name="k", data=data, truths=result.truths(), workers=pd.DataFrame(),
                       provenance={"method": method})  # fmt: skip


def test_sets_are_written_as_lists_in_every_table(tmp_path: Path) -> None:
    run = of_kind(sets_of([("a", "w", ["x", "y"]), ("a", "v", ["y"]), ("b", "w", [])]), "mv")
    wide = table(export("wide", run, tmp_path)["k-wide.csv"])
    assert [row["w"] for row in wide] == ['["x", "y"]', "[]"]
    sheet = pd.read_excel(export("xlsx", run, tmp_path)["k.xlsx"], "labels", engine="calamine")
    assert sheet["label"].tolist() == ['["x", "y"]', '["y"]', "[]"]


def test_comparisons_keep_both_items_in_every_table(tmp_path: Path) -> None:
    rows = [("a", "b", "w", "left"), ("c", "b", "w", "right"), ("a", "c", "v", "tie")]
    run = of_kind(comparisons_of(rows), "bradley_terry")
    long = table(export("long", run, tmp_path)["k-labels.csv"])
    assert [(row["left"], row["right"]) for row in long] == [(row[0], row[1]) for row in rows]
    sheet = pd.read_excel(export("xlsx", run, tmp_path)["k.xlsx"], "labels", engine="calamine")
    assert sheet.columns.tolist() == ["left", "right", "worker", "label"]
