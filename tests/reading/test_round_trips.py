"""Any crowd survives a file; any file gives a crowd or a DataError, never another exception."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdcore.data import CrowdData, DataError
from crowdcore.export.tables import labels as label_table
from crowdcore.export.writers import Format, frame_bytes
from crowdcore.reading import guess_roles, open_table, read_labels
from tests.reading.tables import HEADER, triples

ACCEPTED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

signs = st.characters(exclude_categories=["Cs", "Cc"])
names = st.text(signs, min_size=1, max_size=8).filter(
    lambda name: name.strip() == name and name not in HEADER
)
labels = st.text(signs, min_size=1, max_size=8).filter(lambda label: bool(label.strip()))
crowds = st.dictionaries(st.tuples(names, names), labels, min_size=1, max_size=12)
Crowd = dict[tuple[str, str], str]


def delimited(rows: list[list[str]], delimiter: str) -> str:
    sink = io.StringIO(newline="")
    csv.writer(sink, delimiter=delimiter).writerows(rows)
    return sink.getvalue()


def as_triples(crowd: Crowd) -> Counter[tuple[str, str, str]]:
    return Counter((*pair, label) for pair, label in crowd.items())


@ACCEPTED
@given(
    crowd=crowds,
    delimiter=st.sampled_from(",\t;|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_a_crowd_survives_a_long_table(crowd: Crowd, delimiter: str, encoding: str) -> None:
    rows = [list(HEADER), *([*pair, label] for pair, label in crowd.items())]
    data = read_labels(delimited(rows, delimiter).encode(encoding))
    assert triples(data) == as_triples(crowd)
    assert data.items == tuple(dict.fromkeys(item for item, _ in crowd))
    assert data.workers == tuple(dict.fromkeys(worker for _, worker in crowd))


@ACCEPTED
@given(crowd=crowds, delimiter=st.sampled_from(",\t;|"))
def test_a_crowd_survives_a_wide_table(crowd: Crowd, delimiter: str) -> None:
    items = list(dict.fromkeys(item for item, _ in crowd))
    workers = list(dict.fromkeys(worker for _, worker in crowd))
    rows = [["item of all", *workers]]
    rows += [[item, *(crowd.get((item, worker), "") for worker in workers)] for item in items]
    source = open_table(delimited(rows, delimiter).encode(), header=True)
    roles = {"item": "item of all", "worker_columns": workers}
    assert triples(read_labels(source, roles=roles)) == as_triples(crowd)


@ACCEPTED
@given(
    cells=st.lists(
        st.lists(st.sampled_from(["yes", "no", "maybe"]), min_size=3, max_size=3),
        min_size=4,
        max_size=12,
    )
)
def test_a_full_wide_table_is_recognised(cells: list[list[str]]) -> None:
    rows = [["item", "w1", "w2", "w3"]]
    rows += [[f"i{number}", *row] for number, row in enumerate(cells)]
    data = read_labels(delimited(rows, ",").encode())
    assert data.workers == ("w1", "w2", "w3")
    assert data.n_labels == 3 * len(cells)


@ACCEPTED
@given(crowd=crowds)
def test_a_crowd_survives_json(crowd: Crowd) -> None:
    records = [dict(zip(HEADER, (*pair, label), strict=True)) for pair, label in crowd.items()]
    nested: dict[str, dict[str, str]] = {}
    for (item, worker), label in crowd.items():
        nested.setdefault(item, {})[worker] = label
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    for source in (json.dumps(records), lines):
        assert triples(read_labels(source.encode(), name="x.json")) == as_triples(crowd)
    # Keys may name a role by themselves: a column GT is gold.
    answers = {
        f"item {item}": {f"worker {worker}": label for worker, label in row.items()}
        for item, row in nested.items()
    }
    data = read_labels(json.dumps(answers).encode())
    named = {(f"item {item}", f"worker {worker}"): x for (item, worker), x in crowd.items()}
    assert triples(data) == as_triples(named)


@ACCEPTED
@given(crowd=crowds, format=st.sampled_from(["csv-exact", "parquet", "jsonl"]))
def test_what_we_write_we_read(crowd: Crowd, format: Format) -> None:
    data = CrowdData.from_triples([(*pair, label) for pair, label in crowd.items()])
    back = read_labels(frame_bytes(label_table(data), format), name=f"x.{format}")
    assert triples(back) == triples(data)
    assert (back.items, back.workers, back.classes) == (data.items, data.workers, data.classes)
    assert back.fingerprint == data.fingerprint


def attempt(source: bytes, **options: Any) -> None:
    """Read, and accept labels or a DataError; anything else fails the test."""
    with contextlib.suppress(DataError):
        data = read_labels(source, **options)
        assert data.n_labels
        assert json.dumps(data.report.to_json())


cells = st.text(st.sampled_from("ab01 ,;\t|\"'\n\r[]{}:é-.\0\ufeff"), max_size=6)
tables = st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=6)


@ACCEPTED
@given(source=st.binary(max_size=200))
def test_random_bytes_never_break_the_reader(source: bytes) -> None:
    attempt(source)


@ACCEPTED
@given(
    start=st.sampled_from(
        [b"", b"task,worker,label\n", b"[", b"{", b"PAR1", b"\xff\xfe", b"sep=;\n"]
    ),
    rows=tables,
    delimiter=st.sampled_from(",\t;|"),
    encoding=st.sampled_from(["utf-8", "cp1252", "utf-16"]),
)
def test_random_tables_never_break_the_reader(
    start: bytes, rows: list[list[str]], delimiter: str, encoding: str
) -> None:
    body = "\n".join(delimiter.join(row) for row in rows)
    attempt(start + body.encode(encoding, "replace"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["task", "worker", "label", "id", "x", ""]), inner)
    ),
    max_leaves=12,
)


@ACCEPTED
@given(value=json_values, lines=st.integers(1, 3))
def test_random_json_never_breaks_the_reader(value: Any, lines: int) -> None:
    attempt("\n".join([json.dumps(value)] * lines).encode(), name="x.json")


@ACCEPTED
@given(
    file=st.binary(max_size=80) | tables.map(lambda rows: "\n".join(map(",".join, rows)).encode()),
    start=st.sampled_from([b"", b"item,gold\n", b"\x93NUMPY\x01\x00", b"PK\x03\x04"]),
    role=st.sampled_from(["gold", "features"]),
)
def test_random_gold_and_features_never_break_the_reader(
    file: bytes, start: bytes, role: str
) -> None:
    attempt(b"task,worker,label\na,w,x\nb,w,y\n", **{role: start + file})


@ACCEPTED
@given(
    rows=st.lists(st.lists(cells, min_size=4, max_size=4), min_size=1, max_size=6),
    roles=st.fixed_dictionaries(
        {},
        optional={
            "item": st.sampled_from(["a", "b", None]),
            "worker": st.sampled_from(["a", "b", "c"]),
            "label": st.sampled_from(["c", "d", None]),
            "gold": st.sampled_from(["d", None]),
            "time": st.sampled_from(["d", None]),
            "worker_columns": st.sampled_from([["b"], ["c", "d"], []]),
            "layout": st.sampled_from(["long", "wide"]),
            "details": st.sampled_from([["d"], []]),
        },
    ),
)
def test_random_roles_never_break_the_reader(rows: list[list[str]], roles: dict[str, Any]) -> None:
    attempt(delimited([list("abcd"), *rows], ",").encode(), roles=roles)


@ACCEPTED
@given(rows=tables)
def test_guessing_never_raises_for_a_table_that_was_read(rows: list[list[str]]) -> None:
    try:
        table = open_table("\n".join(map(",".join, rows)).encode())
    except DataError:
        return
    guess = guess_roles(table)
    assert set(guess.roles.used) <= set(table.columns)
    assert all(guess.reasons.values())


@pytest.fixture(scope="module")
def large() -> tuple[CrowdData, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    codes = np.stack(
        [
            np.repeat(np.arange(20_000), 5),
            rng.integers(0, 300, 100_000),
            rng.integers(0, 4, 100_000),
        ]
    )
    codes = codes[:, rng.permutation(100_000)]
    rows = "\n".join(f"item {i},worker {w},class {c}" for i, w, c in codes.T.tolist())
    return read_labels(f"task,worker,label\n{rows}\n".encode()), codes


def test_a_hundred_thousand_rows_are_read_right(
    large: tuple[CrowdData, np.ndarray[Any, Any]],
) -> None:
    data, codes = large
    last = {(f"item {i}", f"worker {w}"): f"class {c}" for i, w, c in codes.T.tolist()}
    assert triples(data) == as_triples(last)
    assert data.items[0] == f"item {codes[0, 0]}"
    report = data.report
    assert report.n_rows == 100_000
    repeats = report.finding("exact_duplicates").count + report.finding("contradictions").count
    assert repeats == pytest.approx(100_000 - len(last), abs=20), "hardly any pair comes thrice"
    assert report.finding("islands").severity == "ok"
