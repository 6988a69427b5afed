"""Decisions of a workspace: kept per project, and used by the runs that come after them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crowdcore.data import DataError
from crowdcore.decisions import ABOUT_WORKERS, Action, Decision, Standing, names_in, standing
from crowdcore.workspace import data_files, ledger
from crowdcore.workspace.catalogue import new_id, now
from crowdcore.workspace.disk import writing
from crowdcore.workspace.records import RunRow
from crowdcore.workspace.results import Results

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


class Desk(Results):
    """Keeping decisions, taking them back, and running by them."""

    def decide(
        self,
        project_id: str,
        action: Action,
        subjects: Sequence[str] = ("",),
        *,
        by: str,
        value: str = "",
        reason: str = "",
        note: str = "",
        run_id: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> list[Decision]:
        """Keep a decision about one or several workers, items or classes.

        Parameters
        ----------
        project_id : str
            The project.
        action : str
            What is decided, see `crowdcore.decisions.MEANING`.
        subjects : sequence of str, optional
            The workers, items or classes that it is about, each of which gets an entry; none for
            "require".
        by : str
            The name of the person who decides.
        value : str, optional
            The right answer, the class to merge into, or the required accuracy.
        reason, note : str, optional
            Why, in a few words and at length; an exclusion needs a reason.
        run_id : str, optional
            The run that was looked at; what it says of each subject is kept with the decision.
        details : mapping, optional
            What else is kept as evidence, as values that JSON can hold.

        Returns
        -------
        list of Decision
            The entries, in the order of the subjects.

        Raises
        ------
        DataError
            The decision is incomplete, or its subject is not in the run.
        StorageError
            The disk is full, read-only or failing.
        """
        self.project(project_id)
        evidence: dict[str, dict[str, Any]] = {}
        dataset = None
        if run_id is not None:
            row = self.run(run_id)
            if row.project_id != project_id:
                raise DataError(f"The run {row.label} is not one of this project")
            evidence = self._evidence(row, action, subjects)
            if action in ("truth", "unsure", "merge", "audit"):
                dataset = self._first_version(row.dataset_id)
        if action == "undo":
            self._check_undo(project_id, subjects)
        made = [
            Decision(
                id=new_id(),
                time=now(),
                by=by.strip(),
                action=action,
                subject=subject,
                value=value,
                reason=reason.strip(),
                note=note.strip(),
                dataset=dataset,
                run=run_id,
                evidence={**evidence.get(subject, {}), **(details or {})},
            )
            for subject in subjects
        ]
        self._append(project_id, made)
        return made

    def decisions(self, project_id: str) -> list[Decision]:
        """Read the ledger of a project.

        Parameters
        ----------
        project_id : str
            The project.

        Returns
        -------
        list of Decision
            In the order they were made.

        Raises
        ------
        DamagedError
            A line was changed or taken out.
        """
        return ledger.read(self._project_folder(project_id))

    def import_decisions(self, project_id: str, decisions: Iterable[Decision]) -> int:
        """Add decisions that were made elsewhere; those that are there already are passed over.

        Parameters
        ----------
        project_id : str
            The project.
        decisions : iterable of Decision
            Such as `crowdcore.decisions.read_decisions` reads.

        Returns
        -------
        int
            How many were added.

        Raises
        ------
        StorageError
            The disk is full, read-only or failing.
        """
        present = {decision.id for decision in self.decisions(project_id)}
        new = [decision for decision in decisions if decision.id not in present]
        self._append(project_id, new)
        return len(new)

    def standing(self, project_id: str, dataset_id: str | None = None) -> Standing:
        """Work out which decisions of a project hold.

        Parameters
        ----------
        project_id : str
            The project.
        dataset_id : str, optional
            Leave out truths and merges that are about other data sets.

        Returns
        -------
        Standing
            The latest decision on each subject.
        """
        first = None if dataset_id is None else self._first_version(dataset_id)
        return standing(self.decisions(project_id), dataset=first)

    def workers(self, run_id: str) -> pd.DataFrame:
        """Read the table of workers, judged against the requirement that holds now.

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
        from crowdcore.audit.workers import with_requirement

        table = super().workers(run_id)
        requirement = self.standing(self.run(run_id).project_id).required_accuracy
        evidence = None if requirement is None else self.evidence(run_id)
        if requirement is None or evidence is None:
            return table
        return with_requirement(table, evidence, requirement)

    def worse_items(self, run_id: str, worker: str) -> list[str]:
        """Name the items of the labels that a worker gave with less care than their others.

        Parameters
        ----------
        run_id : str
            The run whose evidence counts.
        worker : str
            A worker whom it calls drifting or too fast in part.

        Returns
        -------
        list of str
            The items of the later, or too fast, labels.

        Raises
        ------
        DataError
            There is no such worker, or nothing shows a worse part.
        DamagedError
            Files are missing or changed.
        """
        from crowdcore.audit.judging.worse_part import worse_part

        data, evidence = self.run_data(run_id), self.evidence(run_id)
        if worker not in data.workers:
            raise DataError(f"There is no worker called {worker!r} in this run")
        code = data.workers.index(worker)
        rows = () if evidence is None else worse_part(data, evidence, code).tolist()
        if not rows:
            raise DataError(
                f"Nothing shows that a part of the labels of {worker!r} is worse",
                fix="Name the items whose labels are to be left out.",
            )
        return [data.items[item] for item in data.item[rows].tolist()]

    def run_decided(self, run_id: str) -> RunRow:
        """Queue a run like another, by all decisions that hold now.

        It begins from the other run where that has ended. Decided truths are used as gold by
        methods that can.

        Parameters
        ----------
        run_id : str
            The run to repeat.

        Returns
        -------
        RunRow
            The new run, as it waits.

        Raises
        ------
        DataError
            Nothing differs from the other run, or it cannot be queued.
        StorageError
            The disk is full, read-only or failing.
        """
        from crowdcore.registry import get_method

        row = self.run(run_id)
        decisions = self.standing(row.project_id, row.dataset_id).changing_data
        decided_on = self.standing(row.project_id).workers
        excluded = [name for name in row.excluded if name not in decided_on]  # asked for otherwise
        decided_out = [made.subject for made in decisions if made.action == "exclude"]
        is_same = {*excluded, *decided_out} == set(row.excluded)
        if is_same and _ids(decisions) == _ids(row.decisions):
            raise DataError(
                "The run already goes by all decisions", fix="Decide something, then run again."
            )
        params = dict(row.params)
        decided = [made.subject for made in decisions if made.action == "truth"]
        has_truths = data_files.has_any_item(self._data_folder(row.dataset_id), decided)
        method = get_method(row.method, kind=self.dataset(row.dataset_id).kind)
        if has_truths and "use_gold" in method.config.model_fields:
            params["use_gold"] = True
        return self.queue(
            row.dataset_id,
            row.method,
            params=params,
            seed=row.seed,
            device=row.device,
            excluded=excluded,
            warm_from=row.id if row.status == "done" else None,
            complete=row.complete,
            complete_params=row.complete_params,
            decisions=decisions,
        )

    def _append(self, project_id: str, decisions: Sequence[Decision]) -> None:
        with writing(self.root, "The decision"):
            ledger.append(self._project_folder(project_id), decisions)

    def _project_folder(self, project_id: str) -> Path:
        return self.root / "projects" / self.project(project_id).id

    def _first_version(self, dataset_id: str) -> str:
        dataset = self.dataset(dataset_id)
        while dataset.made_from is not None:
            dataset = self.dataset(dataset.made_from)
        return dataset.id

    def _check_undo(self, project_id: str, subjects: Sequence[str]) -> None:
        present = {decision.id for decision in self.decisions(project_id)}
        if unknown := [subject for subject in subjects if subject not in present]:
            raise DataError(f"There is no decision {unknown[0]!r} in this project")

    def _evidence(
        self, row: RunRow, action: Action, subjects: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        """What a run says of some workers or items, by name."""
        if action in ABOUT_WORKERS:
            return _rows_of(self.workers(row.id), "worker", subjects)
        if action in ("truth", "unsure"):
            return _rows_of(self.truths(row.id), "item", subjects)
        if action == "one_vote":
            table = self.workers(row.id)
            return {
                subject: {
                    f"evidence of {name}": values["evidence"]
                    for name, values in _rows_of(table, "worker", names_in(subject)).items()
                }
                for subject in subjects
            }
        return {}


def _rows_of(table: pd.DataFrame, key: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Rows of a table as values that JSON can hold; a name that is not there is refused."""
    wanted = table[table[key].astype("object").isin(list(names))]
    rows = {str(row[key]): _as_plain(row) for row in wanted.to_dict("records")}
    if unknown := [name for name in names if name not in rows]:
        raise DataError(f"There is no {key} called {unknown[0]!r} in this run")
    return rows


def _as_plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in row.items():
        number = value.item() if hasattr(value, "item") else value
        if isinstance(number, float) and not math.isfinite(number):
            number = None
        plain[str(name)] = (
            number if isinstance(number, bool | int | float | str | None) else str(number)
        )
    return plain


def _ids(decisions: Iterable[Decision]) -> set[str]:
    return {decision.id for decision in decisions}
