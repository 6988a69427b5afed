"""Learning from crowds: label CSV in, audited truths out.

The names below load their modules on first use, so that importing crowdcore costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from crowdcore.data import CrowdData, DataError
    from crowdcore.io.labels import read_labels
    from crowdcore.registry import fit, get_method
    from crowdcore.result import Result
    from crowdcore.run import Cancelled, Progress, Run
    from crowdcore.simulation import simulate

_HOMES = {
    "Cancelled": "crowdcore.run",
    "CrowdData": "crowdcore.data",
    "DataError": "crowdcore.data",
    "Progress": "crowdcore.run",
    "Result": "crowdcore.result",
    "Run": "crowdcore.run",
    "fit": "crowdcore.registry",
    "get_method": "crowdcore.registry",
    "read_labels": "crowdcore.io.labels",
    "simulate": "crowdcore.simulation",
}

__all__ = [
    "Cancelled",
    "CrowdData",
    "DataError",
    "Progress",
    "Result",
    "Run",
    "__version__",
    "fit",
    "get_method",
    "read_labels",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'crowdcore' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
