"""Deleting: rows leave the catalogue in one write, then their folders move to trash/; and back."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from crowdcore.data import DataError
from crowdcore.workspace import folders
from crowdcore.workspace.catalogue import Catalogue, free_name, insert
from crowdcore.workspace.datafiles import read_json, write_json

FOLDERS = (("data", "dataset"), ("runs", "run"))
"""The folders whose subfolders belong to rows of the catalogue, and the tables of these rows."""

ROWS = "rows.json"
STAMP = "%Y%m%d-%H%M%S"

Rows = dict[str, list[dict[str, Any]]]
"""Rows of the catalogue, by table."""


@dataclass(frozen=True, kw_only=True)
class Thrown:
    """Something that was deleted, and can be brought back."""

    name: str  # of its folder in the trash
    kind: Literal["project", "run"]
    title: str
    project: str  # its name, or that of the project it belonged to; "" if that is gone too
    deleted: str  # ISO 8601, UTC
    bytes: int


def delete_run(root: Path, catalogue: Catalogue, run_id: str) -> None:
    """Move a run that has ended to the trash."""
    _throw_away(root, catalogue, "run", run_id, [("run", "id")])


def delete_project(root: Path, catalogue: Catalogue, project_id: str) -> None:
    """Move a project, its data sets and its runs to the trash."""
    tables = [("project", "id"), ("dataset", "project_id"), ("run", "project_id")]
    _throw_away(root, catalogue, "project", project_id, tables)


def thrown_away(root: Path, catalogue: Catalogue) -> list[Thrown]:
    """What was deleted, the latest first; files that belong to none of it cannot come back."""
    with catalogue.read() as db:
        names = {row["id"]: row["name"] for row in db.execute("SELECT id, name FROM project")}
        kept = {*names, *(row["id"] for row in db.execute("SELECT id FROM run"))}
    places = {place: _rows_of(place) for place in sorted((root / "trash").iterdir(), reverse=True)}
    return [
        _thrown(place, rows, names)
        for place, rows in places.items()
        if rows and _first(rows)["id"] not in kept  # else killed before it could delete
    ]


def stray_bytes(root: Path, catalogue: Catalogue) -> int:
    """How large the files in the trash are that would come back with nothing."""
    return _bytes_in(root / "trash") - sum(one.bytes for one in thrown_away(root, catalogue))


def restore(root: Path, catalogue: Catalogue, name: str) -> str:
    """Bring back what was deleted, and return the id of the project that it belongs to.

    Files come first, as always, so that the catalogue never speaks of what is not there.
    """
    place = next((path for path in (root / "trash").iterdir() if path.name == name), None)
    rows = {} if place is None else _rows_of(place)
    if place is None or not rows:
        raise DataError("It is not in the trash any more")
    project_id = str(_first(rows).get("project_id", _first(rows)["id"]))
    with catalogue.read() as db:
        known = db.execute("SELECT 1 FROM project WHERE id = ?", [project_id]).fetchone()
    if known is None and "project" not in rows:
        raise DataError("The project of this run was deleted too", fix="Restore the project first.")
    for folder in _folders_of(place, rows):
        target = root / folder.parent.name / folder.name
        if not target.exists():
            os.utime(folder)  # a fresh one is no stray while its row is not written yet
            shutil.move(folder, target)
    try:
        with catalogue.write() as db:
            for table in ("project", "dataset", "run"):
                for row in rows.get(table, []):
                    fresh = {"name": free_name(db, row["name"])} if table == "project" else {}
                    insert(db, table, {**row, **fresh})
    except sqlite3.IntegrityError:
        raise DataError("It has been restored already") from None
    shutil.rmtree(place, ignore_errors=True)
    return project_id


def empty(root: Path) -> None:
    """Remove everything for good; a `DataError` says if something stays."""
    place = root / "trash"
    for path in place.iterdir():
        shutil.rmtree(path, ignore_errors=True)
    if left := len(list(place.iterdir())):
        raise DataError(
            f"{left} of the deleted things could not be removed",
            file=str(place),
            fix="Look who owns its files, and remove them by hand.",
        )


def collect_strays(root: Path, catalogue: Catalogue) -> None:
    """Move folders without a row to the trash: what a process killed while deleting left.

    A fresh one is let be, for another process may be about to write its row.
    """
    with catalogue.read() as db:
        known = {
            kind: {row["id"] for row in db.execute(f"SELECT id FROM {table}")}
            for kind, table in FOLDERS
        }
    for kind, ids in known.items():
        for folder in (root / kind).iterdir():
            hidden = folder.name.startswith(".")
            if folder.name not in ids and not hidden and folders.age(folder) > folders.STALE:
                _move(folder, _new_place(root, "stray") / kind)


def _throw_away(
    root: Path, catalogue: Catalogue, noun: str, row_id: str, tables: list[tuple[str, str]]
) -> None:
    """Delete a row and all that belongs to it: rows by this key of these tables."""
    with catalogue.write() as db:
        rows = {
            table: [
                dict(row) for row in db.execute(f"SELECT * FROM {table} WHERE {key} = ?", [row_id])
            ]
            for table, key in tables
        }
        if not rows[noun]:
            raise DataError(f"The {noun} has been deleted already")
        if any(row["status"] in ("queued", "running") for row in rows["run"]):
            raise DataError("A run is still waiting or working", fix="Stop it first, then delete.")
        place = _new_place(root, noun)
        write_json(place / ROWS, rows)  # before they are gone, whatever happens between
        db.execute(f"DELETE FROM {noun} WHERE id = ?", [row_id])
    for kind, table in FOLDERS:
        for row in rows.get(table, []):
            _move(root / kind / row["id"], place / kind)


def _thrown(place: Path, rows: Rows, projects: dict[str, str]) -> Thrown:
    row = _first(rows)
    run = "project_id" in row
    title = f"#{row['number']} {row['title']}" if run else row["name"]
    deleted = datetime.strptime(place.name.rsplit("-", 2)[0], STAMP)
    return Thrown(
        name=place.name,
        kind="run" if run else "project",
        title=title,
        project=projects.get(row["project_id"], "") if run else title,
        deleted=deleted.replace(tzinfo=UTC).isoformat(),
        bytes=(place / ROWS).stat().st_size + sum(map(_bytes_in, _folders_of(place, rows))),
    )


def _rows_of(place: Path) -> Rows:
    """The rows that were deleted; none where only files were found."""
    path = place / ROWS
    rows: Rows = read_json(path) if path.exists() else {}
    return rows


def _first(rows: Rows) -> dict[str, Any]:
    """The row that was asked to be deleted; all others belong to it."""
    return (rows.get("project") or rows["run"])[0]


def _folders_of(place: Path, rows: Rows) -> list[Path]:
    """The folders of these rows, wherever in the trash they are.

    Those that a killed process could not move beside their rows were found as strays.
    """
    return [
        folder
        for kind, table in FOLDERS
        for row in rows.get(table, [])
        for folder in place.parent.glob(f"*/{kind}/{row['id']}")
    ]


def _bytes_in(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def _new_place(root: Path, noun: str) -> Path:
    stamp = datetime.now(UTC).strftime(STAMP)
    place = root / "trash" / f"{stamp}-{noun}-{secrets.token_hex(4)}"
    place.mkdir(mode=0o700)
    return place


def _move(folder: Path, into: Path) -> None:
    into.mkdir(mode=0o700, exist_ok=True)
    if folder.exists():
        shutil.move(folder, into / folder.name)
