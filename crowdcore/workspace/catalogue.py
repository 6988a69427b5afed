"""The catalogue: one SQLite file that says which projects, data sets and runs there are."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crowdcore.atomic import PRIVATE_FILE
from crowdcore.data import DataError
from crowdcore.workspace.disk import REBUILD, catalogue_errors
from crowdcore.workspace.errors import CatalogueError

SCHEMA = 6
"""The number of the schema below, kept in the file as `PRAGMA user_version`."""

MAX_WAIT_SECONDS = 10.0
"""How long to wait for another process to finish its write."""

TABLES = """
CREATE TABLE project (
  id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created TEXT NOT NULL, sample TEXT,
  runs_made INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE dataset (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES project ON DELETE CASCADE,
  name TEXT NOT NULL, created TEXT NOT NULL, fingerprint TEXT NOT NULL, kind TEXT NOT NULL,
  n_labels INTEGER NOT NULL, n_items INTEGER NOT NULL, n_workers INTEGER NOT NULL,
  n_classes INTEGER NOT NULL, n_gold INTEGER NOT NULL, n_features INTEGER NOT NULL,
  version INTEGER NOT NULL DEFAULT 1, made_from TEXT, added TEXT NOT NULL DEFAULT '{}',
  UNIQUE (project_id, fingerprint)
);
CREATE TABLE run (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES project ON DELETE CASCADE,
  dataset_id TEXT NOT NULL REFERENCES dataset ON DELETE CASCADE,
  number INTEGER NOT NULL, method TEXT NOT NULL, title TEXT NOT NULL, params TEXT NOT NULL,
  seed INTEGER NOT NULL, device TEXT NOT NULL, excluded TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'queued' CHECK
    (status IN ('queued', 'running', 'done', 'failed', 'cancelled', 'lost')),
  cancel INTEGER NOT NULL DEFAULT 0, pid INTEGER, pid_started REAL,
  stage TEXT NOT NULL DEFAULT '', step INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0, speed REAL NOT NULL DEFAULT 0,
  metrics TEXT NOT NULL DEFAULT '{}', error TEXT NOT NULL DEFAULT '',
  created TEXT NOT NULL, started TEXT, finished TEXT,
  seconds REAL, accuracy REAL, n_tied INTEGER,
  warm_from TEXT, member_of TEXT, completion TEXT, decisions TEXT NOT NULL DEFAULT '[]',
  headline TEXT NOT NULL DEFAULT '', name TEXT NOT NULL DEFAULT '',
  preview INTEGER NOT NULL DEFAULT 0,
  UNIQUE (project_id, number)
);
CREATE INDEX run_by_status ON run (status);
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

UPGRADES = {
    1: ("ALTER TABLE run ADD COLUMN completion TEXT",),
    2: (
        "ALTER TABLE dataset ADD COLUMN version INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE dataset ADD COLUMN made_from TEXT",
        "ALTER TABLE dataset ADD COLUMN added TEXT NOT NULL DEFAULT '{}'",
    ),
    3: ("ALTER TABLE run ADD COLUMN decisions TEXT NOT NULL DEFAULT '[]'",),
    4: ("ALTER TABLE run ADD COLUMN headline TEXT NOT NULL DEFAULT ''",),
    5: (
        "ALTER TABLE run ADD COLUMN name TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE run ADD COLUMN preview INTEGER NOT NULL DEFAULT 0",
    ),
}
"""What turns a file of this schema into one of the next."""

_ID = re.compile(r"[0-9a-f]{16}")


def new_id() -> str:
    """Make an id; ids are ours alone, so they are safe in paths and addresses.

    Returns
    -------
    str
        Sixteen hexadecimal digits.
    """
    return secrets.token_hex(8)


def is_id(text: object) -> bool:
    """Tell whether something looks like one of our ids.

    Parameters
    ----------
    text : object
        Anything, such as the name of a folder.

    Returns
    -------
    bool
        True for sixteen hexadecimal digits.
    """
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def checked_id(text: str, noun: str) -> str:
    """Return an id that looks like one of ours.

    Parameters
    ----------
    text : str
        What was given, perhaps in an address.
    noun : str
        What it should be the id of.

    Returns
    -------
    str
        The id.

    Raises
    ------
    DataError
        It is no id.
    """
    if not is_id(text):
        raise DataError(f"{str(text)[:80]!r} is not the id of a {noun}")
    return text


def now() -> str:
    """Return the time, in UTC.

    Returns
    -------
    str
        ISO 8601, with milliseconds.
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The catalogue file. Every operation opens it, works and closes it.

    Nothing stays open, so threads share no connection, a fork inherits none, and a killed process
    leaves only what SQLite's journal puts right. With a journal that is deleted, unlike a log
    written ahead, looking needs no room on the disk and no right to write. Not for network drives,
    where locks do not hold.
    """

    path: Path

    def schema(self) -> int:
        """Read the number of the schema.

        Returns
        -------
        int
            0 where there is no file, or one without tables.

        Raises
        ------
        CatalogueError
            The file is damaged, or made by a newer crowdcore.
        """
        if not self.path.exists() or not self.path.stat().st_size:
            return 0
        with self.read() as db:
            return _schema_of(db)

    def create(self) -> None:
        """Make the file and its tables; what another process has made meanwhile is kept."""
        handle = os.open(self.path, os.O_CREAT | os.O_RDWR, PRIVATE_FILE)
        os.fchmod(handle, PRIVATE_FILE)
        os.close(handle)
        with self.write() as db:
            if not _schema_of(db):
                for statement in TABLES.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {SCHEMA}")

    def upgrade(self, finish: Callable[[sqlite3.Connection], None]) -> None:
        """Bring the tables of an older version up to date.

        Parameters
        ----------
        finish : callable
            What else belongs to the step; it is not called if another process was faster.
        """
        with catalogue_errors(self.path), self._open() as db:
            _keep_no_log(db)
        with self.write() as db:
            schema = _schema_of(db)
            if schema < SCHEMA:
                for number in range(schema, SCHEMA):
                    for statement in UPGRADES[number]:
                        db.execute(statement)
                finish(db)
                db.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Open the catalogue for a look.

        Yields
        ------
        Connection
            To be used at once.
        """
        with catalogue_errors(self.path), self._open() as db:
            yield db

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open the catalogue for one change: all of it happens, or none.

        Yields
        ------
        Connection
            In a transaction that ends with the block.
        """
        with catalogue_errors(self.path), self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # a full disk ends it by itself
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise CatalogueError(
                "The workspace's catalogue is gone", file=str(self.path), fix=REBUILD
            )
        # mode=rw: a folder that was deleted must not come back as an empty catalogue. Where
        # nothing may be written, SQLite opens it to be read.
        address = f"{self.path.as_uri()}?mode=rw"
        db = sqlite3.connect(address, timeout=MAX_WAIT_SECONDS, isolation_level=None, uri=True)
        db.row_factory = sqlite3.Row
        try:
            if (schema := _schema_of(db)) > SCHEMA:
                raise CatalogueError(
                    f"This workspace was made by a newer crowdcore (schema {schema}; this one "
                    f"knows {SCHEMA})",
                    file=str(self.path),
                    fix="Update crowdcore, or choose another workspace folder.",
                )
            db.execute("PRAGMA foreign_keys = ON")
            yield db
        finally:
            db.close()


def insert(db: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    """Add a row.

    Parameters
    ----------
    db : Connection
        Open for a change.
    table : str
        The table's name.
    values : dict of str to object
        One value per column.
    """
    marks = ", ".join("?" * len(values))
    db.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", [*values.values()])


def free_name(db: sqlite3.Connection, wanted: str) -> str:
    """Choose the name of a project; one that is taken gets a number, as in a file manager.

    Parameters
    ----------
    db : Connection
        Open for a change.
    wanted : str
        The name that was asked for.

    Returns
    -------
    str
        A name that no project has.
    """
    taken = {row["name"] for row in db.execute("SELECT name FROM project")}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted} ({number})", number + 1
    return name


def count_run(db: sqlite3.Connection, project_id: str, number: int) -> None:
    """See to it that the number of a run is never given again.

    Parameters
    ----------
    db : Connection
        Open for a change.
    project_id : str
        The run's project.
    number : int
        The run's number.
    """
    query = "UPDATE project SET runs_made = max(runs_made, ?) WHERE id = ?"
    db.execute(query, [number, project_id])


def _schema_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _keep_no_log(db: sqlite3.Connection) -> None:
    """Leave write-ahead logging, which older versions used; SQLite does not wait for that lock."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = DELETE")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
