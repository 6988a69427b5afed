"""Results of finished runs: saved whole, and checked when they are opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.data import DataError, Floats, Kind
from crowdcore.wording import file_stem
from crowdcore.workspace import (
    checksums,
    data_files,
    folders,
    record_files,
    result_files,
    run_request,
    run_states,
)
from crowdcore.workspace.catalogue import new_id
from crowdcore.workspace.disk import SMALL_WRITE_BYTES, writing
from crowdcore.workspace.errors import DamagedError
from crowdcore.workspace.record_files import RESULT
from crowdcore.workspace.records import RunRow
from crowdcore.workspace.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.judging.worker_evidence import WorkerEvidence
    from crowdcore.export.finished import FinishedRun
    from crowdcore.results.result import Result
    from crowdcore.warm_start import WarmStart


class Results(Runs):
    """Saving and reading results."""

    def save_result(self, run_id: str, result: Result) -> None:
        """Save a run's result with those of its members, whole, and mark the run done.

        Members of a pool become runs of their own in the same step: either all of it is there
        afterwards, or nothing. Of a preview only the truths are kept: judging workers would take
        longer than the fit.

        Parameters
        ----------
        run_id : str
            The run.
        result : Result
            What its method found.

        Raises
        ------
        DataError
            The run has a result already, or the result is about other data.
        StorageError
            There is no room, or the disk is read-only or failing.
        """
        row, folder = self.run(run_id), self.run_folder(run_id)
        if (folder / RESULT).exists():
            raise DataError(f"The run {row.label} already has a result; results never change")
        if result.data.fingerprint != self._expected_fingerprint(row):
            raise DataError(f"The result is not about the data of the run {row.label}")
        members = {new_id(): member for member in (() if row.preview else result.members)}
        needed = sum(map(result_files.estimated_bytes, (result, *members.values())))
        with (
            writing(self.root, "The result", needed=needed + SMALL_WRITE_BYTES),
            ExitStack() as stack,
        ):
            rows = []
            for member_id, member in members.items():
                values = {"id": member_id, **run_request.values_of_member(row, member)}
                scratch = stack.enter_context(folders.new_folder(folder.parent))
                folders.make_private(scratch / RESULT)
                _write(member, scratch / RESULT)
                record_files.write(scratch, "run", values, scratch=self.root)
                folders.settle(scratch)
                folders.publish(scratch, folder.parent / member_id)
                rows.append(values)
            scratch = stack.enter_context(folders.new_folder(folder.parent))
            if rows:
                data_files.write_json(scratch / run_states.MEMBERS, rows)
            _write(result, scratch, judged=not row.preview)
            folders.settle(scratch)
            folders.publish(scratch, folder / RESULT)
            run_states.complete(self.catalogue, run_id, folder)

    def load_result(self, run_id: str) -> Result:
        """Read a run's result, equal to the one that was saved.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        Result
            With the data that it is about.

        Raises
        ------
        DataError
            The run has no result.
        DamagedError
            Files of the result, or of the data, are missing or changed.
        """
        self._finished(run_id)
        data = self.run_data(run_id)
        with self._result(run_id) as folder:
            return result_files.read_result(folder, data)

    def warm_start(self, run_id: str) -> WarmStart | None:
        """Read what a run's result holds of its items, to begin from.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        WarmStart or None
            None if the result is gone or damaged: the fit begins from nothing, and takes longer.
        """
        try:
            return self.load_result(run_id).warm_start
        except DataError:
            return None

    def truths(self, run_id: str, *, probabilities: bool = True) -> pd.DataFrame:
        """Read the table of truths.

        Parameters
        ----------
        run_id : str
            The run.
        probabilities : bool, default True
            With the `p:` columns.

        Returns
        -------
        DataFrame
            One row per item.

        Raises
        ------
        DamagedError
            The table is missing or changed.
        """
        from crowdcore.audit.kinds import audit_of
        from crowdcore.export.columns import PROBABILITY

        without = None if probabilities else PROBABILITY
        columns = audit_of(self._kind(run_id)).truth_columns
        with self._result(run_id, ["truths.parquet"]) as folder:
            path = folder / "truths.parquet"
            return data_files.read_table(path, columns, without=without)

    def workers(self, run_id: str) -> pd.DataFrame:
        """Read the table of workers, with their verdicts.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        DataFrame
            One row per worker.

        Raises
        ------
        DamagedError
            The table is missing or changed.
        """
        from crowdcore.audit.kinds import audit_of

        columns = audit_of(self._kind(run_id)).worker_columns
        with self._result(run_id, ["workers.parquet"]) as folder:
            return data_files.read_table(folder / "workers.parquet", columns)

    def evidence(self, run_id: str) -> WorkerEvidence | None:
        """Read what the verdicts on workers rest on.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        WorkerEvidence or None
            None of a run of an earlier version, which judged by other rules.

        Raises
        ------
        DamagedError
            The file is changed.
        """
        with self._result(run_id, ["result.json"]) as folder:
            if not (folder / result_files.EVIDENCE).exists():
                return None
        with self._result(run_id, [result_files.EVIDENCE]) as folder:
            return result_files.read_evidence(folder)

    def confusion(self, run_id: str) -> Floats:
        """Read the workers' confusion matrices; the audit's, if the method has none.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        ndarray
            [W, true, given].

        Raises
        ------
        DamagedError
            The file is missing or changed.
        """
        with self._result(run_id, ["confusion.npy"]) as folder:
            matrices: Floats = np.load(folder / "confusion.npy", allow_pickle=False)
            return matrices

    def rating_evidence(self, run_id: str) -> tuple[Floats, Floats]:
        """Read what the workers of a run of ratings are judged by.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        others : ndarray
            The truth of each rating's item without that rating [L]; NaN where nobody else rated.
        components : ndarray
            Variances of truths, biases, noise and errors of the truths [4].

        Raises
        ------
        DamagedError
            A file is missing or changed.
        """
        with self._result(run_id, ["others.npy", "components.npy"]) as folder:
            others: Floats = np.load(folder / "others.npy", allow_pickle=False)
            components: Floats = np.load(folder / "components.npy", allow_pickle=False)
            return others, components

    def provenance(self, run_id: str) -> dict[str, Any]:
        """Read how a result came about.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        dict of str to object
            The provenance; `excluded` names the workers that were left out, and `decisions` are
            those that the run goes by.

        Raises
        ------
        DamagedError
            The file is missing or changed.
        """
        with self._result(run_id, ["provenance.json"]) as folder:
            facts = result_files.read_provenance(folder)
        row = self.run(run_id)
        decisions = [asdict(decision) for decision in row.decisions]
        return {**facts, "excluded": list(row.excluded), "decisions": decisions}

    def history(self, run_id: str) -> pd.DataFrame:
        """Read the curve of a run; so far, while it works.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        DataFrame
            Columns: stage, step, and one per metric.

        Raises
        ------
        DamagedError
            The file is missing or changed.
        """
        import pandas as pd

        if self.run(run_id).status == "done":
            with self._result(run_id, ["history.json"]) as folder:
                rows = data_files.read_json(folder / "history.json")
        else:
            rows = run_states.read_progress(self.run_folder(run_id))
        return pd.DataFrame(rows) if rows else pd.DataFrame({"stage": [], "step": []})

    def finished(self, run_id: str) -> FinishedRun:
        """Read all that files for other tools are made of.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        FinishedRun
            With the labels of workers that the run leaves out, and why it does.

        Raises
        ------
        DataError
            The run has no result.
        DamagedError
            Files are missing or changed.
        """
        from crowdcore.audit.kinds import audit_of
        from crowdcore.export.finished import FinishedRun

        row = self._finished(run_id)
        self.check_original(row.dataset_id)
        reasons = {made.subject: made.reason for made in row.decisions if made.action == "exclude"}
        return FinishedRun(
            name=file_stem(self.project(row.project_id).name, row.method, row.without),
            data=self.applied(run_id, all_workers=True).data,
            truths=self.truths(run_id),
            workers=self.workers(run_id),
            provenance=self.provenance(run_id),
            excluded={name: reasons.get(name, "") for name in row.excluded},
            span_files={
                name: partial(self._written, run_id, make)
                for name, make in audit_of(self._kind(run_id)).files.items()
            },
        )

    def _written(self, run_id: str, make: Callable[[Any], str]) -> str:
        return make(self.load_result(run_id))

    def classifier_file(self, run_id: str) -> Path | None:
        """Return the file of the classifier that a run trained.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        Path or None
            None if it trained none, or has not finished.

        Raises
        ------
        DamagedError
            The file is changed.
        """
        if self.run(run_id).status != "done":
            return None
        path = run_states.classifier_file(self.run_folder(run_id))
        if path is None:
            return None
        with self._result(run_id, [path.name]):
            return path

    def damage(self, run_id: str) -> str:
        """Check all files of a finished run.

        Parameters
        ----------
        run_id : str
            The run.

        Returns
        -------
        str
            What is damaged, in a sentence; empty if nothing is.
        """
        try:
            with self._result(run_id):
                return ""
        except DamagedError as error:
            return str(error)

    def _expected_fingerprint(self, row: RunRow) -> str:
        if not row.excluded and not row.decisions:
            return self.dataset(row.dataset_id).fingerprint
        given = self._given.get(row.id)
        return (self.run_data(row.id) if given is None else given).fingerprint

    def _kind(self, run_id: str) -> Kind:
        """What the labels are that a run is about."""
        return self.dataset(self.run(run_id).dataset_id).kind

    def _finished(self, run_id: str) -> RunRow:
        row = self.run(run_id)
        if row.status != "done":
            raise DataError(f"The run {row.label} has no result; it is {row.status}")
        return row

    @contextmanager
    def _result(self, run_id: str, names: Iterable[str] | None = None) -> Iterator[Path]:
        """The folder of a result, whose files were checked."""
        row, folder = self._finished(run_id), self.run_folder(run_id) / RESULT
        with checksums.intact(
            folder,
            names,
            subject=f"The result of the run {row.label}",
            contents=result_files.CONTENTS,
            fix="Run it again: its data are there.",
        ):
            yield folder


def _write(result: Result, folder: Path, *, judged: bool = True) -> None:
    result_files.write_result(result, folder, judged=judged)
    checksums.write(folder)
