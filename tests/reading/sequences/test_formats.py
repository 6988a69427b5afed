"""Every format of annotated texts, as people have it, gives the same tokens and spans."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.read import read_texts, text_format_of

TEXT = "Anna Bell saw Rome."
SPANS = {"ann": [(0, 9, "PER"), (14, 18, "LOC")], "bob": [(0, 4, "PER")], "cat": []}
TAGS = {
    "ann": ["B-PER", "I-PER", "O", "B-LOC", "O"],
    "bob": ["B-PER", "O", "O", "O", "O"],
    "cat": ["O"] * 5,
}
TOKENS = ["Anna", "Bell", "saw", "Rome", "."]


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def lines(*records: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def tags_of(data: CrowdData, worker: str, text: int = 0) -> list[str] | None:
    """What a worker gave the tokens of a text; None where they did not see it."""
    assert data.offsets is not None
    begin, end = data.offsets[text : text + 2]
    chosen = (data.worker == data.workers.index(worker)) & (data.item >= begin) & (data.item < end)
    tags = dict(zip(data.item[chosen].tolist(), data.label[chosen].tolist(), strict=True))
    return [data.classes[tags[token]] for token in range(begin, end)] if tags else None


def conll_of(tags: list[str], tokens: list[str] = TOKENS) -> str:
    return "\n".join(f"{token}\t{tag}" for token, tag in zip(tokens, tags, strict=True)) + "\n"


def webanno(worker: str) -> str:
    cells = {"ann": ["PER[1]", "PER[1]", "_", "LOC", "_"], "bob": ["PER", "_", "_", "_", "_"]}
    starts = [0, 5, 10, 14, 18]
    rows = [
        f"1-{n}\t{start}-{start + len(token)}\t{token}\t*\t{cell}\t"
        for n, (start, token, cell) in enumerate(
            zip(starts, TOKENS, cells.get(worker, ["_"] * 5), strict=True), 1
        )
    ]
    return "#FORMAT=WebAnno TSV 3.3\n#T_SP=NamedEntity|identifier|value\n\n#Text=x\n" + "\n".join(
        rows
    )


def label_studio() -> bytes:
    annotations = [
        {
            "completed_by": {"id": 1, "email": worker},
            "was_cancelled": False,
            "result": [
                {
                    "type": "labels",
                    "to_name": "text",
                    "value": {"start": start, "end": end, "labels": [name]},
                }
                for start, end, name in spans
            ],
        }
        for worker, spans in SPANS.items()
    ]
    skipped = {"completed_by": 9, "was_cancelled": True, "result": []}
    return json.dumps(
        [{"id": 7, "data": {"text": TEXT}, "annotations": [*annotations, skipped]}]
    ).encode()


def prodigy() -> bytes:
    return lines(
        *(
            {
                "text": TEXT,
                "_input_hash": 5,
                "_annotator_id": worker,
                "answer": "accept",
                "spans": [{"start": s, "end": e, "label": n} for s, e, n in spans],
            }
            for worker, spans in SPANS.items()
        ),
        {"text": TEXT, "_input_hash": 5, "_annotator_id": "dan", "answer": "ignore", "spans": []},
    )


def span_table() -> bytes:
    rows = ["item,worker,start,end,label,text"]
    for worker, spans in SPANS.items():
        rows += [f'1,{worker},{s},{e},{n},"{TEXT}"' for s, e, n in spans] or [f"1,{worker},,,,"]
    return "\n".join(rows).encode()


def crowdflower() -> bytes:
    rows = ["_unit_id,_worker_id,_tainted,marks,text"]
    for worker, spans in SPANS.items():
        marks = [{"startIndex": s, "endIndex": e, "label": n} for s, e, n in spans]
        cell = json.dumps(marks).replace('"', '""')
        rows.append(f'u1,{worker},false,"{cell}","{TEXT}"')
    return "\n".join(rows).encode()


def zooniverse() -> bytes:
    rows = ["classification_id,user_name,subject_ids,annotations,subject_data"]
    subject = json.dumps({"s1": {"text": TEXT}}).replace('"', '""')
    for number, (worker, spans) in enumerate(SPANS.items()):
        marks = [
            {"start": s, "end": e, "text": TEXT[s:e], "labelInformation": {"label": n}}
            for s, e, n in spans
        ]
        cell = json.dumps([{"task": "T0", "value": marks}]).replace('"', '""')
        rows.append(f'{number},{worker},s1,"{cell}","{subject}"')
    return "\n".join(rows).encode()


def brat() -> bytes:
    files: dict[str, str] = {}
    for worker, spans in SPANS.items():
        marks = [f"T{i}\t{n} {s} {e}\t{TEXT[s:e]}" for i, (s, e, n) in enumerate(spans, 1)]
        files |= {f"{worker}/doc.txt": TEXT, f"{worker}/doc.ann": "\n".join(marks)}
    return zipped(files)


FILES = {
    "sentences.jsonl": lines(
        {
            "id": "s",
            "tokens": TOKENS,
            "annotations": [{"worker": w, "tags": tags} for w, tags in TAGS.items()],
        }
    ),
    "columns.conll": (
        "token\tann\tbob\tcat\n"
        + "\n".join("\t".join(row) for row in zip(TOKENS, *TAGS.values(), strict=True))
    ).encode(),
    "per_worker.zip": zipped({f"{w}.txt": conll_of(tags) for w, tags in TAGS.items()}),
    "label_studio.json": label_studio(),
    "prodigy.jsonl": prodigy(),
    "doccano.zip": zipped(
        {f"{w}.jsonl": json.dumps({"id": 1, "text": TEXT, "label": s}) for w, s in SPANS.items()}
    ),
    "brat.zip": brat(),
    "webanno.zip": zipped({f"{worker}.tsv": webanno(worker) for worker in TAGS}),
    "spans.csv": span_table(),
    "crowdflower.csv": crowdflower(),
    "zooniverse.csv": zooniverse(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_tags_and_tells_empty_from_absent(name: str) -> None:
    data = read_texts(FILES[name], name=name)
    assert data.kind == "sequences"
    assert list(data.details["token"]) == TOKENS
    assert data.classes == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert set(data.workers) == set(TAGS)  # not those who skipped it
    for worker, tags in TAGS.items():
        assert tags_of(data, worker) == tags
    assert text_format_of(FILES[name], name)


def test_a_folder_reads_like_its_zip(tmp_path: Path) -> None:
    for worker, tags in TAGS.items():
        (tmp_path / f"{worker}.txt").write_text(conll_of(tags))
    assert tags_of(read_texts(tmp_path), "ann") == TAGS["ann"]


def test_worker_files_are_aligned_by_text_and_a_word_counts_if_all_its_pieces_are_marked() -> None:
    files = {
        "gold.txt": conll_of(["B-LOC", "O"], ["Toronto-based", "firm"]),
        "ann.txt": conll_of(["B-LOC", "O", "O"], ["Toronto", "-based", "firm"]),
        "bob.txt": conll_of(["B-LOC", "I-LOC", "O"], ["Toronto", "-based", "firm"]),
        "cat.txt": conll_of(["O", "O"], ["another", "text"]),
    }
    data = read_texts(zipped(files))
    assert tags_of(data, "ann") == ["O", "O"]
    assert tags_of(data, "bob") == ["B-LOC", "O"]
    assert data.gold is not None
    assert data.class_names(data.gold).tolist() == ["B-LOC", "O"]
    assert data.report.finding("partial_words").count == 1
    assert data.report.finding("different_text").examples == ("cat",)
    taken = read_texts(zipped(files), cleaning=Cleaning(partial_words="take"))
    assert tags_of(taken, "ann") == ["B-LOC", "O"]


def test_half_covered_words_and_overlaps_are_counted_with_a_choice() -> None:
    record = {
        "text": TEXT,
        "annotator": "ann",
        "label": [[0, 6, "PER"], [0, 4, "LOC"], [14, 18, "LOC"], [9, 10, "LOC"]],
    }
    data = read_texts(lines(record))
    assert tags_of(data, "ann") == ["B-LOC", "O", "O", "B-LOC", "O"] or tags_of(data, "ann") == [
        "B-PER",
        "O",
        "O",
        "B-LOC",
        "O",
    ]
    partial, overlap = (
        data.report.finding("partial_words"),
        data.report.finding("overlapping_spans"),
    )
    assert (partial.count, partial.option) == (1, {"partial_words": "take"})
    assert (overlap.count, overlap.severity) == (1, "warning")
    assert data.report.finding("empty_spans").count == 1
    first = read_texts(lines(record), cleaning=Cleaning(partial_words="take", overlaps="first"))
    assert tags_of(first, "ann") == ["B-PER", "I-PER", "O", "B-LOC", "O"]


@pytest.mark.parametrize(
    ("tags", "expected", "count"),
    [
        (["I-PER", "I-PER", "O", "I-LOC", "B-LOC"], ["B-PER", "I-PER", "O", "B-LOC", "B-LOC"], 2),
        (["B-PER", "E-PER", "O", "S-LOC", "O"], ["B-PER", "I-PER", "O", "B-LOC", "O"], 2),
        (["PER", "PER", "O", "LOC", "O"], ["B-PER", "I-PER", "O", "B-LOC", "O"], 3),
    ],
)
def test_other_schemes_become_bio_and_are_counted(
    tags: list[str], expected: list[str], count: int
) -> None:
    record = {"tokens": TOKENS, "annotations": [{"worker": "ann", "tags": tags}]}
    data = read_texts(lines(record))
    assert tags_of(data, "ann") == expected
    assert data.report.finding("tag_scheme").count == count


def test_a_span_that_begins_with_inside_is_kept_and_counted() -> None:
    tags = ["B-PER", "O", "I-LOC", "O", "O"]
    record = {"tokens": TOKENS, "annotations": [{"worker": "ann", "tags": tags}]}
    data = read_texts(lines(record))
    assert tags_of(data, "ann") == tags
    assert data.report.finding("begun_inside").count == 1


def test_tags_inside_tokens_are_cut_off_unless_one_says_otherwise() -> None:
    record = {
        "tokens": ["Nepal/LOC", "and/or"],
        "annotations": [{"worker": "ann", "tags": ["B-LOC", "O"]}],
    }
    data = read_texts(lines(record))
    assert data.details["token"] == ("Nepal", "and/or")
    assert data.report.finding("tags_in_tokens").severity == "warning"
    kept = read_texts(lines(record), cleaning=Cleaning(tags_in_tokens="keep"))
    assert kept.details["token"][0] == "Nepal/LOC"


def test_a_table_without_empty_rows_asks_who_saw_what() -> None:
    rows = ["item,worker,start,end,label,text", f'1,ann,0,4,PER,"{TEXT}"', '2,bob,0,2,PER,"Jo ran"']
    table = "\n".join(rows).encode()
    with pytest.raises(DataError, match="whether a worker who marked nothing in a text saw it"):
        read_texts(table)
    saw = read_texts(table, cleaning=Cleaning(unmarked="saw"))
    absent = read_texts(table, cleaning=Cleaning(unmarked="absent"))
    assert tags_of(saw, "bob") == ["O"] * 5
    assert tags_of(absent, "bob") is None
    assert saw.report.finding("unmarked_texts").count == 2


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (lines({"text": TEXT, "label": [[0, 4, "PER"]]}), "does not say who annotated"),
        (conll_of(TAGS["ann"]).encode(), "one worker and nothing to compare"),
        (b"item,worker,start,end,label\n1,ann,0,4,PER\n", "not in which text"),
        (zipped({"doc.txt": TEXT, "doc.ann": "T1\tPER 0 4\tAnna"}), "lie in no folder"),
        (
            lines({"tokens": TOKENS, "annotations": [{"worker": "a", "tags": ["O"]}]}),
            "1 tags for 5",
        ),
        (b"just some words\n", "No text with marked spans"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(file: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_texts(file, name="file")


def test_repeated_and_missing_annotations_are_counted_and_names_stay_apart() -> None:
    first = {
        "id": "s",
        "tokens": ["Rome"],
        "annotations": [{"worker": "ann", "tags": ["O"]}, {"worker": "ann", "tags": ["B-LOC"]}],
    }
    data = read_texts(lines(first, {"id": "s", "tokens": ["Oslo"], "annotations": []}))
    assert tags_of(data, "ann") == ["B-LOC"]
    assert data.report.finding("repeated_annotations").count == 1
    assert data.report.finding("unannotated_texts").count == 1
    assert data.items == ("s:0", "s (2):0")
    named = read_texts(lines(first), cleaning=Cleaning(pseudonyms=True))
    assert named.workers == ("worker 1",)
