"""More small tables as people write them: variants that once were misread."""

from __future__ import annotations

import json
from typing import Any

from tests.reading.exports import CLASSES, Export, answers, by_item, table, workbook, zipped
from tests.reading.more_exports import PEOPLE, csv_of, full_answers, mood, parquet_of


def _log() -> list[list[Any]]:
    rows: list[list[Any]] = []
    for n, (i, w, a) in enumerate(answers()):
        rows.append([i, w, "included", 1 if a == "cat" else -1, f"2024-01-01 10:{n % 60:02d}:00"])
        if n % 3 == 0:
            rows.append([i, w, "label_rct", 1, f"2024-01-01 11:{n % 60:02d}:00"])
    return rows


TABLES: dict[str, Export] = {
    "lists in the cells of a CSV": Export(
        name="lists.csv",
        content=csv_of(
            [["id", "text", "annotators", "labels"]]
            + [
                [i, f"a text, {i}", str(list(labels)), str(list(labels.values()))]
                for i, labels in by_item().items()
            ]
        ),
        item="id",
        worker="annotators",
        label="labels",
    ),
    "lists in Parquet": Export(
        name="lists.parquet",
        content=parquet_of(
            [
                {
                    "text": f"a text of number {i}",
                    "annotators": list(a),
                    "labels": list(a.values()),
                    "id": i,
                }
                for i, a in by_item().items()
            ]
        ),
        item="id",
        worker="annotators",
        label="labels",
    ),
    "Toloka, tasks uploaded again": Export(
        name="assignments.tsv",
        content=table(
            "INPUT:image\tOUTPUT:result\tASSIGNMENT:task_id\tASSIGNMENT:worker_id",
            lambda i, w, label, n: f"http://x/{i}.jpg\t{label}\tt{n}\tw{w}",
        ),
        item="INPUT:image",
        worker="ASSIGNMENT:worker_id",
        label="OUTPUT:result",
    ),
    "a title above the header": Export(
        name="export.csv",
        content=b"Export of the project Pets\nmade in May, by admin\n\n"
        + table("item,coder,code", lambda i, w, label, n: f"i{i},c{w},{label}"),
        item="item",
        worker="coder",
        label="code",
    ),
    "row names of R": Export(
        name="labels.txt",
        content=table(
            '"item"\t"coder"\t"code"',
            lambda i, w, label, n: f'"{n}"\t"i{i}"\t"c{w}"\t"{label}"',
        ),
        item="item",
        worker="coder",
        label="code",
    ),
    "Qualtrics with three rows of headers": Export(
        name="survey.csv",
        content=csv_of(
            [
                [
                    "RecordedDate",
                    "ResponseId",
                    "Finished",
                    "Status",
                    *(f"Q{k}" for k in range(1, 9)),
                ],
                [
                    "Recorded Date",
                    "Response ID",
                    "Finished",
                    "Response Type",
                    *(f"How true is it that cats are animals of kind {k}?" for k in range(1, 9)),
                ],
                [json.dumps({"ImportId": name}) for name in ("s", "r", "f", "t", *"abcdefgh")],
                *(
                    [
                        "2024-05-01 09:00:00",
                        f"R_{n:05d}",
                        "True",
                        "IP Address",
                        *(("Agree", "Disagree", "Neutral")[(n * k + n) % 3] for k in range(1, 9)),
                    ]
                    for n in range(25)
                ),
            ]
        ),
        item="",
        worker="ResponseId",
        kind="ratings",
        counts="8/25/200/3",
    ),
    "a readme in the zip": Export(
        name="data.zip",
        content=zipped(
            {
                "README.txt": b"These are the labels.\nHave fun.\n",
                "labels.csv": table("item,coder,code", lambda i, w, a, n: f"i{i},c{w},{a}"),
            }
        ),
        item="item",
        worker="coder",
        label="code",
    ),
    "sheets of which one has remarks": Export(
        name="coders.xlsx",
        content=workbook(
            {
                who: [
                    ["ID", "Post", "Code", *(["Remarks"] * at)],
                    *(
                        [n, f"post {n}", row[at], *(["hm"] * at)]
                        for n, row in enumerate(full_answers())
                    ),
                ]
                for at, who in enumerate(PEOPLE[:2])
            }
        ),
        item="ID",
        worker="annotator",
        label="Code",
        counts="30/2/60/3",
    ),
    "workers headed by numbers": Export(
        name="similarity.csv",
        content=csv_of(
            [["Word 1", "Word 2", "Human (mean)", *range(1, 6)]]
            + [
                [f"a{n}", f"b{n % 9}", 5.2, *((n * 3 + n * k % 3) % 11 for k in range(5))]
                for n in range(40)
            ]
        ),
        item="Word 1",
        counts="40/5/200/11",
    ),
    "lists of lists in Parquet": Export(
        name="sets.parquet",
        content=parquet_of(
            [
                {"id": i, "annotators": [*a], "labels": [[v, "x"] for v in a.values()]}
                for i, a in by_item().items()
            ]
        ),
        item="id",
        worker="annotators",
        label="labels",
        kind="sets",
    ),
    "a total below the table": Export(
        name="totals.xlsx",
        content=workbook(
            {
                "S": [
                    ["item", "rater1", "rater2", "rater3"],
                    *(
                        [f"i{n}", *(int(a == "cat") for a in row)]
                        for n, row in enumerate(full_answers())
                    ),
                    ["Total", 11, 12, 13],
                ]
            }
        ),
        item="item",
        counts="30/3/90/2",
    ),
    "ticks that repeat their name": Export(
        name="ticks.tsv",
        content=table(
            "user\tinstance_id\tanimal:::cat\tanimal:::dog\tanimal:::cow",
            lambda i, w, a, n: "\t".join(
                [f"u{w}", str(i), *(c if c == a else "" for c in CLASSES)]
            ),
        ),
        item="instance_id",
        worker="user",
        label="animal",
    ),
    "ticks without a common name": Export(
        name="emotions.csv",
        content=table(
            "id,rater_id,joy,anger,fear,sadness,neutral",
            lambda i, w, a, n: ",".join(
                [str(i), str(w), *(str(int(k == CLASSES.index(a))) for k in range(4)), "0"]
            ),
        ),
        item="id",
        worker="rater_id",
        label="joy … neutral",
    ),
    "people by name for two questions": Export(
        name="wide.csv",
        content=csv_of(
            [["id", *(f"{who}_{what}" for who in PEOPLE for what in ("animal", "mood"))]]
            + [
                [n, *(cell for at, a in enumerate(row) for cell in (a, mood(n + at)))]
                for n, row in enumerate(full_answers())
            ]
        ),
        item="id",
        counts="30/3/90/3",
    ),
    "people by name with their confidence": Export(
        name="wide.csv",
        content=csv_of(
            [["id", *(f"{who}{end}" for who in PEOPLE for end in ("", "_conf"))]]
            + [
                [n, *(cell for at, a in enumerate(row) for cell in (a, (n * at) % 5 + 1))]
                for n, row in enumerate(full_answers())
            ]
        ),
        item="id",
        counts="30/3/90/3",
    ),
    "a log of keys and values": Export(
        name="log.csv",
        content=csv_of([["article_id", "user_id", "key", "value", "created_at"], *_log()]),
        item="article_id",
        worker="user_id",
        label="value",
        counts="30/6/90/2",
    ),
    "a list of workers": Export(
        name="workers.csv",
        content=csv_of(
            [["worker_id", "external_id", "judgments_count", "trust", "country"]]
            + [[f"w{n}", f"x{n}", n % 9 + 3, 0.9, ("USA", "IND")[n % 2]] for n in range(40)]
        ),
        refused="list of workers",
    ),
    "a row per box": Export(
        name="boxes.csv",
        content=table(
            "image,annotator,xmin,ymin,xmax,ymax,label",
            lambda i, w, a, n: f"{i}.jpg,a{w},{n % 40},{n % 30},{n % 40 + 9},{n % 30 + 9},{a}",
        ),
        refused="boxes",
    ),
    "a row per span": Export(
        name="spans.csv",
        content=table(
            "doc_id,annotator,start,end,label",
            lambda i, w, a, n: f"d{i},a{w},{n % 40},{n % 40 + 5},{a}\nd{i},a{w},{n},{n + 3},{a}",
        ),
        refused="spans",
    ),
    "a column per rank": Export(
        name="ranks.csv",
        content=table(
            "task,worker,rank_A,rank_B,rank_C",
            lambda i, w, a, n: f"t{i},w{w},{n % 3 + 1},{(n + 1) % 3 + 1},{(n + 2) % 3 + 1}",
        ),
        refused="rankings",
    ),
    "measurements": Export(
        name="iris.csv",
        content=csv_of(
            [["length", "width", "height", "species"]]
            + [
                [n % 7 + 0.3, (n * 5) % 9 + 0.7, (n * 3) % 8 + 0.1, CLASSES[n % 3]]
                for n in range(60)
            ]
        ),
        refused="",
    ),
    "Zooniverse's reductions": Export(
        name="reductions.csv",
        content=csv_of(
            [["subject_id", "workflow_id", "task", "reducer_name", "data.yes", "data.no"]]
            + [[n, 1, "T0", "question_reducer", n % 6, n % 5] for n in range(40)]
        ),
        refused="reductions",
    ),
}
