"""Data sets of a workspace, and the versions that come of what is added to them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdcore.data import CrowdData, DataError
from crowdcore.workspace import checksums, data_files, folders, record_files
from crowdcore.workspace.catalogue import checked_id, insert, new_id, now
from crowdcore.workspace.disk import SMALL_WRITE_BYTES, writing
from crowdcore.workspace.projects import MAX_NAME_LENGTH, Projects
from crowdcore.workspace.records import Dataset

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.reading.labels.health import HealthReport


class Datasets(Projects):
    """Saving, listing and reading data sets."""

    def add_data(self, project_id: str, data: CrowdData, *, name: str) -> Dataset:
        """Save data; the same data in the same project are saved once.

        Parameters
        ----------
        project_id : str
            The project.
        data : CrowdData
            What to save, with its health report.
        name : str
            What to call it, such as the name of its file.

        Returns
        -------
        Dataset
            The data set that holds these data.

        Raises
        ------
        StorageError
            There is no room, or the disk is read-only or failing.
        """
        facts = data_files.DataFacts.of(data)
        return self._save(project_id, facts, partial(data_files.write_data, data), name=name)

    def adopt_data(
        self, project_id: str, folder: Path, facts: data_files.DataFacts, *, name: str
    ) -> Dataset:
        """Save data that another process has written; they are not read here.

        Parameters
        ----------
        project_id : str
            The project.
        folder : Path
            What `data_files.write_draft` has written; it stays as it is.
        facts : DataFacts
            What that returned.
        name : str
            What to call them.

        Returns
        -------
        Dataset
            The data set that holds these data.

        Raises
        ------
        StorageError
            There is no room, or the disk is read-only or failing.
        """
        return self._save(project_id, facts, partial(data_files.copy_files, folder), name=name)

    def add_version(self, dataset_id: str, data: CrowdData, added: Mapping[str, int]) -> Dataset:
        """Save what came of adding something to a data set, as its next version.

        Earlier versions stay, and so do the runs on them.

        Parameters
        ----------
        dataset_id : str
            The data set that something was added to.
        data : CrowdData
            All of the data, the old and the new.
        added : Mapping
            How many of what is new, by its noun in the singular.

        Returns
        -------
        Dataset
            The new version; where nothing is new, the data set that holds these data already.

        Raises
        ------
        StorageError
            There is no room, or the disk is read-only or failing.
        """
        base = self.dataset(dataset_id)
        return self._save(
            base.project_id,
            data_files.DataFacts.of(data),
            partial(data_files.write_data, data),
            name=base.name,
            made_from=base.id,
            added=dict(added),
        )

    def adopt_version(
        self,
        dataset_id: str,
        folder: Path,
        facts: data_files.DataFacts,
        added: Mapping[str, int],
    ) -> Dataset:
        """Save what another process has added to a data set; it is not read here.

        Parameters
        ----------
        dataset_id : str
            The data set that something was added to.
        folder : Path
            What `data_files.write_draft` has written; it stays as it is.
        facts : DataFacts
            What that returned.
        added : Mapping
            How many of what is new, by its noun in the singular.

        Returns
        -------
        Dataset
            The new version.

        Raises
        ------
        StorageError
            There is no room, or the disk is read-only or failing.
        """
        base = self.dataset(dataset_id)
        return self._save(
            base.project_id,
            facts,
            partial(data_files.copy_files, folder),
            name=base.name,
            made_from=base.id,
            added=dict(added),
        )

    def datasets(self, project_id: str) -> list[Dataset]:
        """List the data sets of a project.

        Parameters
        ----------
        project_id : str
            The project.

        Returns
        -------
        list of Dataset
            The newest first.
        """
        checked_id(project_id, "project")
        query = "SELECT * FROM dataset WHERE project_id = ? ORDER BY rowid DESC"
        return [Dataset.from_row(row) for row in self._rows(query, project_id)]

    def dataset(self, dataset_id: str) -> Dataset:
        """Return a data set's facts.

        Parameters
        ----------
        dataset_id : str
            Its id.

        Returns
        -------
        Dataset
            Name, version and sizes.

        Raises
        ------
        DataError
            There is none of this id.
        """
        return Dataset.from_row(self._row("dataset", dataset_id, "data set"))

    def load_data(self, dataset_id: str) -> CrowdData:
        """Read a data set.

        Parameters
        ----------
        dataset_id : str
            Its id.

        Returns
        -------
        CrowdData
            As it was saved, with the report its reader made.

        Raises
        ------
        DamagedError
            Files are missing or changed; the sentence names what is lost.
        """
        dataset = self.dataset(dataset_id)
        with self._intact(dataset, data_files.CONTENTS.keys() - {data_files.WAY_BACK}):
            return data_files.read_data(self._data_folder(dataset.id))

    def check_original(self, dataset_id: str) -> None:
        """Make sure that the file is whole which the labels came from.

        Parameters
        ----------
        dataset_id : str
            The data set.

        Raises
        ------
        DamagedError
            The file is missing or changed; the labels themselves may be whole.
        """
        with self._intact(self.dataset(dataset_id), [data_files.WAY_BACK]):
            return

    def report(self, dataset_id: str) -> HealthReport | None:
        """Read a data set's health report.

        Parameters
        ----------
        dataset_id : str
            Its id.

        Returns
        -------
        HealthReport or None
            None where its reader made none.

        Raises
        ------
        DamagedError
            The report is damaged.
        """
        dataset = self.dataset(dataset_id)
        with self._intact(dataset, ["report.json"]):
            return data_files.read_report(self._data_folder(dataset.id))

    def item_table(self, dataset_id: str) -> pd.DataFrame:
        """Read one row per item.

        Parameters
        ----------
        dataset_id : str
            The data set.

        Returns
        -------
        DataFrame
            With the columns of `export.tables.ITEM_COLUMNS`.

        Raises
        ------
        DamagedError
            Files are missing or changed.
        """
        from crowdcore.export.tables import items

        return items(self.load_data(dataset_id))

    def label_table(self, dataset_id: str) -> pd.DataFrame:
        """Read one row per label.

        Parameters
        ----------
        dataset_id : str
            The data set.

        Returns
        -------
        DataFrame
            Columns: item, worker, label, and time where it is known.

        Raises
        ------
        DamagedError
            Files are missing or changed.
        """
        from crowdcore.export.tables import labels

        return labels(self.load_data(dataset_id))

    def _save(
        self,
        project_id: str,
        facts: data_files.DataFacts,
        fill: Callable[[Path], None],
        *,
        name: str,
        made_from: str | None = None,
        added: dict[str, int] | None = None,
    ) -> Dataset:
        self.project(project_id)
        if (saved := self._with_fingerprint(project_id, facts.fingerprint)) is not None:
            return saved
        name = name.strip()[:MAX_NAME_LENGTH] or "labels"
        dataset_id = new_id()
        row = {
            "id": dataset_id,
            "project_id": project_id,
            "name": name,
            "created": now(),
            "fingerprint": facts.fingerprint,
            "kind": facts.kind,
            "n_labels": facts.n_labels,
            "n_items": facts.n_items,
            "n_workers": facts.n_workers,
            "n_classes": facts.n_classes,
            "n_gold": facts.n_gold,
            "n_features": facts.n_features,
            "made_from": made_from,
            "added": json.dumps(added or {}),
        }
        folder = self._data_folder(dataset_id)
        needed = facts.n_bytes + SMALL_WRITE_BYTES
        try:
            with (
                writing(self.root, "The data set", needed=needed),
                folders.new_folder(folder.parent) as scratch,
            ):
                fill(scratch)
                checksums.write(scratch)
                folders.settle(scratch)
                with self._listing("dataset", dataset_id, folder), self.catalogue.write() as db:
                    row["version"] = _next_version(db, project_id, name) if made_from else 1
                    record_files.write(scratch, "dataset", row, scratch=self.root)
                    folders.publish(scratch, folder)
                    insert(db, "dataset", row)
        except sqlite3.IntegrityError:  # the same data, or the project's end, came in between
            self.project(project_id)
        saved = self._with_fingerprint(project_id, facts.fingerprint)
        if saved is None:
            raise DataError("The project was deleted while its data were saved")
        return saved

    def _with_fingerprint(self, project_id: str, fingerprint: str) -> Dataset | None:
        query = "SELECT * FROM dataset WHERE project_id = ? AND fingerprint = ?"
        rows = self._rows(query, project_id, fingerprint)
        return Dataset.from_row(rows[0]) if rows else None

    def data_folder(self, dataset_id: str) -> Path:
        """Return the folder with the files of a data set, all of them whole.

        Parameters
        ----------
        dataset_id : str
            Its id.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        DamagedError
            Files are missing or changed; the sentence names what is lost.
        """
        dataset = self.dataset(dataset_id)
        with self._intact(dataset, data_files.CONTENTS.keys() - {data_files.WAY_BACK}):
            return self._data_folder(dataset.id)

    def _data_folder(self, dataset_id: str) -> Path:
        return self.root / "data" / checked_id(dataset_id, "data set")

    def _intact(
        self, dataset: Dataset, names: Iterable[str] | None = None
    ) -> AbstractContextManager[Any]:
        return checksums.intact(
            self._data_folder(dataset.id),
            names,
            subject=f"The data set {dataset.title!r}",
            contents=data_files.CONTENTS,
            fix="Add the data again from their file; results of finished runs are kept.",
        )


def _next_version(db: sqlite3.Connection, project_id: str, name: str) -> int:
    query = "SELECT max(version) AS latest FROM dataset WHERE project_id = ? AND name = ?"
    return int(db.execute(query, [project_id, name]).fetchone()["latest"] or 0) + 1
