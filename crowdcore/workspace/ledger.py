"""The ledger of a project on disk: one line per decision, only ever appended to.

Every line carries a checksum over itself and the line before, so a line that was changed or taken
out is noticed. What a crash left half-written at the end was never acknowledged, and is cut off by
the next append.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdcore.atomic import PRIVATE_FILE, lock, sync
from crowdcore.decisions import Decision
from crowdcore.workspace.errors import DamagedError

FILE = "decisions.jsonl"
"""The name of the ledger, in the project's folder."""

_CHECK_LENGTH = 32


@dataclass(frozen=True, kw_only=True)
class _Lines:
    decisions: list[Decision]
    end: int  # of the last whole line, in bytes
    check: str  # of the last whole line


def read(folder: Path) -> list[Decision]:
    """Read the ledger of a project.

    Parameters
    ----------
    folder : Path
        The project's folder.

    Returns
    -------
    list of Decision
        In the order they were made; none where nothing was decided.

    Raises
    ------
    DamagedError
        A line was changed or taken out.
    """
    path = folder / FILE
    return _parse(path.read_bytes(), path).decisions if path.exists() else []


def append(folder: Path, decisions: Sequence[Decision]) -> None:
    """Add decisions at the end: all of them, on the disk, or none.

    Parameters
    ----------
    folder : Path
        The project's folder.
    decisions : sequence of Decision
        What was decided.

    Raises
    ------
    DamagedError
        A line was changed or taken out.
    """
    path = folder / FILE
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        lock(handle, wait=True)
        lines = _parse(path.read_bytes(), path)
        text, check = b"", lines.check
        for decision in decisions:
            entry = decision.as_json()
            check = _check(check, entry)
            text += json.dumps({"check": check, "entry": entry}).encode() + b"\n"
        try:
            os.ftruncate(handle, lines.end)
            os.lseek(handle, lines.end, os.SEEK_SET)
            remaining = memoryview(text)
            while remaining:
                remaining = remaining[os.write(handle, remaining) :]
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, lines.end)
            raise
    finally:
        os.close(handle)
    sync(folder)


def _parse(content: bytes, path: Path) -> _Lines:
    end = content.rfind(b"\n") + 1
    decisions: list[Decision] = []
    check = ""
    for number, line in enumerate(content[:end].splitlines(), start=1):
        try:
            record = json.loads(line)
            entry = record["entry"]
            is_intact = record["check"] == _check(check, entry)
        except (ValueError, KeyError, TypeError):
            is_intact = False
        if not is_intact:
            raise DamagedError(
                f"Line {number} of the decisions is not what was written",
                file=str(path),
                fix="Put back a copy of the file, or move it away: the decisions up to that line "
                "can be imported again.",
            )
        check = record["check"]
        decisions.append(Decision.from_json(entry))
    return _Lines(decisions=decisions, end=end, check=check)


def _check(previous: str, entry: str) -> str:
    return hashlib.sha256(f"{previous}\n{entry}".encode()).hexdigest()[:_CHECK_LENGTH]
