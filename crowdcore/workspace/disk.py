"""Trouble with the disk as sentences: how much room is missing and where, what cannot be read."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdcore.wording import size
from crowdcore.workspace.errors import CatalogueError, StorageError, WorkspaceError

SMALL_WRITE_BYTES = 1_000_000
"""What a change of the catalogue may take, with the journal that SQLite keeps meanwhile."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}

REBUILD = (
    "Put back a copy of the catalogue, or make it again from the folders with "
    "`crowdcore workspace rebuild`."
)


@contextmanager
def writing(root: Path, what: str, *, needed: int = SMALL_WRITE_BYTES) -> Iterator[None]:
    """Turn errors of the disk into a `StorageError` that says what was not written, and why.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    what : str
        What is written, to begin a sentence with, such as "The data set".
    needed : int, default SMALL_WRITE_BYTES
        About how many bytes it takes.

    Raises
    ------
    StorageError
        There is no room, the disk is read-only, or it fails.
    """
    try:
        yield
    except StorageError as error:
        raise (no_room(root, what, needed) if is_full(error, root, needed) else error) from error
    except OSError as error:
        raise _storage_error(error, root, what, needed) from error


def no_room(root: Path, what: str, needed: int) -> StorageError:
    """Say how much room is missing, and where.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    what : str
        What is written.
    needed : int
        About how many bytes it takes.

    Returns
    -------
    StorageError
        To be raised.
    """
    free = free_bytes(root)
    missing = max(needed - free, SMALL_WRITE_BYTES)
    return StorageError(
        f"{what} was not saved: there is no room. It takes about {size(needed)}, and "
        f"{size(free)} are free on the disk of the workspace",
        file=str(root),
        fix=f"Make at least {size(missing)} of room there, for example by emptying the trash, and "
        "try again.",
    )


def free_bytes(root: Path) -> int:
    """Measure the room on the disk of a workspace.

    Parameters
    ----------
    root : Path
        The folder of the workspace.

    Returns
    -------
    int
        Bytes that can still be written.
    """
    try:
        return shutil.disk_usage(root).free
    except OSError:  # the folder is gone
        return 0


def is_full(error: BaseException, root: Path, needed: int) -> bool:
    """Tell whether an error comes of a full disk.

    Parameters
    ----------
    error : BaseException
        What was raised while something was written.
    root : Path
        The folder of the workspace.
    needed : int
        About how many bytes were to be written.

    Returns
    -------
    bool
        True also for errors without a number, as some libraries raise, where room is short.
    """
    while isinstance(error, StorageError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, sqlite3.Error):
        code = _code(error)
        if code == sqlite3.SQLITE_FULL:
            return True
        # Without room SQLite may also fail to make its journal, or to write it.
        vague = code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
        return vague and free_bytes(root) < needed
    if isinstance(error, OSError):
        return error.errno in _FULL or (error.errno is None and free_bytes(root) < needed)
    return False


@contextmanager
def catalogue_errors(path: Path) -> Iterator[None]:
    """Turn errors of the disk that SQLite reports into sentences; others are the caller's to word.

    Parameters
    ----------
    path : Path
        The file of the catalogue.

    Raises
    ------
    StorageError
        The disk is full, read-only, busy or failing.
    CatalogueError
        The file is damaged.
    """
    try:
        yield
    except sqlite3.Error as error:
        sentence = _catalogue_error(error, path)
        if sentence is None:
            raise
        raise sentence from error


def _code(error: sqlite3.Error) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _catalogue_error(error: sqlite3.Error, path: Path) -> WorkspaceError | None:
    """Word what the disk or the file did; None for what a statement did."""
    code, file, root = _code(error), str(path), path.parent
    if is_full(error, root, SMALL_WRITE_BYTES):
        return no_room(root, "The change", SMALL_WRITE_BYTES)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageError(
            "Another process has been writing to the workspace for too long",
            file=file,
            fix="Try again.",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return CatalogueError(
            f"The workspace's catalogue is damaged: {error}", file=file, fix=REBUILD
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM) or (
        code == sqlite3.SQLITE_CANTOPEN and not os.access(root, os.W_OK)
    ):
        return _read_only(root)
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL):
        # It may also have gone in the moment between looking for it and opening it.
        return StorageError(
            f"The workspace's catalogue cannot be used: {error}",
            file=file,
            fix="Check the disk, and try again.",
        )
    return None


def _storage_error(error: OSError, root: Path, what: str, needed: int) -> StorageError:
    if is_full(error, root, needed):
        return no_room(root, what, needed)
    if error.errno in _READ_ONLY:
        return _read_only(root)
    path = str(error.filename) if error.filename else str(root)
    return StorageError(
        f"{what} was not saved: {error.strerror or error}",
        file=path,
        fix="Check the disk, and try again.",
    )


def _read_only(root: Path) -> StorageError:
    return StorageError(
        "The workspace can be looked at, but nothing can be written to it",
        file=str(root),
        fix="Look who owns the folder and whether its disk is read-only, or name another "
        "workspace with --workspace or CROWDCORE_HOME.",
    )
