"""Learning from crowds: label CSV in, audited truths out.

The names below load their modules on first use, so that importing crowdcore costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from crowdcore.data import CrowdData as CrowdData
    from crowdcore.errors import DataError as DataError
    from crowdcore.reading.labels.read import read_labels as read_labels
    from crowdcore.registry import fit as fit
    from crowdcore.registry import get_method as get_method
    from crowdcore.results.result import Result as Result
    from crowdcore.run import Cancelled as Cancelled
    from crowdcore.run import Progress as Progress
    from crowdcore.run import Run as Run
    from crowdcore.simulation.classes import simulate as simulate

_HOMES = {
    "Cancelled": "crowdcore.run",
    "CrowdData": "crowdcore.data",
    "DataError": "crowdcore.errors",
    "Progress": "crowdcore.run",
    "Result": "crowdcore.results.result",
    "Run": "crowdcore.run",
    "fit": "crowdcore.registry",
    "get_method": "crowdcore.registry",
    "read_labels": "crowdcore.reading.labels.read",
    "simulate": "crowdcore.simulation.classes",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'crowdcore' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
