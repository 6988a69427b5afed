"""What all parts of a workspace share: the folder, the catalogue, and settings."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from crowdcore.data import DataError
from crowdcore.workspace import folders, opening, rebuild
from crowdcore.workspace.catalogue import Catalogue, checked_id
from crowdcore.workspace.disk import writing
from crowdcore.workspace.errors import WorkspaceError


class Store:
    """The folder of a workspace and its catalogue.

    Parameters
    ----------
    root : Path, optional
        The folder; by default that of the environment variable CROWDCORE_HOME, else one among the
        user's data.

    Raises
    ------
    CatalogueError
        The catalogue is missing although there are data, damaged, or made by a newer crowdcore.
    StorageError
        The folder cannot be used.
    """

    root: Path
    catalogue: Catalogue

    def __init__(self, root: Path | None = None) -> None:
        self.root = folders.default_root() if root is None else Path(root).expanduser().resolve()
        self.catalogue = Catalogue(path=self.root / rebuild.FILE)
        opening.open_folder(self.root, self.catalogue)

    def setting(self, key: str, default: Any = None) -> Any:
        """Return a setting of the workspace.

        Parameters
        ----------
        key : str
            Its name.
        default : object, optional
            What to return where it was never set.

        Returns
        -------
        object
            What `set_setting` was given.
        """
        rows = self._rows("SELECT value FROM setting WHERE key = ?", key)
        return json.loads(rows[0]["value"]) if rows else default

    def set_setting(self, key: str, value: Any) -> None:
        """Keep a setting.

        Parameters
        ----------
        key : str
            Its name.
        value : object
            Anything that JSON can hold.

        Raises
        ------
        StorageError
            The disk is full, read-only or failing.
        """
        with writing(self.root, "The setting"), self.catalogue.write() as db:
            db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", [key, json.dumps(value)])

    def new_draft(self) -> folders.ScratchFolder:
        """Make a folder for files that are not yet a data set.

        Returns
        -------
        ScratchFolder
            It goes with the object, or with the process.

        Raises
        ------
        StorageError
            The disk is full, read-only or failing.
        """
        with writing(self.root, "The upload"):
            return folders.ScratchFolder(self.root / "data")

    @contextmanager
    def _listing(self, table: str, row_id: str, folder: Path) -> Iterator[None]:
        """Remove a folder again that the block has published but not listed."""
        try:
            yield
        except BaseException:
            with suppress(WorkspaceError):  # where nobody can tell, the folder stays
                if not self._rows(f"SELECT 1 FROM {table} WHERE id = ?", row_id):
                    shutil.rmtree(folder, ignore_errors=True)
            raise

    def _row(self, table: str, key: str, noun: str) -> sqlite3.Row:
        rows = self._rows(f"SELECT * FROM {table} WHERE id = ?", checked_id(key, noun))
        if not rows:
            raise DataError(f"There is no {noun} {key!r} in this workspace")
        return rows[0]

    def _rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self.catalogue.read() as db:
            return db.execute(query, values).fetchall()
