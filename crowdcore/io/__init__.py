"""Files in, files out: readers that explain their guesses, a health report, and writers.

The names below load their modules on first use; importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdcore.io.cleaning import Cleaning
    from crowdcore.io.guess import guess_roles
    from crowdcore.io.health import Finding, HealthReport
    from crowdcore.io.labels import read_labels
    from crowdcore.io.roles import Guess, Roles
    from crowdcore.io.source import Source
    from crowdcore.io.table import Table, open_table
    from crowdcore.io.tables import labels_table, truths_table
    from crowdcore.io.writers import frame_bytes, write_csv, write_jsonl, write_parquet

_HOMES = {
    "Cleaning": "cleaning",
    "Finding": "health",
    "Guess": "roles",
    "HealthReport": "health",
    "Roles": "roles",
    "Source": "source",
    "Table": "table",
    "frame_bytes": "writers",
    "guess_roles": "guess",
    "labels_table": "tables",
    "open_table": "table",
    "read_labels": "labels",
    "truths_table": "tables",
    "write_csv": "writers",
    "write_jsonl": "writers",
    "write_parquet": "writers",
}

__all__ = [
    "Cleaning",
    "Finding",
    "Guess",
    "HealthReport",
    "Roles",
    "Source",
    "Table",
    "frame_bytes",
    "guess_roles",
    "labels_table",
    "open_table",
    "read_labels",
    "truths_table",
    "write_csv",
    "write_jsonl",
    "write_parquet",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'crowdcore.io' has no attribute {name!r}")
    return getattr(import_module(f"crowdcore.io.{_HOMES[name]}"), name)
