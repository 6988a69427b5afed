"""What can go wrong with a workspace through no fault of the input; all say what to do."""

from __future__ import annotations

from crowdcore.data import DataError


class WorkspaceError(DataError):
    """Something is wrong with the folder of a workspace."""


class StorageError(WorkspaceError):
    """The disk is full, read-only, busy or failing; it may work again later."""


class CatalogueError(WorkspaceError):
    """The catalogue is missing, damaged, or made by a newer crowdcore."""


class DamagedError(WorkspaceError):
    """Files of a data set or of a result are not what was written."""
