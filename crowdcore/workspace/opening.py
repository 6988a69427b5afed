"""Opening a workspace: its folders, its catalogue, and what earlier processes left undone."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from crowdcore.atomic import PRIVATE_FILE, PRIVATE_FOLDER
from crowdcore.workspace import folders, rebuild, record_files, trash
from crowdcore.workspace.catalogue import SCHEMA, Catalogue
from crowdcore.workspace.disk import REBUILD, writing
from crowdcore.workspace.errors import CatalogueError, StorageError
from crowdcore.workspace.record_files import KINDS

FOLDERS = (*(kind for kind, _ in KINDS), "trash")


def open_folder(root: Path, catalogue: Catalogue) -> None:
    """Make what is missing, bring an older workspace up to date, and tidy up.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.

    Raises
    ------
    StorageError
        The folder cannot be made, or not be brought up to date.
    CatalogueError
        There are data and runs, but no catalogue of them; or it is damaged or too new.
    """
    try:
        folders.make_root(root)
        for name in FOLDERS:
            folders.make_private(root / name)
    except OSError as error:
        raise StorageError(
            f"The workspace folder cannot be used: {error.strerror}",
            file=str(root),
            fix=f"Name another with --workspace or {folders.HOME}.",
        ) from error
    schema = catalogue.schema()
    if not schema:
        # Asked again: another process may have made the workspace and its first project meanwhile.
        if rebuild.has_folders(root) and not catalogue.schema():
            raise CatalogueError(
                "The workspace holds data and runs, but its catalogue is missing or empty",
                file=str(catalogue.path),
                fix=REBUILD,
            )
        with writing(root, "The workspace"):
            catalogue.create()
    elif schema < SCHEMA:
        with writing(root, "The workspace of an older crowdcore"):
            catalogue.upgrade(lambda db: _describe_folders(db, root))
    with suppress(OSError, StorageError):  # full or read-only: to look, nothing must be tidy
        for folder in (root, *(root / name for name in FOLDERS)):
            folders.sweep(folder)
        collect_strays(root, catalogue)


def collect_strays(root: Path, catalogue: Catalogue) -> None:
    """Move to the trash what nobody lists, nobody holds and nobody would miss.

    That is what a process killed while deleting, or while making a folder, left. What holds saved
    data or a result stays where it is, even if the catalogue does not know it: the catalogue may
    be an older copy.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    catalogue : Catalogue
        Its catalogue.
    """
    deleted = trash.deleted_ids(root)
    for kind, table in KINDS:
        listed = _ids(catalogue, table)
        for folder in (root / kind).iterdir():
            if folder.name in listed or folder.name.startswith("."):
                continue
            with folders.holding(folder) as held:
                if not held or folder.name in _ids(catalogue, table):
                    continue  # somebody is making or restoring it, or just has
                if folder.name in deleted or not record_files.is_whole(folder, table):
                    trash.add_stray(root, folder)


def _ids(catalogue: Catalogue, table: str) -> set[str]:
    with catalogue.read() as db:
        return {row["id"] for row in db.execute(f"SELECT id FROM {table}")}


def _describe_folders(db: sqlite3.Connection, root: Path) -> None:
    """Write into the folders of an older workspace what they are, and make them private."""
    for kind, table in KINDS:
        for row in db.execute(f"SELECT * FROM {table}").fetchall():
            folder = root / kind / row["id"]
            if table == "project":
                folders.make_private(folder)
            if folder.is_dir():
                record_files.write(folder, table, dict(row), scratch=root)
    for name in FOLDERS:
        for path in (root / name).rglob("*"):
            path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)
