"""Files that are either whole or not there, and the hold that says whose they are meanwhile."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there nothing can be held, and nothing is taken for abandoned
    fcntl = None  # type: ignore[assignment]

PREFIX = ".tmp-"
"""How the names of files and folders begin that are not finished."""

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""Modes of what only its owner may look at."""


@contextmanager
def atomic(
    path: str | Path, *, private: bool = False, scratch: Path | None = None
) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes the place of `path` when all went well.

    Parameters
    ----------
    path : str or Path
        The file to write.
    private : bool, default False
        Let only the owner read and write the file, whatever the umask says; else the umask
        decides, as for any other file of the user's.
    scratch : Path, optional
        The folder of the temporary file, on the same disk; that of `path` by default.

    Yields
    ------
    Path
        An empty file to write to.
    """
    target = Path(path)
    temporary = (scratch or target.parent) / f"{PREFIX}{secrets.token_hex(8)}{target.suffix}"
    mode = PRIVATE_FILE if private else 0o666
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
    try:
        if private:
            os.chmod(temporary, mode)  # noqa: PTH101  (the umask may have taken more away)
        lock(handle)
        yield temporary
        os.fsync(handle)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def write_private(path: Path, text: str, *, scratch: Path | None = None) -> None:
    """Write a small file that only its owner may read: all of it, on the disk, or nothing.

    Parameters
    ----------
    path : Path
        The file to write.
    text : str
        What it shall hold.
    scratch : Path, optional
        The folder of the temporary file; that of `path` by default.
    """
    with atomic(path, private=True, scratch=scratch) as temporary:
        temporary.write_text(text, encoding="utf-8")
    sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk.

    Parameters
    ----------
    path : Path
        A file or folder.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def hold(path: Path) -> int | None:
    """Take hold of a file or folder, so that nobody takes it for abandoned.

    The hold goes with the open file: it survives a change of the name, is shared with children
    that inherit the file, and ends with the last process that has it open, however that ends.
    No clock and no process id is needed to tell who is alive.

    Parameters
    ----------
    path : Path
        A file or folder.

    Returns
    -------
    int or None
        A file descriptor, to be closed by the caller; None while somebody else has the hold, and
        on systems that cannot tell.

    Raises
    ------
    FileNotFoundError
        There is nothing of this name.
    """
    if fcntl is None:
        return None
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    if not lock(handle):
        os.close(handle)
        return None
    return handle


def lock(handle: int, *, wait: bool = False) -> bool:
    """Take the lock of an open file.

    Parameters
    ----------
    handle : int
        A file descriptor.
    wait : bool, default False
        Wait until nobody else has it.

    Returns
    -------
    bool
        False while another open file has the lock, and on systems without such locks.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
