"""Projects, data sets, runs and results on disk."""

from crowdcore.workspace.errors import (
    CatalogueError,
    DamagedError,
    StorageError,
    WorkspaceError,
)
from crowdcore.workspace.records import Dataset, Project, RunRow
from crowdcore.workspace.workspace import Workspace

__all__ = [
    "CatalogueError",
    "DamagedError",
    "Dataset",
    "Project",
    "RunRow",
    "StorageError",
    "Workspace",
    "WorkspaceError",
]
