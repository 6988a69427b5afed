"""Making the catalogue again from the folders, each of which knows what it is."""

from __future__ import annotations

import os
import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crowdcore.atomic import PREFIX, hold, sync
from crowdcore.workspace import record_files, run_states, trash
from crowdcore.workspace.catalogue import Catalogue, count_run, free_name, insert, is_id, now
from crowdcore.workspace.disk import catalogue_errors, writing
from crowdcore.workspace.errors import CatalogueError, WorkspaceError
from crowdcore.workspace.record_files import KINDS

FILE = "catalogue.sqlite"

RECOVERED = "Recovered"
"""The name of a project whose own folder is gone."""

NO_RESULT = (
    "The catalogue was made again from the folders, and this run had no result. Run it again."
)


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    """What was found in the folders and is listed now."""

    projects: int
    datasets: int
    runs: int
    unknown: tuple[str, ...]  # folders that hold something and do not know what, as kind/id


def has_folders(root: Path) -> bool:
    """Tell whether there is something in a workspace that a catalogue should list.

    Parameters
    ----------
    root : Path
        The folder of the workspace.

    Returns
    -------
    bool
        True if a project, a data set or a run has a folder.
    """
    return any(True for kind, _ in KINDS for _ in _folders(root, kind))


def unlisted(root: Path, catalogue: Catalogue) -> list[str]:
    """Find folders that hold something and are not in the catalogue, such as an older copy of it.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.

    Returns
    -------
    list of str
        Paths below the root.
    """
    unlisted = []
    with catalogue.read() as db:
        for kind, table in KINDS:
            listed = {row["id"] for row in db.execute(f"SELECT id FROM {table}")}
            unlisted += [
                f"{kind}/{folder.name}"
                for folder in _folders(root, kind)
                if folder.name not in listed and record_files.is_whole(folder, table)
            ]
    return unlisted


def rebuild(root: Path) -> Rebuilt:
    """List what is in the folders and not in the catalogue; make a new catalogue where need be.

    A damaged catalogue is kept beside the new one. Settings are not in the folders, and begin
    anew. What is in the trash stays there.

    Parameters
    ----------
    root : Path
        The folder of the workspace. No other process may be using it.

    Returns
    -------
    Rebuilt
        What was found.

    Raises
    ------
    StorageError
        The disk is full, read-only or failing; the folders are as they were.
    """
    with writing(root, "The catalogue"):
        return _rebuild(root, Catalogue(path=root / FILE))


def _rebuild(root: Path, catalogue: Catalogue) -> Rebuilt:
    try:
        is_usable = catalogue.schema() > 0
    except CatalogueError:
        is_usable = False
    if is_usable:
        with catalogue.write() as db:
            return _list_folders(db, root)
    made = Catalogue(path=root / f"{PREFIX}{secrets.token_hex(8)}.sqlite")
    made.create()
    handle = hold(made.path)
    try:
        with made.write() as db:
            rebuilt = _list_folders(db, root)
        _put_aside(root)
        made.path.rename(catalogue.path)
        sync(root)
    finally:
        if handle is not None:
            os.close(handle)
    return rebuilt


def _put_aside(root: Path) -> None:
    """Rename a damaged catalogue and its journals: another file must never be read with them."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    for suffix in ("-wal", "-shm", "-journal", ""):
        path = root / f"{FILE}{suffix}"
        if path.exists():
            path.rename(root / f"catalogue-damaged-{stamp}.sqlite{suffix}")


def _folders(root: Path, kind: str) -> list[Path]:
    parent = root / kind
    return sorted(path for path in parent.iterdir() if is_id(path.name)) if parent.is_dir() else []


def _list_folders(db: sqlite3.Connection, root: Path) -> Rebuilt:
    counts = dict.fromkeys(("project", "dataset", "run"), 0)
    unknown = []
    for kind, table in KINDS:
        listed = {row["id"] for row in db.execute(f"SELECT id FROM {table}")}
        rows = []
        for folder in _folders(root, kind):
            if folder.name in listed:
                continue
            if (row := record_files.read(folder, table)) is not None:
                rows.append(row)
            elif record_files.is_whole(folder, table):
                unknown.append(f"{kind}/{folder.name}")
        for row in sorted(rows, key=lambda row: str(row.get("created"))):
            try:
                with catalogue_errors(root / FILE):
                    added = _ADD[table](db, root, row)
            except WorkspaceError:  # the disk's fault, not the row's: nothing is listed halfway
                raise
            except (sqlite3.Error, KeyError, TypeError, ValueError, OSError):
                added = False
            if added:
                counts[table] += 1
            elif record_files.is_whole(root / kind / row["id"], table):
                unknown.append(f"{kind}/{row['id']}")
    for project_id, number in trash.run_numbers(root):
        count_run(db, project_id, number)
    return Rebuilt(
        projects=counts["project"],
        datasets=counts["dataset"],
        runs=counts["run"],
        unknown=tuple(unknown),
    )


def _add_project(db: sqlite3.Connection, _root: Path, row: dict[str, Any]) -> bool:
    insert(db, "project", {**row, "name": free_name(db, row["name"]), "runs_made": 0})
    return True


def _add_dataset(db: sqlite3.Connection, root: Path, row: dict[str, Any]) -> bool:
    if not record_files.is_whole(root / "data" / row["id"], "dataset"):
        return False
    _ensure_project(db, row["project_id"])
    insert(db, "dataset", row)
    return True


def _add_run(db: sqlite3.Connection, root: Path, row: dict[str, Any]) -> bool:
    folder = root / "runs" / row["id"]
    is_done = record_files.is_whole(folder, "run")
    if row.get("member_of") is not None and not is_done:
        return False
    _ensure_project(db, row["project_id"])
    query = "SELECT coalesce(max(number), 0) AS n FROM run WHERE project_id = ?"
    highest = db.execute(query, [row["project_id"]]).fetchone()["n"]
    number = row.get("number") or highest + 1
    taken = "SELECT 1 FROM run WHERE project_id = ? AND number = ?"
    if db.execute(taken, [row["project_id"], number]).fetchone():
        number = highest + 1
    end = {"status": "lost", "error": NO_RESULT, "finished": now()}
    if is_done:
        end = run_states.done_values(folder)
    insert(db, "run", {**row, "number": number, **end})
    count_run(db, row["project_id"], number)
    return True


_ADD = {"project": _add_project, "dataset": _add_dataset, "run": _add_run}


def _ensure_project(db: sqlite3.Connection, project_id: str) -> None:
    if (
        is_id(project_id)
        and not db.execute("SELECT 1 FROM project WHERE id = ?", [project_id]).fetchone()
    ):
        name = free_name(db, RECOVERED)
        insert(db, "project", {"id": project_id, "name": name, "created": now()})
