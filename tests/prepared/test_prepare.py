from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdcore.data import DataError
from crowdcore.prepared import coding, sources
from crowdcore.prepared.layout import PreparedFolder, bucket_of, n_buckets_for
from crowdcore.prepared.part import PreparedPart
from crowdcore.prepared.prepare import prepare
from crowdcore.reading.labels.read import read_labels
from tests.prepared.test_parts import everything, write_labels


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file that runs read."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "plan.json"]
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.name not in ("manifest.json", "bucket.json")
    }


def as_parquet(csv: Path, out: Path, *, order: np.ndarray | None = None) -> Path:
    """The rows of a CSV as Parquet with small row groups, in another order if asked."""
    header, *rows = [line.split(",") for line in csv.read_text().splitlines()]
    rows = rows if order is None else [rows[at] for at in order]
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), out, row_group_size=100)
    return out


def test_prepared_labels_are_those_that_the_reader_finds(tmp_path: Path) -> None:
    write_labels(tmp_path / "labels.csv", gold_items=30)
    folder = prepare([tmp_path / "labels.csv"], tmp_path / "out")
    found, expected = everything(folder), read_labels(tmp_path / "labels.csv")

    def triples(data: object) -> set[tuple[str, str, str]]:
        names = (data.items, data.workers, data.classes)  # type: ignore[attr-defined]
        codes = (data.item, data.worker, data.label)  # type: ignore[attr-defined]
        return set(
            zip(*([n[c] for c in cs] for n, cs in zip(names, codes, strict=True)), strict=True)
        )

    assert triples(found) == triples(expected)
    assert found.n_gold == expected.n_gold == 30
    assert found.gold is not None
    gold = {found.items[at]: found.classes[found.gold[at]] for at in np.flatnonzero(found.has_gold)}
    assert expected.gold is not None
    for at in np.flatnonzero(expected.has_gold):
        assert gold[expected.items[at]] == expected.classes[expected.gold[at]]


def test_rows_in_another_order_and_more_processes_give_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_labels(tmp_path / "labels.csv")
    n_rows = len((tmp_path / "labels.csv").read_text().splitlines()) - 1
    order = np.random.default_rng(5).permutation(n_rows)
    one = as_parquet(tmp_path / "labels.csv", tmp_path / "one.parquet")
    two = as_parquet(tmp_path / "labels.csv", tmp_path / "two.parquet", order=order)
    monkeypatch.setattr(sources, "ROWS_PER_TASK", 300)
    first = prepare([one], tmp_path / "first")
    second = prepare([two], tmp_path / "second", n_processes=2)
    assert digests(first.path) == digests(second.path)
    assert first.manifest.fingerprint == second.manifest.fingerprint
    assert len(sources.list_tasks([one])[0]) > 3


def test_a_broken_preparation_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_labels(tmp_path / "labels.csv")
    whole = prepare([tmp_path / "labels.csv"], tmp_path / "whole")
    code = coding.code_bucket

    def fail_late(folder: Path, number: int, *rest: object) -> coding.CodedBucket:
        if number == 5:
            raise KeyboardInterrupt
        return code(folder, number, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(coding, "code_bucket", fail_late)
    with pytest.raises(KeyboardInterrupt):
        prepare([tmp_path / "labels.csv"], tmp_path / "out")
    with pytest.raises(DataError, match="not prepared to its end"):
        PreparedFolder(tmp_path / "out")
    monkeypatch.setattr(coding, "code_bucket", code)
    again = prepare([tmp_path / "labels.csv"], tmp_path / "out")
    assert digests(again.path) == digests(whole.path)
    write_labels(tmp_path / "other.csv", seed=3)
    with pytest.raises(DataError, match="other files or other settings"):
        prepare([tmp_path / "other.csv"], tmp_path / "out")


def test_every_row_that_is_left_out_is_counted(tmp_path: Path) -> None:
    rows = [
        "t1,ann,cat",
        "t1,ann,cat",  # twice
        "t1,bob,dog",
        "t1,bob,cat",  # contradicts: the last counts
        " t1 ,eve,dog",  # trimmed
        "t2,ann,",  # no label
        ",ann,cat",  # no item
        "t2,bob,dog",
    ]
    (tmp_path / "a.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    report = prepare([tmp_path / "a.csv"], tmp_path / "out").report
    counts = {finding.id: finding.count for finding in report.findings if finding.count}
    assert counts["exact_duplicates"] == counts["contradictions"] == counts["empty_labels"] == 1
    assert counts["missing_ids"] == counts["trimmed_ids"] == 1
    assert report.n_labels == 4
    data = everything(PreparedFolder(tmp_path / "out"))
    bob = data.workers.index("bob")
    at = np.flatnonzero((data.worker == bob) & (data.item == list(data.items).index("t1")))
    assert [data.classes[code] for code in data.label[at]] == ["cat"]


def test_gold_of_a_file_is_matched_and_strangers_are_counted(tmp_path: Path) -> None:
    write_labels(tmp_path / "labels.csv", n_items=50)
    (tmp_path / "gold.csv").write_text("task,truth\nt3,owl\nt7,cat\nnobody,dog\n")
    folder = prepare(
        [tmp_path / "labels.csv"], tmp_path / "out", gold=tmp_path / "gold.csv",
        roles={"item": "task", "worker": "worker", "label": "label"},
    )  # fmt: skip
    data = everything(folder)
    assert data.gold is not None
    known = {data.items[at]: data.classes[data.gold[at]] for at in np.flatnonzero(data.has_gold)}
    assert known == {"t3": "owl", "t7": "cat"}
    stranger = folder.report.finding("gold_without_labels")
    assert stranger is not None
    assert stranger.count == 1


def test_islands_are_found_across_buckets(tmp_path: Path) -> None:
    rows = [f"a{i},w{w},yes" for i in range(60) for w in (i % 4, (i + 1) % 4)]
    rows += [f"b{i},x{w},no" for i in range(60) for w in (i % 3, (i + 1) % 3)]
    (tmp_path / "a.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    islands = prepare([tmp_path / "a.csv"], tmp_path / "out").report.finding("islands")
    assert islands is not None
    assert islands.count == 2
    assert islands.examples[0].startswith("4 workers")


def test_buckets_are_even_and_a_sample_is_the_first_of_them(tmp_path: Path) -> None:
    names = pa.array([f"image_{number}.jpg" for number in range(20_000)])
    sizes = np.bincount(bucket_of(names, 16), minlength=16)
    assert sizes.min() > 1000
    assert sizes.max() < 1500
    assert bucket_of(names.slice(5, 10), 16).tolist() == bucket_of(names, 16)[5:15].tolist()
    assert [n_buckets_for(n) for n in (10, 40_000_000, 10**9)] == [8, 16, 256]
    write_labels(tmp_path / "labels.csv")
    folder = prepare([tmp_path / "labels.csv"], tmp_path / "out")
    assert folder.sample(1) == [0]
    assert folder.sample(10**9) == list(range(8))
    part = PreparedPart(folder, [2, 5])
    assert part.n_labels == len(part.item) == int(part.labels_per_item.sum())


def test_what_cannot_be_prepared_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        prepare([tmp_path / "absent.csv"], tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    write_labels(tmp_path / "labels.csv")
    with pytest.raises(DataError, match="not empty"):
        prepare([tmp_path / "labels.csv"], tmp_path / "full")
    (tmp_path / "other.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(DataError, match="There is no column"):
        prepare([tmp_path / "labels.csv", tmp_path / "other.csv"], tmp_path / "out")
