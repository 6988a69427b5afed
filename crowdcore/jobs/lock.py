"""The lock that makes the daemon of a workspace the only one, and says who holds it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from crowdcore.data import DataError

NAME = "workerd.lock"


def take(root: Path) -> int | None:
    """Take the lock and return the open file; None while another process holds it.

    The lock goes with the open file, so a child that inherits it holds it too, and the system
    lets go when the last of them ends, however it ends.
    """
    try:
        import fcntl
    except ImportError:
        raise DataError(
            "Fits in the background need Linux or macOS",
            fix="On Windows, run crowdcore inside WSL.",
        ) from None
    handle = os.open(root / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    return handle


def sign(handle: int, facts: dict[str, Any]) -> None:
    """Write into the lock who holds it."""
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(facts).encode(), 0)


def holder(root: Path) -> dict[str, Any]:
    """Read who holds the lock, or held it last; nothing while a daemon is starting."""
    try:
        facts: dict[str, Any] = json.loads((root / NAME).read_bytes())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return facts


def is_in_place(handle: int, root: Path) -> bool:
    """Tell whether the lock is still the workspace's; it is not once the folder was removed."""
    try:
        here, there = os.fstat(handle), (root / NAME).stat()
    except FileNotFoundError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
