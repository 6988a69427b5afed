"""Checksums of the files in a folder: written with them, checked before they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from crowdcore.data import DataError
from crowdcore.workspace.errors import DamagedError

FILE = "checksums.json"

MAX_REMEMBERED_FILES = 4096

_OTHERS = {FILE, "record.json"}
"""Files that are not covered: the sums themselves, and what may change later."""


def write(folder: Path) -> None:
    """Write the size and SHA-256 of every file in a folder, before the folder gets its name.

    Parameters
    ----------
    folder : Path
        A folder with all of its files written.
    """
    sums = {
        path.name: {"bytes": path.stat().st_size, "sha256": _digest(path)}
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in _OTHERS
    }
    (folder / FILE).write_text(json.dumps(sums, indent=1), encoding="utf-8")


def damaged(folder: Path, names: Iterable[str] | None = None) -> list[str]:
    """Find files that are not what was written.

    A file is read once per process; afterwards its size and time of change are compared.

    Parameters
    ----------
    folder : Path
        A folder that `write` was called for. One from before there were sums has none, and
        nothing is found.
    names : iterable of str, optional
        The files to check, all by default; those that were never written are not missed.

    Returns
    -------
    list of str
        Names of files, in alphabetical order; `checksums.json` itself where it cannot be read.
    """
    if not (folder / FILE).exists():
        return []
    try:
        sums = json.loads((folder / FILE).read_text(encoding="utf-8"))
        expected = {name: (entry["bytes"], entry["sha256"]) for name, entry in sums.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return [FILE]
    wanted = expected.keys() if names is None else expected.keys() & set(names)
    return sorted(name for name in wanted if _found(folder / name) != expected[name])


def _found(path: Path) -> tuple[int, str] | None:
    """The size and the checksum of a file as it is; None if it cannot be read."""
    try:
        now = path.stat()
        return now.st_size, _remembered(path, now.st_ino, now.st_size, now.st_mtime_ns)
    except OSError:
        return None


@lru_cache(MAX_REMEMBERED_FILES)
def _remembered(path: Path, inode: int, size: int, changed: int) -> str:
    return _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def intact(
    folder: Path,
    names: Iterable[str] | None = None,
    *,
    subject: str,
    contents: Mapping[str, str],
    fix: str,
) -> Iterator[None]:
    """Check files before the block reads them.

    Parameters
    ----------
    folder : Path
        A folder that `write` was called for, or one from before there were sums.
    names : iterable of str, optional
        The files that are read, all by default.
    subject : str
        What the folder holds, to begin a sentence with.
    contents : Mapping
        What each file holds, in words.
    fix : str
        What to do about damage, in a sentence.

    Raises
    ------
    DamagedError
        A file is missing or not what was written; in a folder without sums, it cannot be read.
    """
    if not folder.is_dir():
        raise DamagedError(f"{subject} is damaged: its folder is gone", file=str(folder), fix=fix)
    if broken := damaged(folder, names):
        lost = ", ".join(f"{contents.get(name, 'a part')} ({name})" for name in broken)
        raise DamagedError(
            f"{subject} is damaged. Lost or changed since it was saved: {lost}",
            file=str(folder),
            fix=fix,
        )
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        if (folder / FILE).exists():
            raise  # the files are what was written, so this is a bug of ours
        raise DamagedError(
            f"{subject} is damaged: {type(error).__name__}: {error}", file=str(folder), fix=fix
        ) from error
