"""The catalogue: one SQLite file that says which projects, data sets and runs there are."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crowdcore.data import DataError

SCHEMA = 2
"""The number of the schema below, kept in the file as `PRAGMA user_version`."""

WAIT = 10.0
"""Seconds to wait for another process to finish its write."""

_TABLES = """
CREATE TABLE project (
  id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created TEXT NOT NULL, sample TEXT,
  runs_made INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE dataset (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES project ON DELETE CASCADE,
  name TEXT NOT NULL, created TEXT NOT NULL, fingerprint TEXT NOT NULL, kind TEXT NOT NULL,
  n_labels INTEGER NOT NULL, n_items INTEGER NOT NULL, n_workers INTEGER NOT NULL,
  n_classes INTEGER NOT NULL, n_gold INTEGER NOT NULL, n_features INTEGER NOT NULL,
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
  warm_from TEXT, member_of TEXT, completion TEXT,
  UNIQUE (project_id, number)
);
CREATE INDEX run_by_status ON run (status);
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

_STEPS = {1: "ALTER TABLE run ADD COLUMN completion TEXT"}
"""What turns a file of this schema into one of the next."""

_ID = re.compile(r"[0-9a-f]{16}")


def new_id() -> str:
    """Make an id; ids are ours alone, so they are safe in paths and addresses."""
    return secrets.token_hex(8)


def checked_id(text: str, noun: str) -> str:
    """Return an id that looks like one of ours; anything else is a `DataError`."""
    if not isinstance(text, str) or not _ID.fullmatch(text):
        raise DataError(f"{str(text)[:80]!r} is not the id of a {noun}")
    return text


def now() -> str:
    """Return the time, in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The catalogue file. Every operation opens it, works and closes it.

    Nothing stays open, so threads share no connection, a fork inherits none, and a killed
    process leaves only what SQLite's log puts right. Not for network drives, where it cannot.
    """

    path: Path

    def create(self) -> None:
        """Make the file and its tables where they are missing."""
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            with self.write() as db:
                found = _schema_of(db)
                steps = [_STEPS[number] for number in range(found, SCHEMA)] if found else []
                for statement in steps if found else _TABLES.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {SCHEMA}")
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"The workspace's catalogue cannot be used: {error}",
                file=str(self.path),
                fix="Choose another workspace folder, or put back a copy of this file.",
            ) from error

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Open the catalogue for a look."""
        with self._open() as db:
            yield db

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open the catalogue for one change: all of it happens, or none."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                if db.in_transaction:  # a full disk ends it by itself
                    db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise DataError("The workspace's catalogue is gone", file=str(self.path))
        # mode=rw: a folder that was deleted must not come back as an empty catalogue.
        address = f"{self.path.as_uri()}?mode=rw"
        db = sqlite3.connect(address, timeout=WAIT, isolation_level=None, uri=True)
        db.row_factory = sqlite3.Row
        try:
            if (found := _schema_of(db)) > SCHEMA:
                raise DataError(
                    f"This workspace was made by a newer crowdcore (schema {found}; this one "
                    f"knows {SCHEMA})",
                    file=str(self.path),
                    fix="Update crowdcore, or choose another workspace folder.",
                )
            if not found:
                _use_log(db)
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA foreign_keys = ON")
            yield db
        finally:
            db.close()


def insert(db: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    """Add a row."""
    marks = ", ".join("?" * len(values))
    db.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", [*values.values()])


def free_name(db: sqlite3.Connection, wanted: str) -> str:
    """The name for a project; one that is taken gets a number, as in a file manager."""
    taken = {row["name"] for row in db.execute("SELECT name FROM project")}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted} ({number})", number + 1
    return name


def _schema_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _use_log(db: sqlite3.Connection) -> None:
    """Switch a new file to write-ahead logging; SQLite itself does not wait for that lock."""
    until = time.monotonic() + WAIT
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
