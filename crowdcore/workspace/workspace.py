"""Workspace: projects, data sets, runs and results in a folder that survives everything."""

from __future__ import annotations

from crowdcore.workspace import rebuild, trash
from crowdcore.workspace.disk import writing
from crowdcore.workspace.item_review import ItemReview


class Workspace(ItemReview):
    """A folder with a catalogue of what there is, and immutable files of what it says.

    Files are written whole before the catalogue speaks of them, so nothing that it lists is
    ever half there. Any number of processes may use one workspace at the same time. Everything in
    it can be read and written by its owner alone.

    Parameters
    ----------
    root : Path, optional
        The folder; by default that of the environment variable CROWDCORE_HOME, else one among the
        user's data.

    Raises
    ------
    CatalogueError
        The catalogue is missing although there are data, damaged, or made by a newer crowdcore.
    StorageError
        The folder cannot be used.

    Examples
    --------
    >>> workspace = Workspace(Path("audits"))
    >>> project = workspace.create_project("Birds")
    >>> dataset = workspace.add_data(project.id, read_labels("birds.csv"), name="birds.csv")
    >>> workspace.queue(dataset.id, "auto").label
    '#1 Pool of methods'
    """

    def thrown_away(self) -> list[trash.Thrown]:
        """List what was deleted.

        Returns
        -------
        list of Thrown
            The latest first.
        """
        return trash.thrown_away(self.root, self.catalogue)

    def stray_bytes(self) -> int:
        """Tell how large the files in the trash are that would come back with nothing.

        Returns
        -------
        int
            Bytes.
        """
        return trash.stray_bytes(self.root, self.catalogue)

    def restore(self, name: str) -> str:
        """Bring back what was deleted.

        Parameters
        ----------
        name : str
            The name of what `thrown_away` listed.

        Returns
        -------
        str
            The id of the project that it belongs to.

        Raises
        ------
        DataError
            It, its project or its files are not there any more.
        StorageError
            The disk is full, read-only or failing.
        """
        with writing(self.root, "What was restored"):
            return trash.restore(self.root, self.catalogue, name)

    def empty_trash(self) -> None:
        """Remove for good what was deleted.

        Raises
        ------
        DataError
            Something stays.
        """
        with writing(self.root, "The emptied trash"):
            trash.empty(self.root)

    def unlisted(self) -> list[str]:
        """Find folders that hold something and are not in the catalogue.

        Returns
        -------
        list of str
            Paths below the root; `crowdcore workspace rebuild` lists them.
        """
        return rebuild.unlisted(self.root, self.catalogue)
