"""Answers to questions about items: kept in the ledger as they are given, and run by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from crowdcore.data import DataError
from crowdcore.decisions import QUESTION, Decision
from crowdcore.workspace.catalogue import new_id, now
from crowdcore.workspace.what_if import WhatIf

if TYPE_CHECKING:
    from crowdcore.questions import Question
    from crowdcore.workspace.records import RunRow

REASON = "answer to a question"
POOL = "auto"
"""The method whose candidates questions choose among."""


class Answers(WhatIf):
    """Keeping answers, and running by them."""

    def answer(
        self, run_id: str, item: str, value: str | None, *, by: str, question: Question
    ) -> Decision:
        """Keep an answer; it acts as gold in later runs.

        Parameters
        ----------
        run_id : str
            The run that the question is about.
        item : str
            The item that was asked about.
        value : str or None
            The right class; None if whoever was asked is unsure.
        by : str
            The name of the person who answers.
        question : Question
            How the item was drawn, which is kept with the answer.

        Returns
        -------
        Decision
            The entry of the ledger, on the disk.

        Raises
        ------
        DataError
            The answer is incomplete.
        StorageError
            The disk is full, read-only or failing.
        """
        row = self.run(run_id)
        made = Decision(
            id=new_id(),
            time=now(),
            by=by.strip(),
            action="unsure" if value is None else "truth",
            subject=item,
            value=value or "",
            reason=REASON,
            dataset=self._first_version(row.dataset_id),
            run=run_id,
            evidence={QUESTION: asdict(question)},
        )
        self._append(row.project_id, [made])
        return made

    def asked(self, run_id: str) -> list[Decision]:
        """List the answers to questions about a run's data, those that are undone left out.

        Parameters
        ----------
        run_id : str
            The run; answers given about other runs on the same data count too.

        Returns
        -------
        list of Decision
            In the order they were given; also those that were unsure.

        Raises
        ------
        DamagedError
            A line of the ledger was changed or taken out.
        """
        row = self.run(run_id)
        first = self._first_version(row.dataset_id)
        entries = self.decisions(row.project_id)
        holds = {made.id for made in self.standing(row.project_id, row.dataset_id).truths.values()}
        undone = {made.subject for made in entries if made.action == "undo"}
        return [
            made
            for made in entries
            if QUESTION in made.evidence
            and made.dataset == first
            and (made.id in holds or (made.action == "unsure" and made.id not in undone))
        ]

    def run_answered(self, run_id: str, *, prepare: bool = False) -> RunRow:
        """Queue a run that lets the known answers choose between methods.

        Parameters
        ----------
        run_id : str
            A run of the pool, whose seed and settings are kept.
        prepare : bool, default False
            Only fit the methods, so that questions can be asked.

        Returns
        -------
        RunRow
            The new run, as it waits.

        Raises
        ------
        DataError
            The run is not one of the pool.
        StorageError
            The disk is full, read-only or failing.
        """
        row = self.run(run_id)
        if row.method != POOL:
            raise DataError(
                f"Questions are asked about runs of {POOL}, not of {row.method}",
                fix=f"Run {POOL} on the same data.",
            )
        choose = "ask" if prepare else "gold"
        return self.queue(
            row.dataset_id,
            row.method,
            params={**row.params, "choose": choose, "use_gold": False},
            seed=row.seed,
            device=row.device,
            excluded=row.excluded,
            decisions=self.standing(row.project_id, row.dataset_id).changing_data,
        )


def drawing_chances(decisions: Iterable[Decision]) -> dict[str, float]:
    """Return by which chance each item was asked that has an answer.

    Parameters
    ----------
    decisions
        Such as `RunRow.decisions`, in the order they were made.

    Returns
    -------
    dict of str to float
        By the name of the item.
    """
    return {
        made.subject: float(made.evidence[QUESTION]["chance"])
        for made in decisions
        if made.action == "truth" and QUESTION in made.evidence
    }
