"""The lock that makes the daemon of a workspace the only one, and says who holds it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from crowdcore.atomic import PRIVATE_FILE, lock
from crowdcore.data import DataError

NAME = "daemon.lock"


def take(root: Path) -> int | None:
    """Take the lock and return the open file; None while another process holds it.

    The lock goes with the open file, so a child that inherits it holds it too, and the system
    lets go when the last of them ends, however it ends.

    Parameters
    ----------
    root : Path
        The folder of the workspace.

    Returns
    -------
    int or None
        A file descriptor, to be closed by the caller; None while another process holds the lock.

    Raises
    ------
    DataError
        The system has no such locks.
    """
    if not hasattr(os, "fork"):
        raise DataError(
            "Fits in the background need Linux or macOS",
            fix="On Windows, run crowdcore inside WSL.",
        )
    handle = os.open(root / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        os.fchmod(handle, PRIVATE_FILE)
        if lock(handle):
            return handle
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def sign(handle: int, facts: dict[str, Any]) -> None:
    """Write into the lock who holds it.

    Parameters
    ----------
    handle : int
        What `take` returned.
    facts : dict of str to object
        Anything that JSON can hold.
    """
    text = json.dumps(facts).encode()
    with suppress(OSError):  # on a full disk the lock holds without a name on it
        os.pwrite(handle, text, 0)
        os.ftruncate(handle, len(text))


def holder(root: Path) -> dict[str, Any]:
    """Read who holds the lock, or held it last.

    Parameters
    ----------
    root : Path
        The folder of the workspace.

    Returns
    -------
    dict of str to object
        What was signed; nothing while a daemon is starting.
    """
    try:
        facts: dict[str, Any] = json.loads((root / NAME).read_bytes())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def is_in_place(handle: int, root: Path) -> bool:
    """Tell whether the lock is still the workspace's; it is not once the folder was removed.

    Parameters
    ----------
    handle : int
        What `take` returned.
    root : Path
        The folder of the workspace.

    Returns
    -------
    bool
        False once the file or its folder was removed.
    """
    try:
        held, on_disk = os.fstat(handle), (root / NAME).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # a disk that fails for a moment has not lost the folder
        return True
    return (held.st_dev, held.st_ino) == (on_disk.st_dev, on_disk.st_ino)
