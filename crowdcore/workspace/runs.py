"""Runs of a workspace: queueing, watching, stopping, deleting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from crowdcore.data import CrowdData, DataError
from crowdcore.decisions import Decision
from crowdcore.decisions.applying import Applied, apply
from crowdcore.workspace import data_files, run_request, run_states, trash
from crowdcore.workspace.catalogue import checked_id
from crowdcore.workspace.datasets import Datasets
from crowdcore.workspace.disk import writing
from crowdcore.workspace.records import RunRow

if TYPE_CHECKING:
    from crowdcore.method import Method

LOG = "fit.log"

MAX_RUN_NAME_LENGTH = 60


class Runs(Datasets):
    """Queueing, watching, stopping and deleting runs."""

    def __init__(self, root: Path | None = None) -> None:
        super().__init__(root)
        # What a fit was given, so that its result need not be compared with data read again.
        self._given: WeakValueDictionary[str, CrowdData] = WeakValueDictionary()

    def unmet(self, dataset_id: str, method: str | Method) -> list[str]:
        """Say why a method does not fit a data set, without reading it.

        Parameters
        ----------
        dataset_id : str
            The data set.
        method : str or Method
            The method, or its id.

        Returns
        -------
        list of str
            Sentences; none if it fits.
        """
        return run_request.unmet(self.dataset(dataset_id), method)

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
        decisions: Sequence[Decision] = (),
        preview: bool = False,
    ) -> RunRow:
        """Line up a fit that passes all checks.

        Parameters
        ----------
        dataset_id : str
            The data set.
        method : str
            The method's id.
        params : Mapping, optional
            Its settings; the others have their defaults.
        seed : int, default 0
            The seed of everything random.
        device : str, default 'auto'
            What computes: "auto", "cpu" or "cuda".
        excluded : sequence of str, optional
            Names of workers whose labels are left out.
        warm_from : str, optional
            The id of a finished run to begin from.
        complete : str, optional
            The id of a method that fills in missing labels first.
        complete_params : Mapping, optional
            The settings of that method.
        decisions : sequence of Decision, optional
            What people decided, such as `Standing.changing_data`: whom to leave out, truths that
            act as gold, classes that count as others.
        preview : bool, default False
            Only try it: the run is listed nowhere, and is gone with the next preview.

        Returns
        -------
        RunRow
            The run, as it waits.

        Raises
        ------
        DataError
            Something that was asked for cannot be done.
        StorageError
            The disk is full, read-only or failing.
        """
        dataset = self.dataset(dataset_id)
        if warm_from is not None:
            self._check_start(warm_from, dataset.project_id)
        values = run_request.checked(
            dataset,
            method,
            params=params or {},
            seed=seed,
            device=device,
            excluded=self._checked_workers(dataset.id, excluded, decisions),
            complete=complete,
            complete_params=complete_params or {},
            decisions=decisions,
        )
        with writing(self.root, "The run"):
            row = {**values, "warm_from": warm_from, "preview": int(preview)}
            run_id = run_states.add(self.catalogue, self.root, row)
        return self.run(run_id)

    def runs(self, project_id: str) -> list[RunRow]:
        """List the runs of a project.

        Parameters
        ----------
        project_id : str
            The project.

        Returns
        -------
        list of RunRow
            The newest first; previews are not among them.
        """
        checked_id(project_id, "project")
        query = "SELECT * FROM run WHERE project_id = ? AND NOT preview ORDER BY number DESC"
        return [RunRow.from_row(row) for row in self._rows(query, project_id)]

    def run(self, run_id: str) -> RunRow:
        """Return a run.

        Parameters
        ----------
        run_id : str
            Its id.

        Returns
        -------
        RunRow
            As it is now.

        Raises
        ------
        DataError
            There is none of this id.
        """
        return RunRow.from_row(self._row("run", run_id, "run"))

    def rename_run(self, run_id: str, name: str) -> RunRow:
        """Call a run something else than its method; its number stays.

        Parameters
        ----------
        run_id : str
            The run.
        name : str
            Its name; empty for that of its method again.

        Returns
        -------
        RunRow
            With its new name.

        Raises
        ------
        DataError
            It is too long, or not printable.
        StorageError
            The disk is full, read-only or failing.
        """
        name = " ".join(name.split())
        if len(name) > MAX_RUN_NAME_LENGTH or not name.isprintable():
            raise DataError(f"A run's name is at most {MAX_RUN_NAME_LENGTH} printable characters")
        row = self.run(run_id)
        with writing(self.root, "The new name"), self.catalogue.write() as db:
            db.execute("UPDATE run SET name = ? WHERE id = ?", [name, row.id])
        return self.run(row.id)

    def cancel(self, run_id: str) -> None:
        """Stop a run; one that has ended stays as it is.

        Parameters
        ----------
        run_id : str
            The run.

        Raises
        ------
        StorageError
            The disk is full, read-only or failing.
        """
        with writing(self.root, "The wish to stop"):
            run_states.cancel(self.catalogue, self.run(run_id).id)

    def run_again(
        self,
        run_id: str,
        *,
        excluded: Sequence[str] | None = None,
        warm_from: str | None = None,
        decisions: Sequence[Decision] | None = None,
    ) -> RunRow:
        """Queue a run like another.

        Parameters
        ----------
        run_id : str
            The run to repeat.
        excluded : sequence of str, optional
            Names of workers to leave out, instead of those of the other run.
        warm_from : str, optional
            The id of a finished run to begin from, instead of that of the other run.
        decisions : sequence of Decision, optional
            What people decided, instead of what the other run goes by.

        Returns
        -------
        RunRow
            The new run, as it waits.

        Raises
        ------
        DataError
            Something that was asked for cannot be done.
        StorageError
            The disk is full, read-only or failing.
        """
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
            decisions=row.decisions if decisions is None else decisions,
        )

    def delete_run(self, run_id: str) -> None:
        """Move a run that has ended to the trash.

        Parameters
        ----------
        run_id : str
            The run.

        Raises
        ------
        DataError
            It waits or works.
        StorageError
            The disk is full, read-only or failing.
        """
        with writing(self.root, "The deletion"):
            trash.delete_run(self.root, self.catalogue, self.run(run_id).id)

    def run_folder(self, run_id: str) -> Path:
        """Return the folder of a run.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        Path
            Whether or not there is such a run.

        Raises
        ------
        DataError
            It is no id.
        """
        return self.root / "runs" / checked_id(run_id, "run")

    def run_data(self, run_id: str) -> CrowdData:
        """Read the data of a run.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        CrowdData
            Without the workers that it leaves out, and as people decided.

        Raises
        ------
        DamagedError
            Files of the data set are missing or changed.
        """
        return self.applied(run_id).data

    def applied(self, run_id: str, *, all_workers: bool = False) -> Applied:
        """Read the data of a run, and which decisions fitted them.

        Parameters
        ----------
        run_id : str
            The run.
        all_workers : bool, default False
            With the labels of workers that the run leaves out.

        Returns
        -------
        Applied
            The data, the decisions that were used, and sentences on those that do not fit.

        Raises
        ------
        DamagedError
            Files of the data set are missing or changed.
        """
        row = self.run(run_id)
        data = self.load_data(row.dataset_id)
        excluded = () if all_workers else row.excluded
        data = data.without_workers(excluded) if excluded else data
        applied = apply(data, [made for made in row.decisions if made.action != "exclude"])
        if not all_workers:
            self._given[run_id] = applied.data
        return applied

    def log(self, run_id: str) -> str:
        """Return what the run's process wrote, such as the traceback of a bug.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        str
            Empty if it wrote nothing.
        """
        path = self.run_folder(self.run(run_id).id) / LOG
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def _check_start(self, run_id: str, project_id: str) -> None:
        start = self.run(run_id)
        if start.status != "done" or start.project_id != project_id:
            raise DataError("A run can begin only from a finished run of the same project")

    def _checked_workers(
        self, dataset_id: str, names: Sequence[str], decisions: Sequence[Decision]
    ) -> tuple[str, ...]:
        decided = [made.subject for made in decisions if made.action == "exclude"]
        if not names and not decided:
            return ()
        with self._intact(self.dataset(dataset_id), ["workers.parquet"]):
            counts = data_files.worker_counts(self._data_folder(dataset_id))
        if unknown := [name for name in names if name not in counts]:
            raise DataError(f"There is no worker called {unknown[0]!r}")
        names = [*names, *(name for name in decided if name in counts)]
        if sum(counts.values()) == sum(counts[name] for name in set(names)):
            raise DataError("Without these workers there is no label left", fix="Keep some.")
        return tuple(dict.fromkeys(names))
