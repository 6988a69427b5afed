"""Small files in the form of each platform and tool, made up; each with what is in it."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import xlsxwriter

CLASSES = ("cat", "dog", "cow")
N_ITEMS, N_WORKERS, PER_ITEM = 30, 6, 3


@dataclass(frozen=True, kw_only=True)
class Export:
    """A file, and what a right reading of it is.

    Parameters
    ----------
    name, content
        The file.
    item, worker, label
        The columns of a right reading; None where the file is to be refused.
    kind
        What the answers are.
    refused
        A word of the refusal.
    counts
        Items, workers, labels and classes of a right reading.
    """

    name: str
    content: bytes
    item: str | None = None
    worker: str | None = None
    label: str | None = None
    kind: str = "classes"
    refused: str = ""
    counts: str = "30/6/90/3"


def answers() -> list[tuple[int, int, str]]:
    """Answers of a crowd that is right four times of five."""
    rng = random.Random(11)
    truths = [rng.choice(CLASSES) for _ in range(N_ITEMS)]
    return [
        (item, worker, truth if rng.random() < 0.8 else rng.choice(CLASSES))
        for item, truth in enumerate(truths)
        for worker in rng.sample(range(N_WORKERS), PER_ITEM)
    ]


def by_item() -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for item, worker, label in answers():
        found.setdefault(item, {})[f"ann{worker}"] = label
    return found


def table(header: str, row: Callable[[int, int, str, int], str]) -> bytes:
    lines = [row(i, w, label, n) for n, (i, w, label) in enumerate(answers())]
    return "\n".join([header, *lines, ""]).encode()


def lines(records: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, records)).encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def workbook(sheets: Mapping[str, list[list[Any]]]) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
    return stream.getvalue()


def per_worker(line: Callable[[int, str], Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {f"ann{worker}": [] for worker in range(N_WORKERS)}
    for item, worker, label in answers():
        found[f"ann{worker}"].append(line(item, label))
    return found


TABLES: dict[str, Export] = {
    "Mechanical Turk, not reviewed": Export(
        name="Batch_1_batch_results.csv",
        content=table(
            '"HITId","AssignmentId","WorkerId","AssignmentStatus","SubmitTime",'
            '"WorkTimeInSeconds","Input.text","Answer.animal.label","Answer.comment","Approve",'
            '"Reject"',
            lambda i, w, label, n: (
                f'"H{i}","A{n}","W{w}","Submitted","Wed Jan 24 09:48:31 PST 2024","{5 + n % 30}",'
                f'"a text {i}","{label}",""'
            ),
        ),
        item="HITId",
        worker="WorkerId",
        label="Answer.animal.label",
    ),
    "Toloka": Export(
        name="assignments.tsv",
        content=table(
            "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:assignment_id\t"
            "ASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:started",
            lambda i, w, label, n: (
                f"http://x/{i}.jpg\t{label}\t\ts{n}\tw{w}\tAPPROVED\t2024-02-01T10:00:00.1"
            ),
        ),
        item="INPUT:image",
        worker="ASSIGNMENT:worker_id",
        label="OUTPUT:result",
    ),
    "Appen": Export(
        name="f1.csv",
        content=table(
            "_unit_id,_created_at,_golden,_id,_started_at,_tainted,_channel,_trust,_worker_id,"
            "_country,animal,text,animal_gold",
            lambda i, w, label, n: (
                f"{600 + i},2/25/2015 05:24:10,false,{n},2/25/2015 05:23:50,false,neodev,0.9,"
                f"{70 + w},USA,{label},a text {i},"
            ),
        ),
        item="_unit_id",
        worker="_worker_id",
        label="animal",
    ),
    "Zooniverse, a question": Export(
        name="classifications.csv",
        content=table(
            "classification_id,user_name,user_id,user_ip,workflow_id,workflow_name,"
            "workflow_version,created_at,gold_standard,expert,metadata,annotations,subject_data,"
            "subject_ids",
            lambda i, w, label, n: (
                f'{n},vol{w},,ip{w},1,Pets,4.4,2025-01-21 16:08:41 UTC,,,"'
                '{""started_at"":""2025-01-21T16:08:31Z""}","'
                f'[{{""task"":""T0"",""value"":""{label}""}}]","{{}}",{9000 + i}'
            ),
        ),
        item="subject_ids",
        worker="user_name",
        label="T0",
    ),
    "Label Studio's CSV": Export(
        name="project-1.csv",
        content=table(
            '"animal","annotation_id","annotator","created_at","id","lead_time","text",'
            '"updated_at"',
            lambda i, w, label, n: (
                f'"{label}",{n},{w},"2024-03-09T22:16:08Z",{i},4.2,"a text {i}",'
                '"2024-03-09T22:16:08Z"'
            ),
        ),
        item="id",
        worker="annotator",
        label="animal",
    ),
    "INCEpTION": Export(
        name="agreement.csv",
        content=table(
            "position,layer,feature,annotator,label",
            lambda i, w, label, n: f"doc1:{i},custom.Span,value,ann{w},{label}",
        ),
        item="position",
        worker="annotator",
        label="label",
    ),
    "CEKA": Export(
        name="pets.response.txt",
        content="\n".join(
            f"{40 + w}\t{100 + i}\t{CLASSES.index(label)}" for i, w, label in answers()
        ).encode(),
        item="column 2",
        worker="column 1",
        label="column 3",
    ),
    "blanks between columns": Export(
        name="labels.txt",
        content="\n".join(
            ["task worker label", *(f"t{i} w{w} {label}" for i, w, label in answers())]
        ).encode(),
        item="task",
        worker="worker",
        label="label",
    ),
    "gzip": Export(
        name="labels.csv.gz",
        content=gzip.compress(
            table("task,worker,label", lambda i, w, label, n: f"t{i},w{w},{label}")
        ),
        item="task",
        worker="worker",
        label="label",
    ),
    "a workbook with a title": Export(
        name="labels.xlsx",
        content=workbook(
            {
                "Notes": [["What was done"]],
                "Labels": [
                    ["Animals, second round"],
                    [],
                    ["doc", "coder", "animal"],
                    *([f"d{i}", f"c{w}", label] for i, w, label in answers()),
                ],
            }
        ),
        item="doc",
        worker="coder",
        label="animal",
    ),
    "a sheet per annotator": Export(
        name="rounds.xlsx",
        content=workbook(
            {
                who: [["id", "animal"], *rows]
                for who, rows in per_worker(lambda item, label: [item, label]).items()
            }
        ),
        item="id",
        worker="annotator",
        label="animal",
    ),
    "vote counts": Export(
        name="votes.csv",
        content=(
            "\n".join(["doc,cat,dog,cow"] + [f"d{i},{i % 4},{3 - i % 4},2" for i in range(40)])
        ).encode(),
        refused="",
    ),
}
