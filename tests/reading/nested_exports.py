"""Small files in the form of platforms that nest labels in JSON, or pack files together."""

from __future__ import annotations

import json
from typing import Any

from tests.reading.exports import (
    CLASSES,
    PER_ITEM,
    Export,
    answers,
    by_item,
    lines,
    per_worker,
    zipped,
)


def _xml(label: str) -> str:
    return (
        '<?xml version="1.0"?><QuestionFormAnswers xmlns="http://x/QuestionFormAnswers.xsd">'
        f"<Answer><QuestionIdentifier>animal</QuestionIdentifier><FreeText>{label}</FreeText>"
        "</Answer></QuestionFormAnswers>"
    )


def _label_studio() -> list[Any]:
    return [
        {
            "id": item,
            "data": {"text": f"text {item}"},
            "annotations": [
                {
                    "id": 100 * item + n,
                    "completed_by": {"id": n, "email": f"{who}@x.org"},
                    "was_cancelled": False,
                    "ground_truth": False,
                    "lead_time": 4.5,
                    "created_at": "2024-03-09T22:16:08Z",
                    "updated_at": "2024-03-09T22:16:08Z",
                    "result": [
                        {
                            "from_name": "animal",
                            "to_name": "text",
                            "type": "choices",
                            "value": {"choices": [label]},
                        }
                    ],
                }
                for n, (who, label) in enumerate(labels.items())
            ],
        }
        for item, labels in by_item().items()
    ]


def _labelbox() -> list[Any]:
    return [
        {
            "data_row": {"id": f"dr{item}", "global_key": f"{item}.jpg", "row_data": "https://x/1"},
            "projects": {
                "p1": {
                    "labels": [
                        {
                            "id": f"l{item}{who}",
                            "label_details": {
                                "created_by": f"{who}@x.org",
                                "created_at": "2024-04-08T16:21:26Z",
                            },
                            "performance_details": {"seconds_to_create": 12, "skipped": False},
                            "annotations": {
                                "objects": [],
                                "classifications": [
                                    {"name": "animal", "radio_answer": {"name": label}}
                                ],
                            },
                        }
                        for who, label in labels.items()
                    ]
                }
            },
        }
        for item, labels in by_item().items()
    ]


NESTED: dict[str, Export] = {
    "Mechanical Turk's API": Export(
        name="assignments.json",
        content=json.dumps(
            {
                "Assignments": [
                    {
                        "AssignmentId": f"A{n}",
                        "WorkerId": f"W{w}",
                        "HITId": f"H{i}",
                        "AssignmentStatus": "Submitted",
                        "Answer": _xml(label),
                    }
                    for n, (i, w, label) in enumerate(answers())
                ]
            }
        ).encode(),
        item="HITId",
        worker="WorkerId",
        label="Answer.animal",
    ),
    "CrowdFlower's JSON": Export(
        name="job.json",
        content=lines(
            [
                {
                    "id": item,
                    "data": {"text": f"text {item}"},
                    "judgments_count": PER_ITEM,
                    "results": {
                        "judgments": [
                            {
                                "id": 10 * item + n,
                                "unit_id": item,
                                "worker_id": who,
                                "trust": 0.9,
                                "country": "USA",
                                "data": {"animal": label},
                            }
                            for n, (who, label) in enumerate(labels.items())
                        ]
                    },
                }
                for item, labels in by_item().items()
            ]
        ),
        item="unit_id",
        worker="worker_id",
        label="data.animal",
    ),
    "Label Studio's JSON": Export(
        name="project-1.json",
        content=json.dumps(_label_studio()).encode(),
        item="id",
        worker="annotator",
        label="animal",
    ),
    "Prodigy": Export(
        name="annotations.jsonl",
        content=lines(
            [
                {
                    "text": f"text {i}",
                    "_input_hash": 1000 + i,
                    "_task_hash": n,
                    "options": [{"id": name, "text": name} for name in CLASSES],
                    "_view_id": "choice",
                    "accept": [label],
                    "answer": "accept",
                    "_timestamp": 1707211049 + n,
                    "_annotator_id": f"pets-ann{w}",
                    "_session_id": f"pets-ann{w}",
                }
                for n, (i, w, label) in enumerate(answers())
            ]
        ),
        item="_input_hash",
        worker="_annotator_id",
        label="accept",
    ),
    "doccano, a file per member": Export(
        name="doccano.zip",
        content=zipped(
            {
                f"{who}.jsonl": lines(records)
                for who, records in per_worker(
                    lambda item, label: {
                        "id": item,
                        "text": f"a text {item}",
                        "label": [label],
                        "Comments": [],
                    }
                ).items()
            }
        ),
        item="id",
        worker="annotator",
        label="label",
    ),
    "doccano, together": Export(
        name="all.jsonl",
        content=lines(
            [{"id": i, "text": f"a text {i}", "label": ["cat"], "Comments": []} for i in range(30)]
        ),
        refused="annotators",
    ),
    "Argilla": Export(
        name="records.jsonl",
        content=lines(
            [
                {
                    "id": f"r{item}",
                    "status": "completed",
                    "text": f"text {item}",
                    "animal.responses": list(labels.values()),
                    "animal.responses.users": list(labels),
                    "animal.responses.status": ["submitted"] * len(labels),
                    "animal.suggestion": "cat",
                }
                for item, labels in by_item().items()
            ]
        ),
        item="id",
        worker="user_id",
        label="animal",
    ),
    "Labelbox": Export(
        name="export.ndjson",
        content=lines(_labelbox()),
        item="data_row",
        worker="created_by",
        label="animal",
    ),
    "SageMaker, worker responses": Export(
        name="worker-response.zip",
        content=zipped(
            {
                f"worker-response/iteration-1/{item}/2024-10-18_22-10-00.json": json.dumps(
                    {
                        "answers": [
                            {
                                "acceptanceTime": "2024-10-18T22:10:00Z",
                                "answerContent": {"crowd-image-classifier": {"label": label}},
                                "submissionTime": "2024-10-18T22:10:06Z",
                                "timeSpentInSeconds": 5.9,
                                "workerId": who,
                            }
                            for who, label in labels.items()
                        ]
                    }
                ).encode()
                for item, labels in by_item().items()
            }
        ),
        item="file",
        worker="workerId",
        label="answerContent.crowd-image-classifier.label",
    ),
    "SageMaker, the manifest": Export(
        name="output.manifest",
        content=lines(
            [
                {
                    "source-ref": f"s3://b/{i}.jpg",
                    "pets": 1,
                    "pets-metadata": {
                        "class-name": "cat",
                        "confidence": 0.9,
                        "human-annotated": "yes",
                    },
                }
                for i in range(20)
            ]
        ),
        refused="SageMaker",
    ),
    "CVAT, a file per replica": Export(
        name="replicas.zip",
        content=zipped(
            {
                f"{who}.xml": (
                    "<?xml version='1.0'?><annotations><version>1.1</version><meta><job>"
                    f"<assignee><username>{who}</username></assignee></job></meta>"
                    + "".join(tags)
                    + "</annotations>"
                ).encode()
                for who, tags in per_worker(
                    lambda item, label: (
                        f'<image id="{item}" name="{item}.jpg"><tag label="{label}"/></image>'
                    )
                ).items()
            }
        ),
        item="image",
        worker="annotator",
        label="label",
    ),
    "Potato": Export(
        name="annotated_instances.jsonl",
        content=lines(
            [
                {
                    "user": f"u{w}",
                    "instance_id": f"i{i}",
                    "schema": "animal",
                    "label": label,
                    "displayed_text": f"a text {i}",
                }
                for i, w, label in answers()
            ]
        ),
        item="instance_id",
        worker="user",
        label="label",
    ),
    "comma lists": Export(
        name="dataset.json",
        content=json.dumps(
            {
                str(item): {
                    "text": f"text {item}",
                    "annotation task": "animals",
                    "number of annotations": len(labels),
                    "annotations": ",".join(labels.values()),
                    "annotators": ",".join(labels),
                    "soft_label": {"cat": 0.5, "dog": 0.5},
                    "split": "train",
                }
                for item, labels in by_item().items()
            }
        ).encode(),
        item="key",
        worker="annotators",
        label="annotations",
    ),
    "lists of user and label": Export(
        name="data.jsonl",
        content=lines(
            [
                {
                    "id": f"x{item}",
                    "text": f"text {item}",
                    "annotations": [{"user": w, "label": label} for w, label in labels.items()],
                }
                for item, labels in by_item().items()
            ]
        ),
        item="id",
        worker="user",
        label="label",
    ),
    "peerannot": Export(
        name="answers.json",
        content=json.dumps({str(item): labels for item, labels in by_item().items()}).encode(),
        item="item",
        worker="worker",
        label="label",
    ),
}
