"""Items of a run as people work on them: the worklist, audit samples, guideline problems, plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdcore.data import DataError
from crowdcore.decisions import SAMPLE, Action, Decision, undone_ids
from crowdcore.workspace.answers import Answers

if TYPE_CHECKING:
    from crowdcore.data import CrowdData
    from crowdcore.results.result import Result
    from crowdcore.review.audit_sample import AuditEstimate, AuditSample, Design
    from crowdcore.review.guideline import GuidelineProblems
    from crowdcore.review.worklist import Worklist
    from crowdcore.spending.plan import SpendPlan
    from crowdcore.workspace.records import RunRow

SHOWN = "labels_shown"
"""Where the evidence of an answer says whether whoever decided had seen labels and truth."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """An audit sample as it stands.

    Parameters
    ----------
    id
        Of the decision that drew it.
    name
        What it is called.
    run
        The run whose truths it checks.
    by, time
        Who drew it, and when.
    sample
        Its items.
    answers
        What was decided of them; None where it could not be told.
    estimate
        What they tell of the run.
    """

    id: str
    name: str
    run: str
    by: str
    time: str
    sample: AuditSample
    answers: dict[str, str | None]
    estimate: AuditEstimate

    @property
    def left(self) -> list[str]:
        """Items that nobody has decided yet, in their order."""
        return [item for item in self.sample.items if item not in self.answers]


class ItemReview(Answers):
    """Work on items that only a person can do, kept in the ledger."""

    def worklist(
        self,
        run_id: str,
        *,
        weight_column: str | None = None,
        tolerance: float | None = None,
        result: Result | None = None,
    ) -> Worklist:
        """Rank a run's items by what a look is worth, by all decisions that hold now.

        Parameters
        ----------
        run_id : str
            A finished run.
        weight_column : str, optional
            An item-level column of numbers that says how much hangs on an item.
        tolerance : float, optional
            By how much a rating may be off and still be right.
        result : Result, optional
            The run's result, where it is at hand.

        Returns
        -------
        Worklist
            Without items that are decided, or that somebody was unsure about.

        Raises
        ------
        DataError
            The labels are comparisons, or the column has no numbers.
        """
        from crowdcore.review.worklist import worklist

        row = self._finished(run_id)
        return worklist(
            result or self.load_result(run_id),
            list(self.standing(row.project_id, row.dataset_id).truths.values()),
            used=[made.id for made in row.decisions],
            skipped=self.unsure_items(run_id),
            weight_column=weight_column,
            tolerance=tolerance,
        )

    def unsure_items(self, run_id: str) -> list[str]:
        """List the items whose answer somebody could not tell, and nobody decided since.

        Parameters
        ----------
        run_id : str
            The run; what was said about other runs on the same data counts too.

        Returns
        -------
        list of str
            Names of items.
        """
        row = self.run(run_id)
        decided = self.standing(row.project_id, row.dataset_id).truths
        unsure = self._entries(row, "unsure")
        return [made.subject for made in unsure if made.subject not in decided]

    def _entries(self, row: RunRow, action: Action) -> list[Decision]:
        """Decisions of one kind about the data of a run that were not taken back."""
        first = self._first_version(row.dataset_id)
        entries = self.decisions(row.project_id)
        undone = undone_ids(entries)
        return [
            made
            for made in entries
            if made.action == action and made.id not in undone and made.dataset in (None, first)
        ]

    def adjudicate(
        self,
        run_id: str,
        item: str,
        answer: str | None,
        *,
        by: str,
        note: str = "",
        labels_shown: bool = True,
        audit: str | None = None,
        data: CrowdData | None = None,
    ) -> Decision:
        """Keep what a person decided about an item; later runs use it as gold.

        Parameters
        ----------
        run_id : str
            The run that was looked at.
        item : str
            The item.
        answer : str or None
            The class, the number, or a JSON list of classes; None if it cannot be told.
        by : str
            Who decides.
        note : str, optional
            What should be remembered.
        labels_shown : bool, default True
            Whether labels and truth were seen before deciding.
        audit : str, optional
            The id of the audit that the item was drawn for.
        data : CrowdData, optional
            The run's labels, where they are at hand.

        Returns
        -------
        Decision
            The entry of the ledger, on the disk.

        Raises
        ------
        DataError
            The item is not in the run, or the answer is none there.
        StorageError
            The disk is full, read-only or failing.
        """
        from crowdcore.decisions.applying import parse_answer

        row = self.run(run_id)
        if answer is not None:
            parse_answer(data or self.load_data(row.dataset_id), answer)
        reason = "adjudicated" if audit is None else "drawn for an audit"
        details: dict[str, object] = {SHOWN: labels_shown}
        if audit is not None:
            details[SAMPLE] = audit
        (made,) = self.decide(
            row.project_id,
            "unsure" if answer is None else "truth",
            [item],
            by=by,
            value=answer or "",
            reason=reason,
            note=note,
            run_id=run_id,
            details=details,
        )
        return made

    def draw_audit(
        self,
        run_id: str,
        size: int,
        *,
        by: str,
        design: Design = "random",
        seed: int = 0,
        tolerance: float | None = None,
        result: Result | None = None,
    ) -> Audit:
        """Draw items of a run by chance, and keep which ones in the ledger.

        Parameters
        ----------
        run_id : str
            A finished run, whose accuracy is asked for.
        size : int
            Items to draw.
        by : str
            Who draws them.
        design : {"random", "stratified"}, optional
            Whether all items have the same chance, or those that are less sure a higher one.
        seed : int, optional
            Of the drawing.
        tolerance : float, optional
            By how much a rating may be off and still be right.
        result : Result, optional
            The run's result, where it is at hand.

        Returns
        -------
        Audit
            With nothing decided, but for items that were decided before.

        Raises
        ------
        DataError
            Nothing can be drawn so.
        StorageError
            The disk is full, read-only or failing.
        """
        from crowdcore.review.audit_sample import draw_sample

        row = self._finished(run_id)
        fitted = result or self.load_result(run_id)
        sample = draw_sample(fitted, size, design=design, seed=seed, tolerance=tolerance)
        number = 1 + sum(made.action == "audit" for made in self.decisions(row.project_id))
        (made,) = self.decide(
            row.project_id,
            "audit",
            [f"sample {number}"],
            by=by,
            value=f"{size:,} of {sample.n_items:,} items, {design}",
            reason=f"how right is {row.label}",
            run_id=run_id,
            details={SAMPLE: sample.as_json()},
        )
        return self._audit(made, row)

    def audits(self, run_id: str) -> list[Audit]:
        """List the audit samples of a run's data, those that were taken back left out.

        Parameters
        ----------
        run_id : str
            The run; each audit says which run it checks.

        Returns
        -------
        list of Audit
            The latest first.
        """
        row = self.run(run_id)
        drawn = self._entries(row, "audit")
        return [self._audit(made, row) for made in reversed(drawn)]

    def find_audit(self, run_id: str, audit_id: str) -> Audit:
        """Return an audit sample by its id or name.

        Parameters
        ----------
        run_id : str
            A run on the same data.
        audit_id : str
            The id, its beginning, or the name.

        Raises
        ------
        DataError
            There is none, or several fit.
        """
        audits = self.audits(run_id)
        fitting = [each for each in audits if audit_id == each.name] or [
            each for each in audits if audit_id and each.id.startswith(audit_id)
        ]
        if len(fitting) != 1:
            names = ", ".join(repr(each.name) for each in audits) or "none"
            raise DataError(f"There is no audit called {audit_id!r}", fix=f"Audits: {names}.")
        return fitting[0]

    def _audit(self, made: Decision, row: RunRow) -> Audit:
        from crowdcore.review.audit_sample import AuditSample, decided_answers, estimate_accuracy

        sample = AuditSample.from_json(made.evidence[SAMPLE])
        truths = self.standing(row.project_id, row.dataset_id).truths
        decided = {item: each.value for item, each in truths.items()}
        answers = decided_answers(sample, decided, self.unsure_items(row.id))
        return Audit(
            id=made.id,
            name=made.subject,
            run=made.run or "",
            by=made.by,
            time=made.time,
            sample=sample,
            answers=answers,
            estimate=estimate_accuracy(sample, answers),
        )

    def good_workers(self, run_id: str) -> tuple[list[str], str]:
        """List the workers who are known to be good, and say how that is known.

        Parameters
        ----------
        run_id : str
            A finished run.

        Returns
        -------
        tuple
            Names, and a sentence. Where too few have a good verdict, everybody counts who is not
            in doubt.
        """
        from crowdcore.audit.verdicts import GOOD

        workers = self.workers(run_id)
        good = workers["worker"][workers["verdict"] == GOOD.name].astype(str).tolist()
        if len(good) > 1:
            return good, f"Good are the {len(good):,} workers with that verdict."
        unwanted = set(self.unwanted_workers(run_id))
        others = [name for name in workers["worker"].astype(str) if name not in unwanted]
        return others, (
            "Too few workers have the verdict good, so all count who are not in doubt: "
            f"{len(others):,}."
        )

    def unwanted_workers(self, run_id: str) -> list[str]:
        """List the workers who are left out, or whom the evidence puts in doubt.

        A worker who was kept by decision is wanted whatever the evidence says.

        Parameters
        ----------
        run_id : str
            A finished run.
        """
        from crowdcore.audit.kinds import audit_of

        row = self._finished(run_id)
        workers = self.workers(run_id)
        in_doubt = audit_of(self._kind(run_id)).in_doubt
        doubted = workers["worker"][workers["verdict"].isin(list(in_doubt))].astype(str)
        standing = self.standing(row.project_id)
        kept = {name for name, made in standing.workers.items() if made.action == "keep"}
        return sorted({*row.excluded, *standing.excluded, *doubted} - kept)

    def guideline_problems(self, run_id: str, *, result: Result | None = None) -> GuidelineProblems:
        """Find classes and items on which good workers differ.

        Parameters
        ----------
        run_id : str
            A finished run.
        result : Result, optional
            The run's result, where it is at hand.

        Returns
        -------
        GuidelineProblems

        Raises
        ------
        DataError
            The labels are no classes, or too few workers are good.
        """
        from crowdcore.review.guideline import guideline_problems

        good, basis = self.good_workers(run_id)
        return guideline_problems(result or self.load_result(run_id), good, basis=basis)

    def plan_spending(
        self,
        run_id: str,
        *,
        budget: float,
        price: float,
        labels_per_worker: int | None = None,
        ask_all: bool = False,
        result: Result | None = None,
    ) -> SpendPlan:
        """Plan the next batch of labels by what a run knows.

        Parameters
        ----------
        run_id : str
            A finished run.
        budget, price : float
            Money to spend, and what one label costs.
        labels_per_worker : int, optional
            Labels of one worker, at most.
        ask_all : bool, default False
            Ask workers in doubt too, but not those who are left out.
        result : Result, optional
            The run's result, where it is at hand.

        Returns
        -------
        SpendPlan

        Raises
        ------
        DataError
            No label can be paid, or nobody is left to ask.
        """
        from crowdcore.spending.plan import plan_spending

        row = self._finished(run_id)
        standing = self.standing(row.project_id, row.dataset_id)
        left_out = sorted({*row.excluded, *standing.excluded})
        unwanted = left_out if ask_all else self.unwanted_workers(run_id)
        return plan_spending(
            result or self.load_result(run_id),
            budget=budget,
            price=price,
            known=list(standing.truths),
            unwanted=unwanted,
            labels_per_worker=labels_per_worker,
        )
