"""Folders that appear whole or not at all, and what is left of those that did not."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOME = "CROWDCORE_HOME"
"""The environment variable that names the workspace folder."""

PREFIX = ".tmp-"

STALE = 3600.0
"""Seconds after which a leftover is a leftover, even if its maker still seems to live."""

_OWNED = re.compile(re.escape(PREFIX) + r"(\d+)-[0-9a-f]+")


@contextmanager
def whole_folder(target: Path, *, scratch: Path) -> Iterator[Path]:
    """Give a new folder to fill, inside `scratch`; at the end it is moved to `target`.

    Everything is on the disk before the folder gets its name, so a crash at any moment leaves
    the whole folder or only a `.tmp-` one, which `sweep` takes away. The name says whose it is.
    """
    folder = scratch / f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
        for path in folder.iterdir():
            _sync(path)
        _sync(folder)
        folder.rename(target)
        _sync(target.parent)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def sweep(folder: Path) -> None:
    """Remove `.tmp-` leftovers, but nothing that a living process may still be writing."""
    for path in folder.glob(f"{PREFIX}*"):
        if _is_leftover(path):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def age(path: Path) -> float:
    """Seconds since a path last changed; 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def default_root() -> Path:
    """Return the folder that the environment names, else one among the user's data."""
    import platformdirs

    home = os.environ.get(HOME)
    root = Path(home) if home else platformdirs.user_data_path("crowdcore")
    return root.expanduser().resolve()


def make_private(root: Path) -> None:
    """Make the folder ours alone; one that others already keep things in stays as open as it was.

    What we put into it is private either way.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(root.iterdir()):
        root.chmod(0o700)


def _is_leftover(path: Path) -> bool:
    if age(path) > STALE:
        return True
    if owner := _OWNED.fullmatch(path.name):
        import psutil

        return not psutil.pid_exists(int(owner[1]))
    return False


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
