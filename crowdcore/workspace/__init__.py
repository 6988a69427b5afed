"""Projects, data sets, runs and results on disk."""

from crowdcore.workspace.rows import Dataset, Project, RunRow
from crowdcore.workspace.workspace import Workspace

__all__ = ["Dataset", "Project", "RunRow", "Workspace"]
