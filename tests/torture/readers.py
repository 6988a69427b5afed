"""Malformed files for every reader: no exception but DataError, no hang, bounded memory, all rows.

Files of every format are changed at random: bytes and lines are dropped, doubled, swapped, cut
and joined with those of other files. Each is read as labels, gold, features or decisions.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import signal
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from crowdcore.data import DataError
from crowdcore.decisions import Decision
from crowdcore.decisions.files import as_csv, as_jsonl, read_decisions
from crowdcore.reading import Cleaning, open_table, read_labels
from crowdcore.reading.sequences.read import read_texts
from tests.reading.sequences import test_formats
from tests.torture import Row

MAX_SECONDS = 20
MAX_BYTES = 2 << 30
CASES_PER_PROCESS = 200

Use = Literal["labels", "texts", "gold", "features", "decisions"]

LABELS = b"task,worker,label\n" + b"".join(
    f"t{item},w{worker},{('cat', 'dog', 'bird')[(item + worker) % 3]}\n".encode()
    for item in range(12)
    for worker in range(3)
)

_TOKENS = [
    b'"',
    b'""',
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
]
_TOKENS += [
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\",
    b"NaN",
    b"-1",
    b"1e999",
    b"9" * 400,
    b"\xed\xa0\x80",
]
_TOKENS += [
    b"=1+1",
    b"\xe2\x80\xa8",
    b"task",
    b"worker",
    b"label",
    b"gold",
    b"sep=;\n",
    b" " * 70_000,
]


def run(budget: int, seed: int) -> list[Row]:
    """Read so many malformed files."""
    rows = [_quotes_everywhere()]
    corpora = _corpus()
    share = max(1, budget // len(corpora))
    return rows + [
        _fuzz(f"malformed files: {name}", files, use, share, seed)
        for name, (use, files) in corpora.items()
    ]


def _quotes_everywhere() -> Row:
    """One quotation mark at every place of a file: no row is swallowed, or it is refused."""
    n_rows = LABELS.count(b"\n") - 1
    problems = []
    for at in range(len(LABELS) + 1):
        spoiled = LABELS[:at] + b'"' + LABELS[at:]
        try:
            table = open_table(spoiled)
        except DataError:
            continue
        if table.n_rows != n_rows:
            problems.append(f"at byte {at}: {table.n_rows} of {n_rows} rows")
    worst = problems[0] if problems else "no row swallowed"
    return Row(
        name="a quotation mark at every place",
        tried=len(LABELS) + 1,
        failed=len(problems),
        worst=worst,
    )


def _fuzz(name: str, files: list[bytes], use: Use, budget: int, seed: int) -> Row:
    """Read changed files in processes of their own, which a file may kill."""
    problems: list[str] = []
    slowest, refused = 0.0, 0
    for start in range(0, budget, CASES_PER_PROCESS):
        numbers = range(start, min(budget, start + CASES_PER_PROCESS))
        made = _batch(name, files, use, numbers, seed)
        problems += made["problems"]
        slowest, refused = max(slowest, made["slowest"]), refused + made["refused"]
    worst = problems[0] if problems else f"{slowest:.1f} s, {refused / budget:.0%} refused"
    return Row(name=name, tried=budget, failed=len(problems), worst=worst)


def _batch(name: str, files: list[bytes], use: Use, numbers: range, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        answer, current = Path(scratch) / "answer", Path(scratch) / "current"
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                # The process that forked may hold much already; only what a file adds is bounded.
                limit = psutil.Process().memory_info().data + MAX_BYTES
                resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
                cases = ((n, changed(files, random.Random(f"{name} {seed} {n}"))) for n in numbers)
                found = _read_all(cases, use, current)
                answer.write_text(json.dumps(found), encoding="utf-8")
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code == 0:
            made: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
            return made
        number = int(current.read_text(encoding="ascii"))
        how = "it hung" if code == -signal.SIGALRM else f"the process ended with {code}"
        rest = _batch(name, files, use, range(number + 1, numbers.stop), seed)
        problem = f"case {number}: {how}"
        return {**rest, "problems": [problem, *rest["problems"]]}


def _read_all(cases: Iterable[tuple[int, bytes]], use: Use, current: Path) -> dict[str, Any]:
    problems, slowest, refused = [], 0.0, 0
    for number, content in cases:
        current.write_text(str(number), encoding="ascii")
        began = time.process_time()
        signal.alarm(MAX_SECONDS)
        try:
            read(content, use)
        except DataError:
            refused += 1
        except BaseException as error:
            trace = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(trace.filename).name}:{trace.lineno}"
            what = f"{type(error).__name__}: {str(error)[:80]} ({place})"
            problems.append(f"case {number}: {what}")
        signal.alarm(0)
        slowest = max(slowest, time.process_time() - began)
    return {"problems": problems, "slowest": slowest, "refused": refused}


def read(content: bytes, use: Use) -> None:
    """Read a file; raises anything but DataError if there is a bug."""
    if use == "labels":
        table = open_table(content, name="labels")
        _check_rows(table)
        # The report itself makes sure that its rows add up.
        read_labels(table)
        read_labels(table, cleaning=Cleaning(contradictions="all", exact_duplicates="keep"))
    elif use == "texts":
        read_texts(content, name="texts")
    elif use == "decisions":
        read_decisions(content)
    elif use == "gold":
        read_labels(LABELS, gold=content, gold_name="gold")
    else:
        read_labels(LABELS, features=content, features_name="features")


def _check_rows(table: Any) -> None:
    """Without quotation marks, every line that is not empty is a row."""
    if table.layout is None or b'"' in (content := table.content.all()):
        return
    text = content.decode(table.layout.encoding).lstrip("\ufeff")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    n_lines = sum(line != "" for line in lines[table.layout.n_skipped_lines :])
    n_rows = table.n_rows if table.source_row is None else table.n_source_rows
    assert n_rows == n_lines - table.header, f"{n_rows} rows of {n_lines} lines"


def changed(files: list[bytes], draw: random.Random) -> bytes:
    """Change a file in one to five ways."""
    content = draw.choice(files)
    for _ in range(draw.randint(1, 5)):
        content = draw.choice(_CHANGES)(content, files, draw)
    return content


def _spot(content: bytes, draw: random.Random) -> int:
    return draw.randint(0, len(content))


def _flip(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    at = _spot(content, draw)
    return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]


def _insert(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    at = _spot(content, draw)
    return content[:at] + draw.choice(_TOKENS) + content[at:]


def _cut(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    start, end = sorted((_spot(content, draw), _spot(content, draw)))
    return content[:start] + content[end:] if end - start < len(content) // 2 else content[:end]


def _double(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    start, end = sorted((_spot(content, draw), _spot(content, draw)))
    return content[:end] + content[start:end] * draw.randint(1, 3) + content[end:]


def _join(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    other = draw.choice(files)
    return content[: _spot(content, draw)] + other[_spot(other, draw) :]


def _swap_lines(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    draw.shuffle(lines) if draw.random() < 0.2 else lines.pop(draw.randrange(len(lines)))
    return b"\n".join(lines)


def _replace_cell(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    cells = content.split(b",")
    cells[draw.randrange(len(cells))] = draw.choice(_TOKENS)
    return b",".join(cells)


_VALUES: list[Any] = [None, True, -1, 0, 1e999, 10**30, "", "x", "\ud800", [], {}, [[]], {"": 0}]


def _change_value(content: bytes, files: list[bytes], draw: random.Random) -> bytes:
    """Put something else in the place of a value somewhere in JSON, or take the value away."""
    try:
        whole = json.loads(content)
    except ValueError:
        lines = content.split(b"\n")
        at = draw.randrange(len(lines))
        try:
            json.loads(lines[at])
        except ValueError:
            return content
        return b"\n".join([*lines[:at], _change_value(lines[at], files, draw), *lines[at + 1 :]])
    node = whole
    while isinstance(node, dict | list) and node:
        key: Any = draw.choice(list(node)) if isinstance(node, dict) else draw.randrange(len(node))
        if draw.random() < 0.4 or not isinstance(node[key], dict | list) or not node[key]:
            if draw.random() < 0.2:
                del node[key]
            else:
                node[key] = draw.choice(_VALUES)
            break
        node = node[key]
    return json.dumps(whole).encode()


_CHANGES: list[Callable[[bytes, list[bytes], random.Random], bytes]] = [
    _flip,
    _insert,
    _cut,
    _double,
    _join,
    _swap_lines,
    _replace_cell,
    _change_value,
    _change_value,
]


def _corpus() -> dict[str, tuple[Use, list[bytes]]]:
    """Files of every kind, by name, and what each is read as."""
    records = [
        {"task": f"t{item}", "worker": f"w{worker}", "label": "cat", "time": "2024-03-09T22:16:08Z"}
        for item in range(8)
        for worker in range(3)
    ]
    nested = {f"t{item}": {f"w{worker}": "dog" for worker in range(3)} for item in range(8)}
    lines = [json.dumps(record) for record in records]
    text = "task;worker;label;text\n" + "".join(
        f't{n % 9};"w{n % 4}";"für ""n"" {n % 3}";"two\nlines; {n}"\n' for n in range(30)
    )
    delimited = [
        LABELS,
        LABELS.replace(b",", b"\t"),
        LABELS.decode().encode("utf-16"),
        text.encode(),
        text.encode("cp1252"),
        b"item,ann,bo,cy\n" + b"".join(b"i%d,yes,no,\n" % n for n in range(12)),
        b"WorkerId,Input.url,Answer.label,Approve,Reject\n"
        + b"".join(b'"w%d","u%d","cat"\n' % (n % 3, n // 3) for n in range(12)),
        b"_unit_id,_worker_id,_trust,answer,_golden\n"
        + b"".join(b"%d,%d,0.9,cat,false\n" % (n // 3, n % 3) for n in range(12)),
        b"sep=;\nINPUT:image;OUTPUT:result;GOLDEN:result;ASSIGNMENT:worker_id\n" + b"a;x;;w\n" * 9,
    ]
    objects = [
        json.dumps(records).encode(),
        "\n".join(lines).encode(),
        json.dumps(nested).encode(),
        json.dumps({"task": ["a", "b"], "worker": ["w", "v"], "label": [1, 2.5]}).encode(),
    ]
    table = pa.table({key: [record[key] for record in records] for key in records[0]})
    features = {"item": np.array(["t1", "t2"]), "x": np.ones((2, 3), np.float32)}
    decisions = [
        Decision(
            id="0123456789abcdef",
            time="2026-01-02T03:04:05Z",
            by="Eva",
            action="exclude",
            subject=f"w{n}",
            reason="random",
        )
        for n in range(4)
    ]
    gold = [b"task,gold\nt1,cat\nt2,dog\nt3,cat\n", json.dumps({"t1": "cat", "t2": "dog"}).encode()]
    tables = [b"task,a,b,c\nt1,1,red,a long text\nt2,2,blue,other words\nt3,3,red,a text\n"]
    return {
        "delimited text": ("labels", delimited),
        "JSON": ("labels", objects),
        "Parquet": ("labels", [_parquet(table), _parquet(table.select(["task", "label"]))]),
        "all formats mixed": ("labels", [*delimited, *objects, _parquet(table)]),
        "annotated texts": (
            "texts",
            [
                test_formats.label_studio(),
                test_formats.prodigy(),
                test_formats.span_table(),
                test_formats.crowdflower(),
                test_formats.zooniverse(),
                test_formats.zipped({"ann.tsv": test_formats.webanno("ann")}),
                test_formats.zipped({"ann.conll": test_formats.conll_of(["O"] * 5)}),
            ],
        ),
        "gold": ("gold", gold),
        "features, tables": ("features", [*tables, _parquet(table)]),
        "features, NumPy": ("features", [_npz(features), _npy(np.ones((12, 2)))]),
        "decisions": ("decisions", [as_csv(decisions).encode(), as_jsonl(decisions).encode()]),
        "features, pictures": ("features", [_pictures("PNG"), _pictures("JPEG"), _pictures("GIF")]),
    }


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _npz(arrays: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    np.savez(sink, **arrays)
    return sink.getvalue()


def _npy(array: Any) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _pictures(kind: str) -> bytes:
    sink, picture = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (20, 30), "red").save(picture, kind)
    with zipfile.ZipFile(sink, "w") as archive:
        for name in ("t1", "t2"):
            archive.writestr(f"{name}.{kind.lower()}", picture.getvalue())
    return sink.getvalue()
