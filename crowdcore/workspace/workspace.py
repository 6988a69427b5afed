"""Workspace: projects, data sets, runs and results in a folder that survives everything."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.workspace import datafiles, folders, resultfiles, runs, trash, wishes
from crowdcore.workspace.catalogue import Catalogue, checked_id, free_name, insert, new_id, now
from crowdcore.workspace.rows import Dataset, Project, RunRow

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.io.health import HealthReport
    from crowdcore.method import Method
    from crowdcore.result import Beliefs, Result

LONGEST_NAME = 200


class Workspace:
    """A folder with a catalogue of what there is, and immutable files of what it says.

    Files are written whole before the catalogue speaks of them, so nothing that it lists is
    ever half there. Any number of processes may use one workspace at the same time.
    """

    root: Path
    catalogue: Catalogue

    def __init__(self, root: Path | None = None) -> None:
        self.root = folders.default_root() if root is None else Path(root).expanduser().resolve()
        self.catalogue = Catalogue(path=self.root / "catalogue.sqlite")
        try:
            folders.make_private(self.root)
            for name in ("data", "runs", "trash"):
                (self.root / name).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"The workspace folder cannot be used: {error.strerror}",
                file=str(self.root),
                fix=f"Name another with --workspace or {folders.HOME}.",
            ) from error
        self.catalogue.create()
        for folder in (self.root, self.root / "data", self.root / "runs"):
            folders.sweep(folder)
        trash.collect_strays(self.root, self.catalogue)

    # Projects

    def create_project(self, name: str, *, sample: str | None = None) -> Project:
        """Make a project; a name that is taken gets a number, as in a file manager."""
        name = _checked_name(name)
        with self.catalogue.write() as db:
            name = free_name(db, name)
            project = Project(id=new_id(), name=name, created=now(), sample=sample)
            values = [project.id, project.name, project.created, project.sample]
            db.execute("INSERT INTO project (id, name, created, sample) VALUES (?,?,?,?)", values)
        return project

    def projects(self) -> list[Project]:
        """List the projects, newest first."""
        rows = self._rows("SELECT * FROM project ORDER BY rowid DESC")
        return [Project.of(row) for row in rows]

    def project(self, project_id: str) -> Project:
        """Return a project."""
        return Project.of(self._row("project", project_id, "project"))

    def rename_project(self, project_id: str, name: str) -> Project:
        """Give a project another name, which no other has."""
        self.project(project_id)
        name = _checked_name(name)
        try:
            with self.catalogue.write() as db:
                db.execute("UPDATE project SET name = ? WHERE id = ?", [name, project_id])
        except sqlite3.IntegrityError:
            raise DataError(
                f"There is already a project called {name!r}", fix="Choose another name."
            ) from None
        return self.project(project_id)

    def delete_project(self, project_id: str) -> None:
        """Move a project with its data sets and runs to the trash."""
        self.project(project_id)
        trash.delete_project(self.root, self.catalogue, project_id)

    # Data sets

    def add_data(self, project_id: str, data: CrowdData, *, name: str) -> Dataset:
        """Save data; the same data in the same project are saved once."""
        self.project(project_id)
        if (known := self._with_fingerprint(project_id, data.fingerprint)) is not None:
            return known
        values = {
            "id": new_id(),
            "project_id": project_id,
            "name": name.strip()[:LONGEST_NAME] or "labels",
            "created": now(),
            "fingerprint": data.fingerprint,
            "kind": data.kind,
            "n_labels": data.n_labels,
            "n_items": data.n_items,
            "n_workers": data.n_workers,
            "n_classes": data.n_classes,
            "n_gold": data.n_gold,
            "n_features": data.n_features,
        }
        folder = self._data_folder(str(values["id"]))
        with folders.whole_folder(folder, scratch=folder.parent) as scratch:
            datafiles.write_data(data, scratch)
        try:
            with self.catalogue.write() as db:
                insert(db, "dataset", values)
        except sqlite3.IntegrityError:  # the same data, or the project's end, came in between
            shutil.rmtree(folder)
            self.project(project_id)
        return cast("Dataset", self._with_fingerprint(project_id, data.fingerprint))

    def datasets(self, project_id: str) -> list[Dataset]:
        """List the data sets of a project, newest first."""
        checked_id(project_id, "project")
        query = "SELECT * FROM dataset WHERE project_id = ? ORDER BY rowid DESC"
        return [Dataset.of(row) for row in self._rows(query, project_id)]

    def dataset(self, dataset_id: str) -> Dataset:
        """Return a data set's facts."""
        return Dataset.of(self._row("dataset", dataset_id, "data set"))

    def load_data(self, dataset_id: str) -> CrowdData:
        """Read a data set, with the report its reader made."""
        return datafiles.read_data(self._data_folder(self.dataset(dataset_id).id))

    def report(self, dataset_id: str) -> HealthReport | None:
        """Read a data set's health report."""
        return datafiles.read_report(self._data_folder(self.dataset(dataset_id).id))

    def item_table(self, dataset_id: str) -> pd.DataFrame:
        """One row an item: item, gold ("" where unknown), details, n_labels."""
        return datafiles.read_item_table(self._data_folder(self.dataset(dataset_id).id))

    def label_table(self, dataset_id: str) -> pd.DataFrame:
        """One row a label: item, worker, label as categories, and time where it is known."""
        return datafiles.read_label_table(self._data_folder(self.dataset(dataset_id).id))

    # Runs

    def unmet(self, dataset_id: str, method: str | Method) -> list[str]:
        """Say in sentences why a method does not fit a data set, without reading it."""
        return wishes.unmet(self.dataset(dataset_id), method)

    def queue(
        self,
        dataset_id: str,
        method: str,
        *,
        params: Mapping[str, Any] | None = None,
        seed: int = 0,
        device: str = "auto",
        excluded: Sequence[str] = (),
        warm_from: str | None = None,
        complete: str | None = None,
        complete_params: Mapping[str, Any] | None = None,
    ) -> RunRow:
        """Line up a fit that passes all checks; `warm_from` is a finished run to begin from.

        `complete` names a method that fills in missing labels first.
        """
        dataset = self.dataset(dataset_id)
        if warm_from is not None:
            self._checked_start(warm_from, dataset.project_id)
        values = wishes.checked(
            dataset,
            method,
            params=params or {},
            seed=seed,
            device=device,
            excluded=self._checked_workers(dataset.id, excluded),
            complete=complete,
            complete_params=complete_params or {},
        )
        run_id = runs.add(self.catalogue, self.root, {**values, "warm_from": warm_from})
        return self.run(run_id)

    def runs(self, project_id: str) -> list[RunRow]:
        """List the runs of a project, newest first."""
        checked_id(project_id, "project")
        query = "SELECT * FROM run WHERE project_id = ? ORDER BY number DESC"
        return [RunRow.of(row) for row in self._rows(query, project_id)]

    def run(self, run_id: str) -> RunRow:
        """Return a run as it is now."""
        return RunRow.of(self._row("run", run_id, "run"))

    def cancel(self, run_id: str) -> None:
        """Stop a run; one that has ended stays as it is."""
        runs.cancel(self.catalogue, self.run(run_id).id)

    def run_again(
        self,
        run_id: str,
        *,
        excluded: Sequence[str] | None = None,
        warm_from: str | None = None,
    ) -> RunRow:
        """Queue a run like another, but for the exclusions and the start that are given."""
        row = self.run(run_id)
        return self.queue(
            row.dataset_id,
            row.method,
            params=row.params,
            seed=row.seed,
            device=row.device,
            excluded=row.excluded if excluded is None else excluded,
            warm_from=warm_from or row.warm_from,
            complete=row.complete,
            complete_params=row.complete_params,
        )

    def delete_run(self, run_id: str) -> None:
        """Move a run that has ended to the trash."""
        trash.delete_run(self.root, self.catalogue, self.run(run_id).id)

    def run_folder(self, run_id: str) -> Path:
        """Return the folder of a run."""
        return self.root / "runs" / checked_id(run_id, "run")

    def run_data(self, run_id: str) -> CrowdData:
        """Read the data of a run, without the workers that it leaves out."""
        row = self.run(run_id)
        data = self.load_data(row.dataset_id)
        return data.without_workers(row.excluded) if row.excluded else data

    def log(self, run_id: str) -> str:
        """Return what the run's process wrote, such as the traceback of a bug."""
        path = self.run_folder(self.run(run_id).id) / "worker.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    # Results

    def save_result(self, run_id: str, result: Result) -> None:
        """Save a run's result, whole, and mark the run done."""
        row, folder = self.run(run_id), self.run_folder(run_id)
        if (folder / runs.RESULT).exists():
            raise DataError(f"The run {row.label} already has a result; results never change")
        own = self.run_data(run_id) if row.excluded else self.dataset(row.dataset_id)
        if result.data.fingerprint != own.fingerprint:
            raise DataError(f"The result is not about the data of the run {row.label}")
        with folders.whole_folder(folder / runs.RESULT, scratch=self.root / "runs") as scratch:
            resultfiles.write_result(result, scratch)
        runs.complete(self.catalogue, run_id, folder)
        for member in result.members:
            self._save_member(row, member)

    def load_result(self, run_id: str) -> Result:
        """Read a run's result, equal to the one that was saved."""
        return resultfiles.read_result(self._result_folder(run_id), self.run_data(run_id))

    def beliefs(self, run_id: str) -> Beliefs | None:
        """What a run's result holds of its items, to begin from; None if it is gone."""
        try:
            return self.load_result(run_id).beliefs
        except DataError:
            return None  # deleted since: the fit begins from nothing, and takes longer

    def truths(self, run_id: str) -> pd.DataFrame:
        """Read the table of truths, one row an item."""
        return datafiles.read_table(self._result_folder(run_id) / "truths.parquet")

    def workers(self, run_id: str) -> pd.DataFrame:
        """Read the table of workers, with their verdicts."""
        return datafiles.read_table(self._result_folder(run_id) / "workers.parquet")

    def confusion(self, run_id: str) -> Floats:
        """Read the workers' confusion matrices [W, true, given]; the audit's, if need be."""
        matrices: Floats = np.load(self._result_folder(run_id) / "confusion.npy")
        return matrices

    def provenance(self, run_id: str) -> dict[str, Any]:
        """Read how a result came about; `excluded` names the workers that were left out."""
        facts: dict[str, Any] = datafiles.read_json(self._result_folder(run_id) / "provenance.json")
        return {**facts, "excluded": list(self.run(run_id).excluded)}

    def history(self, run_id: str) -> pd.DataFrame:
        """Read the curve: stage, step and a column a metric; so far, while the run works."""
        import pandas as pd

        folder = self.run_folder(self.run(run_id).id)
        path = folder / runs.RESULT / "history.json"
        rows = datafiles.read_json(path) if path.exists() else runs.read_progress(folder)
        return pd.DataFrame(rows) if rows else pd.DataFrame({"stage": [], "step": []})

    # Settings and the trash

    def setting(self, key: str, default: Any = None) -> Any:
        """Return a setting of the workspace."""
        rows = self._rows("SELECT value FROM setting WHERE key = ?", key)
        return json.loads(rows[0]["value"]) if rows else default

    def set_setting(self, key: str, value: Any) -> None:
        """Keep a setting: anything that JSON can hold."""
        with self.catalogue.write() as db:
            db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", [key, json.dumps(value)])

    def thrown_away(self) -> list[trash.Thrown]:
        """List what was deleted, the latest first."""
        return trash.thrown_away(self.root, self.catalogue)

    def stray_bytes(self) -> int:
        """Tell how large the files in the trash are that would come back with nothing."""
        return trash.stray_bytes(self.root, self.catalogue)

    def restore(self, name: str) -> str:
        """Bring back what was deleted, and return the id of the project that it belongs to."""
        return trash.restore(self.root, self.catalogue, name)

    def empty_trash(self) -> None:
        """Remove for good what was deleted."""
        trash.empty(self.root)

    def _save_member(self, whole: RunRow, member: Result) -> None:
        """Save a part of a result as a run of its own, as if it had been queued alone."""
        run_id = runs.add(self.catalogue, self.root, wishes.of_member(whole, member))
        self.save_result(run_id, member)

    def _checked_start(self, run_id: str, project_id: str) -> None:
        start = self.run(run_id)
        if start.status != "done" or start.project_id != project_id:
            raise DataError("A run can begin only from a finished run of the same project")

    def _data_folder(self, dataset_id: str) -> Path:
        return self.root / "data" / checked_id(dataset_id, "data set")

    def _result_folder(self, run_id: str) -> Path:
        row = self.run(run_id)
        if row.status != "done":
            raise DataError(f"The run {row.label} has no result; it is {row.status}")
        return self.run_folder(run_id) / runs.RESULT

    def _with_fingerprint(self, project_id: str, fingerprint: str) -> Dataset | None:
        query = "SELECT * FROM dataset WHERE project_id = ? AND fingerprint = ?"
        rows = self._rows(query, project_id, fingerprint)
        return Dataset.of(rows[0]) if rows else None

    def _checked_workers(self, dataset_id: str, names: Sequence[str]) -> tuple[str, ...]:
        if not names:
            return ()
        counts = datafiles.worker_counts(self._data_folder(dataset_id))
        if unknown := [name for name in names if name not in counts]:
            raise DataError(f"There is no worker called {unknown[0]!r}")
        if sum(counts.values()) == sum(counts[name] for name in set(names)):
            raise DataError("Without these workers there is no label left", fix="Keep some.")
        return tuple(dict.fromkeys(names))

    def _row(self, table: str, key: str, noun: str) -> sqlite3.Row:
        rows = self._rows(f"SELECT * FROM {table} WHERE id = ?", checked_id(key, noun))
        if not rows:
            raise DataError(f"There is no {noun} {key!r} in this workspace")
        return rows[0]

    def _rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self.catalogue.read() as db:
            return db.execute(query, values).fetchall()


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise DataError("A project needs a name")
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise DataError(f"A project's name is at most {LONGEST_NAME} printable characters")
    return name
