"""Projects of a workspace."""

from __future__ import annotations

import sqlite3

from crowdcore.data import DataError
from crowdcore.workspace import folders, record_files, trash
from crowdcore.workspace.catalogue import free_name, insert, new_id, now
from crowdcore.workspace.disk import writing
from crowdcore.workspace.records import Project
from crowdcore.workspace.store import Store

MAX_NAME_LENGTH = 200


class Projects(Store):
    """Making, naming, listing and deleting projects."""

    def create_project(self, name: str, *, sample: str | None = None) -> Project:
        """Make a project.

        Parameters
        ----------
        name : str
            Its name; one that is taken gets a number, as in a file manager.
        sample : str, optional
            The id of the sample that it is made from.

        Returns
        -------
        Project
            The new project.

        Raises
        ------
        DataError
            The name is empty, too long or not printable.
        StorageError
            The disk is full, read-only or failing.
        """
        name, project_id = _checked_name(name), new_id()
        folder = self.root / "projects" / project_id
        with (
            writing(self.root, "The project"),
            folders.new_folder(folder.parent) as scratch,
            self._listing("project", project_id, folder),
            self.catalogue.write() as db,
        ):
            name = free_name(db, name)
            row = {"id": project_id, "name": name, "created": now(), "sample": sample}
            record_files.write(scratch, "project", row, scratch=self.root)
            folders.publish(scratch, folder)
            insert(db, "project", row)
        return self.project(project_id)

    def projects(self) -> list[Project]:
        """List the projects.

        Returns
        -------
        list of Project
            The newest first.
        """
        rows = self._rows("SELECT * FROM project ORDER BY rowid DESC")
        return [Project.from_row(row) for row in rows]

    def project(self, project_id: str) -> Project:
        """Return a project.

        Parameters
        ----------
        project_id : str
            Its id.

        Returns
        -------
        Project
            As it is now.

        Raises
        ------
        DataError
            There is none of this id.
        """
        return Project.from_row(self._row("project", project_id, "project"))

    def rename_project(self, project_id: str, name: str) -> Project:
        """Give a project another name.

        Parameters
        ----------
        project_id : str
            The project.
        name : str
            A name that no other project has.

        Returns
        -------
        Project
            With its new name.

        Raises
        ------
        DataError
            Another project has the name, or it is no name.
        StorageError
            The disk is full, read-only or failing.
        """
        self.project(project_id)
        name = _checked_name(name)
        query = "UPDATE project SET name = ? WHERE id = ? RETURNING *"
        try:
            with writing(self.root, "The new name"), self.catalogue.write() as db:
                for row in db.execute(query, [name, project_id]).fetchall():
                    folder = self.root / "projects" / project_id
                    record_files.write(folder, "project", dict(row), scratch=self.root)
        except sqlite3.IntegrityError:
            raise DataError(
                f"There is already a project called {name!r}", fix="Choose another name."
            ) from None
        return self.project(project_id)

    def delete_project(self, project_id: str) -> None:
        """Move a project with its data sets and runs to the trash.

        Parameters
        ----------
        project_id : str
            The project.

        Raises
        ------
        DataError
            One of its runs waits or works.
        StorageError
            The disk is full, read-only or failing.
        """
        self.project(project_id)
        with writing(self.root, "The deletion"):
            trash.delete_project(self.root, self.catalogue, project_id)


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise DataError("A project needs a name")
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise DataError(f"A project's name is at most {MAX_NAME_LENGTH} printable characters")
    return name
