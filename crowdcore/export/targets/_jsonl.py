"""One JSON record per line, as several tools take it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write_records(records: Iterable[dict[str, Any]], path: Path) -> None:
    """Write records as JSON lines."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
