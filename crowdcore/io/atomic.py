"""Files that are either whole or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes the place of `path` when all went well."""
    target = Path(path)
    # Not tempfile: its files are readable by their owner alone, whatever the umask says.
    temporary = target.with_name(f".tmp-{secrets.token_hex(8)}{target.suffix}")
    temporary.open("xb").close()
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
