"""Deleting: rows leave the catalogue in one write, then their folders move to trash/."""

from __future__ import annotations

import secrets
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crowdcore.data import DataError
from crowdcore.workspace import folders
from crowdcore.workspace.catalogue import Catalogue
from crowdcore.workspace.datafiles import write_json

KEPT = ("data", "runs")
"""The folders whose subfolders belong to rows of the catalogue."""


def delete_run(root: Path, catalogue: Catalogue, run_id: str) -> None:
    """Move a run that has ended to the trash."""
    with catalogue.write() as db:
        runs = db.execute("SELECT * FROM run WHERE id = ?", [run_id]).fetchall()
        _refuse_active(runs)
        db.execute("DELETE FROM run WHERE id = ?", [run_id])
    _throw_away(root, "run", {"run": _plain(runs)})


def delete_project(root: Path, catalogue: Catalogue, project_id: str) -> None:
    """Move a project, its data sets and its runs to the trash."""
    with catalogue.write() as db:
        rows = {
            table: db.execute(f"SELECT * FROM {table} WHERE {key} = ?", [project_id]).fetchall()
            for table, key in [("project", "id"), ("dataset", "project_id"), ("run", "project_id")]
        }
        _refuse_active(rows["run"])
        db.execute("DELETE FROM project WHERE id = ?", [project_id])
    _throw_away(root, "project", {table: _plain(found) for table, found in rows.items()})


def collect_strays(root: Path, catalogue: Catalogue) -> None:
    """Move folders without a row to the trash: what a process killed while deleting left.

    A fresh one is let be, for another process may be about to write its row.
    """
    with catalogue.read() as db:
        known = {
            "data": {row["id"] for row in db.execute("SELECT id FROM dataset")},
            "runs": {row["id"] for row in db.execute("SELECT id FROM run")},
        }
    for kind in KEPT:
        for folder in (root / kind).iterdir():
            hidden = folder.name.startswith(".")
            if (
                folder.name not in known[kind]
                and not hidden
                and folders.age(folder) > folders.STALE
            ):
                _move(folder, _new_place(root, "stray") / kind)


def _refuse_active(runs: list[sqlite3.Row]) -> None:
    if any(row["status"] in ("queued", "running") for row in runs):
        raise DataError("A run is still waiting or working", fix="Stop it first, then delete.")


def _plain(rows: list[sqlite3.Row]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


def _throw_away(root: Path, noun: str, rows: dict[str, list[dict[str, Any]]]) -> None:
    place = _new_place(root, noun)
    write_json(place / "rows.json", rows)
    for kind, table in [("data", "dataset"), ("runs", "run")]:
        for row in rows.get(table, []):
            _move(root / kind / row["id"], place / kind)


def _new_place(root: Path, noun: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    place = root / "trash" / f"{stamp}-{noun}-{secrets.token_hex(4)}"
    place.mkdir(mode=0o700)
    return place


def _move(folder: Path, into: Path) -> None:
    into.mkdir(mode=0o700, exist_ok=True)
    if folder.exists():
        shutil.move(folder, into / folder.name)
