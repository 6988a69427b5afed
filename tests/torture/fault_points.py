"""Every file and database call of this process below a folder, counted, and one of them broken.

For a forked child that is about to end: nothing here is ever undone.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Fault = Literal["kill", "EIO", "ENOSPC", "torn, kill", "torn, ENOSPC"]

FAULTS: tuple[Fault, ...] = ("kill", "EIO", "ENOSPC", "torn, kill", "torn, ENOSPC")
"""Killed there; failing there once; no room from there on; and both after half of a write."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link")
_FREEING = ("os.remove", "os.rmdir", "os.chmod")
"""Calls that need no room."""

_STATEMENTS = ("INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "CREATE", "ALTER")
_SQLITE_CODES = {errno.EIO: sqlite3.SQLITE_IOERR, errno.ENOSPC: sqlite3.SQLITE_FULL}


@dataclass(kw_only=True)
class FaultPoints:
    """Counts calls, and breaks one of them.

    Parameters
    ----------
    root
        Calls on files elsewhere are not counted.
    at
        The number of the call to break, from 1; 0 breaks none.
    fault
        How it breaks.
    heals_after
        How many calls later a full disk has room again; None is never.
    """

    root: str
    at: int = 0
    fault: Fault = "kill"
    names: list[str] = field(default_factory=list)
    can_tear: list[bool] = field(default_factory=list)
    heals_after: int | None = None
    enabled: bool = True

    def disable(self) -> None:
        """Let everything pass from now on, and count nothing."""
        self.enabled = False

    def hit(self, name: str, tear: Callable[[], object] | None = None) -> None:
        """Count a call that is about to be made; `tear` makes half of it."""
        if not self.enabled:
            return
        self.names.append(name)
        self.can_tear.append(tear is not None)
        number = len(self.names)
        is_full = self.fault.endswith("ENOSPC") and number > self.at > 0 and name not in _FREEING
        if self.heals_after is not None and number > self.at + self.heals_after:
            is_full = False
        if number != self.at and not is_full:
            return
        if self.fault.startswith("torn") and number == self.at and tear is not None:
            self.enabled = False
            tear()
            self.enabled = True
        if self.fault.endswith("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        code = errno.EIO if self.fault == "EIO" else errno.ENOSPC
        if name.startswith("sqlite "):
            error = sqlite3.OperationalError(os.strerror(code))
            error.sqlite_errorcode = _SQLITE_CODES[code]
            raise error
        raise OSError(code, os.strerror(code))

    def covers(self, path: object) -> bool:
        """Whether a path is below the folder; open files and names in open folders count, too."""
        if isinstance(path, int):
            return True
        try:
            text = os.fsdecode(os.fspath(path))  # type: ignore[call-overload]
        except TypeError:
            return False
        return text.startswith(self.root) or not text.startswith("/")

    def install(self) -> None:
        """Watch all calls of this process from now on."""
        self._watch_names()
        self._watch_descriptors()
        self._watch_files()
        self._watch_arrow()
        self._watch_sqlite()

    def _watch_names(self) -> None:
        def audit(event: str, args: tuple[Any, ...]) -> None:
            if event == "open":
                path, _, flags = args
                if isinstance(flags, int) and flags & _WRITING and self.covers(path):
                    name = "a descriptor" if isinstance(path, int) else Path(os.fsdecode(path)).name
                    self.hit(f"open {name}")
            elif event in _EVENTS and self.covers(args[0]):
                self.hit(event)

        sys.addaudithook(audit)

    def _watch_descriptors(self) -> None:
        for name in ("fsync", "ftruncate"):
            real = getattr(os, name)

            def watched(*args: Any, real: Any = real, name: str = name) -> Any:
                self.hit(f"os.{name}")
                return real(*args)

            setattr(os, name, watched)
        for name in ("write", "pwrite"):
            real = getattr(os, name)

            def written(
                handle: int, data: bytes, *args: Any, real: Any = real, name: str = name
            ) -> Any:
                self.hit(f"os.{name}", lambda: real(handle, data[: len(data) // 2], *args))
                return real(handle, data, *args)

            setattr(os, name, written)

    def _watch_files(self) -> None:
        real_open = io.open

        def watched_open(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
            opened = real_open(file, mode, *args, **options)
            if set(mode) & set("wax+") and self.covers(file):
                return _File(opened, self)
            return opened

        io.open = builtins.open = watched_open

    def _watch_arrow(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        real_write, real_stream = pq.write_table, pa.output_stream

        def write_table(table: Any, where: Any, *args: Any, **options: Any) -> None:
            def tear() -> None:
                real_write(table, where, *args, **options)
                os.truncate(where, Path(where).stat().st_size // 2)

            if isinstance(where, str | Path) and self.covers(where):
                self.hit(f"write {Path(where).name}", tear)
            real_write(table, where, *args, **options)

        def output_stream(where: Any, *args: Any, **options: Any) -> Any:
            if not self.covers(where):
                return real_stream(where, *args, **options)
            self.hit(f"open {Path(where).name}")
            return _File(real_stream(where, *args, **options), self)

        pq.write_table, pa.output_stream = write_table, output_stream

    def _watch_sqlite(self) -> None:
        points, real_connect = self, sqlite3.connect

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
                first = sql.strip().partition(" ")[0].upper()
                if first in _STATEMENTS or (first == "PRAGMA" and "=" in sql):
                    points.hit(f"sqlite {first}")
                return super().execute(sql, *args)

        def connect(*args: Any, **options: Any) -> Any:
            return real_connect(*args, **{**options, "factory": Connection})

        setattr(sqlite3, "connect", connect)  # noqa: B010  (mypy knows its many forms)


class _File:
    """An open file whose writes are counted."""

    def __init__(self, file: Any, points: FaultPoints) -> None:
        self._file, self._points = file, points

    def write(self, data: Any) -> Any:
        def tear() -> None:
            self._file.write(data[: len(data) // 2])
            self._file.flush()

        self._points.hit("write", tear)
        return self._file.write(data)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __enter__(self) -> _File:
        self._file.__enter__()
        return self

    def __exit__(self, *args: object) -> None:
        self._file.__exit__(*args)

    def __iter__(self) -> Any:
        return iter(self._file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
