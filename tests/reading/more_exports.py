"""More small files as platforms and people write them: variants that once were misread."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.reading.exports import (
    CLASSES,
    N_WORKERS,
    Export,
    answers,
    by_item,
    lines,
    per_worker,
    zipped,
)

PEOPLE = ("kim", "lee", "max")


def csv_of(rows: list[list[Any]], delimiter: str = ",") -> bytes:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def parquet_of(records: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), stream)
    return stream.getvalue()


def full_answers() -> list[list[str]]:
    """Answers of three people to thirty items, right four times of five."""
    rng = random.Random(5)
    truths = [rng.choice(CLASSES) for _ in range(30)]
    return [[t if rng.random() < 0.8 else rng.choice(CLASSES) for _ in PEOPLE] for t in truths]


def mood(at: int) -> str:
    return ("calm", "wild")[at % 3 == 0]


def _label_studio(row: list[str], item: int, at: int) -> dict[str, Any]:
    choice = {"type": "choices", "from_name": "animal", "value": {"choices": [row[at]]}}
    return {
        "id": item,
        "data": {"text": f"a text {item}"},
        "annotations": [{"id": item, "completed_by": 1, "lead_time": 3.1, "result": [choice]}],
    }


NESTED: dict[str, Export] = {
    "Argilla, version 1 in Parquet with two questions": Export(
        name="train.parquet",
        content=parquet_of(
            [
                {
                    "text": f"a text of number {item}",
                    "animal": [
                        {"user_id": w, "value": label, "status": "submitted"}
                        for w, label in labels.items()
                    ],
                    "mood": [
                        {"user_id": w, "value": mood(item + at), "status": "submitted"}
                        for at, w in enumerate(labels)
                    ],
                }
                for item, labels in by_item().items()
            ]
        ),
        item="text",
        worker="user_id",
        label="animal",
    ),
    "Argilla, records of version 2": Export(
        name="records.json",
        content=json.dumps(
            [
                {
                    "id": f"r{item}",
                    "fields": {"text": f"a text {item}"},
                    "metadata": {},
                    "responses": {
                        "animal": [{"value": v, "user_id": w} for w, v in labels.items()]
                    },
                }
                for item, labels in by_item().items()
            ]
        ).encode(),
        item="id",
        worker="user_id",
        label="animal",
    ),
    "Toloka's API": Export(
        name="assignments.json",
        content=json.dumps(
            [
                {
                    "id": f"as{w}-{item}",
                    "user_id": w,
                    "status": "ACCEPTED",
                    "created": "2024-02-01T10:00:00.1",
                    "tasks": [{"id": f"t{item}", "input_values": {"image": f"{item}.jpg"}}],
                    "solutions": [{"output_values": {"result": label}}],
                }
                for item, labels in by_item().items()
                for w, label in labels.items()
            ]
        ).encode(),
        item="ASSIGNMENT:task_id",
        worker="ASSIGNMENT:worker_id",
        label="OUTPUT:result",
    ),
    "Potato, a user's state": Export(
        name="output.zip",
        content=zipped(
            {
                f"annotation_output/{who}/user_state.json": json.dumps(
                    {
                        "user_id": who,
                        "instance_id_to_label_to_value": {
                            str(item): [[{"schema": "animal", "name": label}, "true"]]
                            for item, label in given
                        },
                    }
                ).encode()
                for who, given in per_worker(lambda item, label: (item, label)).items()
            }
        ),
        item="instance_id",
        worker="user_id",
        label="animal",
    ),
    "Potato, one user's state": Export(
        name="user_state.json",
        content=json.dumps(
            [
                {
                    "user_id": f"ann{w}",
                    "instance_id_to_label_to_value": {
                        str(i): {"animal": {label: True}} for i, v, label in answers() if v == w
                    },
                }
                for w in range(N_WORKERS)
            ]
        ).encode(),
        item="instance_id",
        worker="user_id",
        label="animal",
    ),
    "Labelbox, the older JSON": Export(
        name="export.json",
        content=json.dumps(
            [
                {
                    "ID": f"l{i}-{w}",
                    "External ID": f"{i}.jpg",
                    "Labeled Data": f"https://x/{i}.jpg",
                    "Created By": f"u{w}@x.org",
                    "Created At": "2024-01-01T10:00:00Z",
                    "Seconds to Label": 4.2,
                    "Label": {
                        "objects": [],
                        "classifications": [{"title": "animal", "answer": {"title": label}}],
                    },
                }
                for i, w, label in answers()
            ]
        ).encode(),
        item="data_row",
        worker="created_by",
        label="animal",
    ),
    "Labelbox, the older CSV": Export(
        name="export.csv",
        content=csv_of(
            [["ID", "External ID", "Labeled Data", "Label", "Created By", "Agreement"]]
            + [
                [
                    f"l{i}-{w}",
                    f"{i}.jpg",
                    f"https://x/{i}.jpg",
                    json.dumps({"animal": label}),
                    f"u{w}@x.org",
                    -1,
                ]
                for i, w, label in answers()
            ]
        ),
        item="data_row",
        worker="created_by",
        label="animal",
    ),
    "Label Studio, pairwise": Export(
        name="tasks.json",
        content=json.dumps(
            [
                {
                    "id": item,
                    "data": {"left": "a", "right": "b"},
                    "annotations": [
                        {
                            "completed_by": w,
                            "result": [
                                {
                                    "type": "pairwise",
                                    "from_name": "better",
                                    "value": {"selected": "right" if label == "dog" else "left"},
                                }
                            ],
                        }
                        for w, label in labels.items()
                    ],
                }
                for item, labels in by_item().items()
            ]
        ).encode(),
        item="id",
        worker="annotator",
        label="better",
        kind="comparisons",
        counts="30/6/90/2",
    ),
    "Label Studio, JSON-MIN with several choices": Export(
        name="min.json",
        content=json.dumps(
            [
                {
                    "id": i,
                    "animals": {"choices": [label, "bird"]} if (i + w) % 2 else label,
                    "annotator": w,
                    "annotation_id": n,
                    "lead_time": 3.1,
                }
                for n, (i, w, label) in enumerate(answers())
            ]
        ).encode(),
        item="id",
        worker="annotator",
        label="animals",
        kind="sets",
        counts="30/6/90/6",
    ),
    "Label Studio, a file per annotator from one account": Export(
        name="exports.zip",
        content=zipped(
            {
                f"{who}.json": json.dumps(
                    [_label_studio(row, item, at) for item, row in enumerate(full_answers())]
                ).encode()
                for at, who in enumerate(PEOPLE)
            }
        ),
        item="id",
        worker="annotator",
        label="animal",
        counts="30/3/90/3",
    ),
    "Prodigy, a file per annotator without a session": Export(
        name="prodigy.zip",
        content=zipped(
            {
                f"{who}.jsonl": lines(
                    [
                        {
                            "text": f"text {item}",
                            "_input_hash": -item,
                            "_task_hash": item,
                            "_session_id": None,
                            "accept": [row[at]],
                            "answer": "accept",
                        }
                        for item, row in enumerate(full_answers())
                    ]
                )
                for at, who in enumerate(PEOPLE)
            }
        ),
        item="_input_hash",
        worker="annotator",
        label="accept",
        counts="30/3/90/3",
    ),
    "assignments by task": Export(
        name="assignments.json",
        content=json.dumps(
            {
                f"H{item}": [{"WorkerId": w, "answer": v} for w, v in labels.items()]
                for item, labels in by_item().items()
            }
        ).encode(),
        item="key",
        worker="WorkerId",
        label="answer",
    ),
    "records by key with lists of annotators": Export(
        name="dataset.json",
        content=json.dumps(
            {
                f"{item}_gab": {
                    "post_tokens": ["a", "text"],
                    "annotators": [
                        {"label": label, "annotator_id": w} for w, label in labels.items()
                    ],
                }
                for item, labels in by_item().items()
            }
        ).encode(),
        item="key",
        worker="annotator_id",
        label="label",
    ),
    "annotators that are objects": Export(
        name="export.json",
        content=json.dumps(
            {
                "project": "pets",
                "items": [
                    {
                        "itemId": f"it{item}",
                        "annotations": [
                            {"annotator": {"id": w, "name": w}, "answer": {"animal": label}}
                            for w, label in labels.items()
                        ],
                    }
                    for item, labels in by_item().items()
                ],
            }
        ).encode(),
        item="itemId",
        worker="annotator.id",
        label="answer.animal",
    ),
    "answers by worker": Export(
        name="answers.json",
        content=json.dumps(
            {
                w: {f"x{item}": label for item, label in given}
                for w, given in per_worker(lambda item, label: (item, label)).items()
            }
        ).encode(),
        item="item",
        worker="worker",
        label="label",
    ),
}
