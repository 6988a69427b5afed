"""Exports of every platform and tool are read without help, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdcore.data import DataError
from crowdcore.reading import propose_readings, read_labels
from crowdcore.reading.columns.platforms import find_platform, platforms
from crowdcore.reading.parsing.nested import find_shape, shapes
from tests.cli.calling import call
from tests.reading import more_exports, more_tables
from tests.reading.exports import N_ITEMS, N_WORKERS, PER_ITEM, TABLES, answers, table
from tests.reading.nested_exports import NESTED

EXPORTS = {**TABLES, **NESTED}

MORE = {**more_exports.NESTED, **more_tables.TABLES}
READ = {title: export for title, export in EXPORTS.items() if export.item is not None}


@pytest.mark.parametrize("title", READ)
def test_an_export_is_read_right_without_help(title: str) -> None:
    export = READ[title]
    readings = propose_readings(export.content, name=export.name)
    assert readings.refusal is None
    assert readings.settled
    best = readings.best
    assert best is not None
    roles = best.roles
    assert (roles.item, roles.worker, roles.label) == (export.item, export.worker, export.label)
    assert best.kind == export.kind
    data = read_labels(export.content, name=export.name)
    assert (data.n_items, data.n_workers, data.n_labels) == (N_ITEMS, N_WORKERS, N_ITEMS * PER_ITEM)
    given = sorted(label for _, _, label in answers())
    if title != "CEKA":  # which has codes
        assert sorted(data.classes[int(code)] for code in data.label) == given


@pytest.mark.parametrize("title", sorted(set(EXPORTS) - set(READ)))
def test_an_export_without_annotators_is_refused_by_name(title: str) -> None:
    export = EXPORTS[title]
    readings = propose_readings(export.content, name=export.name)
    assert readings.refusal is not None
    assert export.refused in readings.refusal.seems
    assert readings.refusal.advice
    with pytest.raises(DataError, match="Nothing to audit"):
        read_labels(export.content, name=export.name)


@pytest.mark.parametrize("title", MORE)
def test_a_variant_of_an_export_is_read_or_refused(title: str) -> None:
    export = MORE[title]
    readings = propose_readings(export.content, name=export.name)
    if export.item is None:
        assert readings.refusal is not None
        assert export.refused in readings.refusal.seems
        return
    assert readings.refusal is None
    assert readings.settled
    best = readings.best
    assert best is not None
    wanted = (export.item or None, export.worker, export.label)
    assert (best.roles.item, best.roles.worker, best.roles.label) == wanted
    assert best.kind == export.kind
    assert best.counts.short() == export.counts
    if export.kind != "comparisons":  # whose items are those that are compared
        assert read_labels(export.content, name=export.name).n_items == best.counts.items


def test_every_shape_of_nested_json_has_a_sample() -> None:
    found = set()
    for export in [*EXPORTS.values(), *MORE.values()]:
        try:
            value = json.loads(export.content)
            records = value if isinstance(value, list) else next(iter(value.values()))
        except (ValueError, UnicodeDecodeError):
            try:
                records = [json.loads(line) for line in export.content.splitlines()]
            except (ValueError, UnicodeDecodeError):
                continue
        if isinstance(records, list) and (shape := find_shape(records)) is not None:
            found.add(shape.title)
    assert found == {shape.title for shape in shapes()}


def test_every_platform_has_a_sample() -> None:
    found = set()
    for export in [*EXPORTS.values(), *MORE.values()]:
        readings = propose_readings(export.content, name=export.name)
        if (platform := find_platform(readings.table.columns)) is not None:
            found.add(platform.title)
    refused = {platform.title for platform in platforms() if platform.hints is None}
    assert {platform.title for platform in platforms()} - found <= refused


def test_work_times_are_kept() -> None:
    turk = read_labels(READ["Mechanical Turk, not reviewed"].content)
    assert turk.duration is not None
    assert turk.duration.tolist()[:3] == [5, 6, 7]
    appen = read_labels(READ["Appen"].content)
    assert appen.duration is not None
    assert set(appen.duration.tolist()) == {20}


def test_a_folder_of_files_is_read_like_a_zip(tmp_path: Path) -> None:
    for worker in ("ann", "bo"):
        often = 2 if worker == "ann" else 3
        rows = "".join(f"{n},{'cat' if n % often else 'dog'}\n" for n in range(20))
        (tmp_path / f"{worker}.csv").write_text(f"id,animal\n{rows}", encoding="utf-8")
    data = read_labels(tmp_path)
    assert data.workers == ("ann", "bo")
    assert data.n_labels == 40


def test_a_bench_of_files_tells_right_readings_from_wrong_ones(tmp_path: Path) -> None:
    rows = ["file,platform,kind,want,items,workers,labels,classes"]
    (tmp_path / "right.csv").write_bytes(
        table("task,worker,label", lambda i, w, label, n: f"t{i},w{w},{label}")
    )
    rows.append("right.csv,,classes,read,30,6,90,3")
    (tmp_path / "wrong.csv").write_bytes((tmp_path / "right.csv").read_bytes())
    rows.append("wrong.csv,,classes,read,31,6,90,3")
    (tmp_path / "none.csv").write_text("doc,label\n1,a\n2,b\n3,a\n", encoding="utf-8")
    rows.append("none.csv,,aggregate,refuse,,,,")
    (tmp_path / "manifest.csv").write_text("\n".join(rows), encoding="utf-8")
    result = call("bench", "reading", str(tmp_path), "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 0, result.output
    assert "2 of 3 right without help" in result.output
    assert "1 wrong in silence" in result.output
    outcomes = {o["file"]: o["outcome"] for o in json.loads((tmp_path / "out.json").read_text())}
    assert outcomes == {"right.csv": "right", "wrong.csv": "wrong in silence", "none.csv": "right"}
