"""Files in: readers that explain their guesses, and a health report.

The names below load their modules on first use; importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdcore.reading.candidates.propose import propose_readings as propose_readings
    from crowdcore.reading.candidates.reading import Candidate as Candidate
    from crowdcore.reading.candidates.reading import Readings as Readings
    from crowdcore.reading.columns.guess import guess_roles as guess_roles
    from crowdcore.reading.columns.roles import Guess as Guess
    from crowdcore.reading.columns.roles import Roles as Roles
    from crowdcore.reading.finding_kinds import FINDINGS as FINDINGS
    from crowdcore.reading.finding_kinds import FindingKind as FindingKind
    from crowdcore.reading.findings import Finding as Finding
    from crowdcore.reading.labels.cleaning import Cleaning as Cleaning
    from crowdcore.reading.labels.health import HealthReport as HealthReport
    from crowdcore.reading.labels.read import read_labels as read_labels
    from crowdcore.reading.parsing.open import open_table as open_table
    from crowdcore.reading.parsing.source import Source as Source
    from crowdcore.reading.parsing.table import Table as Table

_HOMES = {
    "Candidate": "crowdcore.reading.candidates.reading",
    "Readings": "crowdcore.reading.candidates.reading",
    "propose_readings": "crowdcore.reading.candidates.propose",
    "FINDINGS": "crowdcore.reading.finding_kinds",
    "Cleaning": "crowdcore.reading.labels.cleaning",
    "Finding": "crowdcore.reading.findings",
    "FindingKind": "crowdcore.reading.finding_kinds",
    "Guess": "crowdcore.reading.columns.roles",
    "HealthReport": "crowdcore.reading.labels.health",
    "Roles": "crowdcore.reading.columns.roles",
    "Source": "crowdcore.reading.parsing.source",
    "Table": "crowdcore.reading.parsing.table",
    "guess_roles": "crowdcore.reading.columns.guess",
    "open_table": "crowdcore.reading.parsing.open",
    "read_labels": "crowdcore.reading.labels.read",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'crowdcore.reading' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
