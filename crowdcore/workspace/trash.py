"""Deleting: rows leave the catalogue in one write, then their folders move to trash/; and back."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from crowdcore.atomic import hold, write_private
from crowdcore.data import DataError
from crowdcore.workspace import folders, record_files
from crowdcore.workspace.catalogue import Catalogue, count_run, free_name, insert, is_id
from crowdcore.workspace.record_files import KINDS

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
    """Move a run that has ended to the trash.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.
    run_id : str
        The run.

    Raises
    ------
    DataError
        The run waits or works, or has been deleted already.
    """
    _throw_away(root, catalogue, "run", run_id, [("run", "id")])


def delete_project(root: Path, catalogue: Catalogue, project_id: str) -> None:
    """Move a project, its data sets and its runs to the trash.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.
    project_id : str
        The project.

    Raises
    ------
    DataError
        A run waits or works, or the project has been deleted already.
    """
    tables = [("project", "id"), ("dataset", "project_id"), ("run", "project_id")]
    _throw_away(root, catalogue, "project", project_id, tables)


def thrown_away(root: Path, catalogue: Catalogue) -> list[Thrown]:
    """List what was deleted, the latest first; files that belong to none of it cannot come back.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.

    Returns
    -------
    list of Thrown
        What can be restored.
    """
    with catalogue.read() as db:
        names = {row["id"]: row["name"] for row in db.execute("SELECT id, name FROM project")}
        listed = {*names, *(row["id"] for row in db.execute("SELECT id FROM run"))}
    thrown = {}
    for entry, rows in _entries(root):
        deleted_id = _first(rows)["id"]
        if deleted_id not in listed and deleted_id not in thrown:  # else killed meanwhile
            thrown[deleted_id] = _thrown(root, entry, rows, names)
    return list(thrown.values())


def stray_bytes(root: Path, catalogue: Catalogue) -> int:
    """Tell how large the files in the trash are that would come back with nothing.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.

    Returns
    -------
    int
        Bytes.
    """
    restorable = sum(thrown.bytes for thrown in thrown_away(root, catalogue))
    return max(0, _bytes_in(root / "trash") - restorable)


def restore(root: Path, catalogue: Catalogue, name: str) -> str:
    """Bring back what was deleted.

    Files come first, as always, so that the catalogue never speaks of what is not there; they are
    held until it does.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.
    name : str
        The name of its folder in the trash.

    Returns
    -------
    str
        The id of the project that it belongs to.

    Raises
    ------
    DataError
        It, its project or its files are not there any more.
    """
    entry, rows = next(
        ((entry, rows) for entry, rows in _entries(root) if entry.name == name), (None, {})
    )
    if entry is None:
        raise DataError("It is not in the trash any more")
    project_id = str(_first(rows).get("project_id", _first(rows)["id"]))
    with catalogue.read() as db:
        is_listed = db.execute("SELECT 1 FROM project WHERE id = ?", [project_id]).fetchone()
    if is_listed is None and "project" not in rows:
        raise DataError("The project of this run was deleted too", fix="Restore the project first.")
    with ExitStack() as stack:
        _move_back(root, rows, stack)
        try:
            with catalogue.write() as db:
                for folder, table, row in _folders_of(root, rows):
                    new = {"name": free_name(db, row["name"])} if table == "project" else {}
                    insert(db, table, {**row, **new})
                    if table == "run":
                        count_run(db, row["project_id"], row["number"])
                    record_files.write(folder, table, {**row, **new}, scratch=root)
        except sqlite3.IntegrityError:
            raise DataError("It has been restored already") from None
    with suppress(OSError):  # what is left is listed no more
        folders.discard(entry)
    return project_id


def empty(root: Path) -> None:
    """Remove everything for good.

    Parameters
    ----------
    root : Path
        The folder of the workspace.

    Raises
    ------
    DataError
        Something stays.
    """
    trash = root / "trash"
    # Rows go before files that may be theirs: what is listed must be whole.
    listed = [entry for entry, _ in _entries(root)]
    for path in [*listed, *(path for path in trash.iterdir() if path not in listed)]:
        if path.is_dir():
            with suppress(OSError):
                folders.discard(path)
    folders.sweep(trash)
    if left := len(list(trash.iterdir())):
        raise DataError(
            f"{left} of the deleted things could not be removed",
            file=str(trash),
            fix="Look who owns its files, and remove them by hand.",
        )


def deleted_ids(root: Path) -> set[str]:
    """List the ids of everything that was deleted and can come back.

    Parameters
    ----------
    root : Path
        The folder of the workspace.

    Returns
    -------
    set of str
        Ids of projects, data sets and runs.
    """
    return {row["id"] for _, rows in _entries(root) for listed in rows.values() for row in listed}


def add_stray(root: Path, folder: Path) -> None:
    """Move a folder to the trash that a killed process left.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    folder : Path
        A folder of a data set, a run or a project.
    """
    _move(folder, _new_entry(root, "stray") / folder.parent.name)


def run_numbers(root: Path) -> Iterator[tuple[str, int]]:
    """List the numbers that runs in the trash have, which no other run of their project may get.

    Parameters
    ----------
    root : Path
        The folder of the workspace.

    Yields
    ------
    tuple
        The project's id, and a number.
    """
    for _, rows in _entries(root):
        for row in rows.get("run", []):
            if is_id(row.get("project_id")) and isinstance(row.get("number"), int):
                yield row["project_id"], row["number"]


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
        entry = _new_entry(root, noun)
        try:
            # Before they are gone, whatever happens between.
            write_private(entry / ROWS, json.dumps(rows))
        except BaseException:
            shutil.rmtree(entry, ignore_errors=True)
            raise
        db.execute(f"DELETE FROM {noun} WHERE id = ?", [row_id])
    with suppress(OSError):  # what stays is found as strays, and comes back all the same
        for folder, _, _ in _folders_of(root, rows):
            _move(folder, entry / folder.parent.name)


def _entries(root: Path) -> Iterator[tuple[Path, Rows]]:
    """Everything in the trash that can come back, the latest first, with its rows."""
    for entry in sorted((root / "trash").iterdir(), reverse=True):
        if not entry.name.startswith(".") and (rows := _rows_of(entry)):
            yield entry, rows


def _rows_of(entry: Path) -> Rows:
    """The rows that were deleted; none where only files are, or a file that is not ours."""
    try:
        rows = json.loads((entry / ROWS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    tables = {table for _, table in KINDS}
    is_ours = (
        isinstance(rows, dict)
        and bool(rows.get("project") or rows.get("run"))
        and all(
            table in tables
            and isinstance(listed, list)
            and all(isinstance(row, dict) and is_id(row.get("id")) for row in listed)
            for table, listed in rows.items()
        )
    )
    return rows if is_ours else {}


def _thrown(root: Path, entry: Path, rows: Rows, projects: dict[str, str]) -> Thrown:
    row = _first(rows)
    is_run = "project_id" in row
    title = f"#{row['number']} {row['title']}" if is_run else row["name"]
    sources = {path for folder, _, _ in _folders_of(root, rows) for path in _sources(folder)}
    return Thrown(
        name=entry.name,
        kind="run" if is_run else "project",
        title=title,
        project=projects.get(row["project_id"], "") if is_run else title,
        deleted=_deleted(entry),
        bytes=(entry / ROWS).stat().st_size + sum(map(_bytes_in, sources)),
    )


def _deleted(entry: Path) -> str:
    try:
        moment = datetime.strptime(entry.name.rsplit("-", 2)[0], STAMP).replace(tzinfo=UTC)
    except ValueError:  # somebody has renamed the folder
        moment = datetime.fromtimestamp((entry / ROWS).stat().st_mtime, UTC)
    return moment.isoformat()


def _first(rows: Rows) -> dict[str, Any]:
    """The row that was asked to be deleted; all others belong to it."""
    return (rows.get("project") or rows["run"])[0]


def _folders_of(root: Path, rows: Rows) -> list[tuple[Path, str, dict[str, Any]]]:
    """The folders of these rows when they are in their place, with their tables."""
    return [
        (root / kind / row["id"], table, row)
        for kind, table in KINDS
        for row in rows.get(table, [])
    ]


def _sources(folder: Path) -> Iterator[Path]:
    """Where in the trash a deleted folder is: beside its rows, or where strays were put."""
    trash = folder.parents[1] / "trash"
    yield from trash.glob(f"[!.]*/{folder.parent.name}/{folder.name}")


def _move_back(root: Path, rows: Rows, stack: ExitStack) -> None:
    """Put all folders into their places, held by the stack; none if one of them is gone."""
    moves = {}
    for target, table, row in _folders_of(root, rows):
        source = target if target.exists() else next(_sources(target), None)
        if source is None and table != "project":  # older versions had no folder for it
            noun = "data set" if table == "dataset" else "run"
            title = row.get("name") or row.get("title")
            raise DataError(
                f"The files of the {noun} {title!r} are gone, so it cannot be restored",
                file=str(root / "trash"),
            )
        moves[target] = source
    for target, source in moves.items():
        if source is None:
            folders.make_private(target)
        elif (handle := hold(source)) is not None:
            stack.callback(os.close, handle)
        if source is not None and source != target:
            source.rename(target)
            with suppress(OSError):  # of a stray, which is empty now
                source.parent.rmdir()
                source.parent.parent.rmdir()


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # another process is emptying the trash
            total += path.stat().st_size if path.is_file() else 0
    return total


def _new_entry(root: Path, noun: str) -> Path:
    stamp = datetime.now(UTC).strftime(STAMP)
    entry = root / "trash" / f"{stamp}-{noun}-{secrets.token_hex(4)}"
    folders.make_private(entry)
    return entry


def _move(folder: Path, into: Path) -> None:
    folders.make_private(into)
    if folder.exists():
        folder.rename(into / folder.name)
