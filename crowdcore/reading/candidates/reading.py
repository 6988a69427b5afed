"""Candidate, Question, Refusal, Readings: what a file can be read as, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.reading.columns.roles import Guess, Roles
from crowdcore.reading.labels.coded_labels import CodedLabels, extract
from crowdcore.reading.parsing.derived import find_columns, join_columns, rows_where
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count

KINDS = {
    "classes": "classes",
    "ratings": "ratings",
    "sets": "several classes in one answer",
    "comparisons": "comparisons of two",
    "sequences": "labels of tokens in a sequence",
    "rankings": "rankings",
    "boxes": "boxes, points or drawings",
    "spans": "marked spans of text",
    "free text": "free text",
}
"""What the answers of a question can be, and how that is said."""

DECLINED = ("rankings", "boxes", "spans", "free text")
"""Kinds that are named and not read."""

CLEAR_MARGIN = 8.0
"""A reading that scores this much more than every other one is read without a question."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What one rule says about a reading.

    Parameters
    ----------
    points
        What it adds to the score.
    sentence
        Why, in words.
    """

    points: float
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question that was asked of the workers.

    Parameters
    ----------
    name
        What it is called.
    label
        The column of its answers, in the table of its reading.
    kind
        What its answers are: a key of `KINDS`.
    n_labels, n_classes
        Answers, and distinct ones, in the rows that were looked at.
    score
        How well the column fits as an answer.
    gold
        The column of its known answers.
    rows
        Where questions stand in rows: the column that names the question, and the value there.
    note
        What is to be known about it.
    """

    name: str
    label: str
    kind: str
    n_labels: int
    n_classes: int
    score: float = 0.0
    gold: str | None = None
    rows: tuple[str, str] | None = None
    note: str = ""

    @property
    def readable(self) -> bool:
        """Whether answers of this kind can be read."""
        return self.kind not in DECLINED

    def describe(self) -> str:
        """Say how many answers of which kind there are."""
        several = f"{count(self.n_classes, 'distinct one')}, " if self.readable else ""
        return f"{self.name}: {count(self.n_labels, 'answer')}, {several}{KINDS[self.kind]}"


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How much a reading finds."""

    items: int
    workers: int
    labels: int
    classes: int

    def describe(self) -> str:
        """Say it in words."""
        return (
            f"{count(self.labels, 'label')} of {count(self.items, 'item')} by "
            f"{count(self.workers, 'worker')}, {count(self.classes, 'class', 'classes')}"
        )

    def short(self) -> str:
        """Write it as items/workers/labels/classes."""
        return f"{self.items}/{self.workers}/{self.labels}/{self.classes}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """One complete reading of a file.

    Parameters
    ----------
    title
        The reading in one sentence.
    roles
        The column of each role, in `table`.
    reasons
        For each role a sentence that says why.
    kind
        What the answers are: a key of `KINDS`.
    rules
        What each rule says about it.
    questions
        Every question that can be read this way; the one that is read stands first.
    laid_out
        The file as this reading lays it out, with every row.
    select
        Makes the table and the roles for another of the questions.
    doubt
        Why a look at the reading is advisable, although no other is as good; empty without one.
    missing
        Cells of a matrix that mean no answer, such as -1 or NA.
    """

    title: str
    roles: Roles
    reasons: dict[str, str]
    kind: str
    rules: tuple[Rule, ...]
    laid_out: Table
    questions: tuple[Question, ...] = ()
    select: Callable[[Question], Candidate] | None = None
    doubt: str = ""
    missing: tuple[str, ...] = ()

    @cached_property
    def table(self) -> Table:
        """The table of this reading; `read_labels` takes it with `guess`."""
        table = self.laid_out
        columns = find_columns(table, self.roles.item) if self.roles.item is not None else None
        if columns is not None:
            table = join_columns(table, columns)[0]
        return rows_where(table, *self.roles.rows) if self.roles.rows else table

    @property
    def score(self) -> float:
        """The sum of what the rules say."""
        return sum(rule.points for rule in self.rules)

    @property
    def guess(self) -> Guess:
        """The roles, with their reasons."""
        reasons = {"file": self.table.description, **self.reasons}
        others = tuple(question.describe() for question in self.questions[1:])
        return Guess(
            roles=self.roles,
            reasons=reasons,
            certain=not self.doubt,
            kind=self.kind,
            others=others,
            missing=self.missing,
        )

    @cached_property
    def labels(self) -> CodedLabels:
        """The labels as this reading finds them, before any cleaning."""
        return extract(self.table, self.roles)

    @property
    def _no_answer(self) -> NDArray[np.bool_]:
        """Which classes [K] are no answers."""
        return np.array(
            [not name.strip() or name in self.missing for name in self.labels.classes], bool
        )

    @cached_property
    def counts(self) -> Counts:
        """How many items, workers, labels and classes this reading finds; repeats count once."""
        labels = self.labels
        blank = self._no_answer
        nobody = np.array([not name.strip() for name in labels.workers], bool)
        rows = ~(blank[labels.label] | nobody[labels.worker])
        item, worker, label = labels.item, labels.worker, labels.label
        if not rows.all():
            item, worker, label = item[rows], worker[rows], label[rows]
        # Codes are counted, pairs sorted: `numpy.unique` took ten times as long on large files.
        pairs = item.astype(np.int64) << 32
        pairs |= worker
        pairs.sort()
        return Counts(
            items=int(np.count_nonzero(np.bincount(item))),
            workers=int(np.count_nonzero(np.bincount(worker))),
            labels=int(np.count_nonzero(pairs[1:] != pairs[:-1])) + min(1, len(pairs)),
            classes=int(np.count_nonzero(np.bincount(label))),
        )

    def preview(self, n_rows: int = 5) -> list[dict[str, str]]:
        """Return some labels as records of item, worker and label."""
        labels = self.labels
        rows = np.flatnonzero(~self._no_answer[labels.label])[:n_rows].tolist()
        return [
            {
                "item": labels.items[labels.item[row]],
                "worker": labels.workers[labels.worker[row]],
                "label": labels.classes[labels.label[row]],
            }
            for row in rows
        ]

    def ask(self, name: str) -> Candidate:
        """Return this reading for another of its questions.

        Parameters
        ----------
        name
            The name of the question.

        Returns
        -------
        Candidate

        Raises
        ------
        DataError
            If there is no such question, or its answers cannot be read.
        """
        asked = next((question for question in self.questions if question.name == name), None)
        if asked is None:
            names = ", ".join(repr(question.name) for question in self.questions)
            raise DataError(f"There is no question {name!r}", fix=f"There are {names}.")
        if not asked.readable:
            raise DataError(
                f"The answers to {name!r} are {KINDS[asked.kind]}, which cannot be audited"
            )
        if asked is self.questions[0] or self.select is None:
            return self
        others = tuple(question for question in self.questions if question is not asked)
        return replace(self.select(asked), questions=(asked, *others))


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why there is nothing to audit in a file.

    Parameters
    ----------
    seems
        What the file seems to be, as in "The file seems to be …".
    advice
        What to export or give instead.
    kind
        The kind of answers, where they are of one that is not read.
    readable
        Whether the labels can be read without doubt all the same, as those of one annotator.
    """

    seems: str
    advice: str
    kind: str = ""
    readable: bool = False

    def error(self, file: str) -> DataError:
        """Make the error that says so."""
        return DataError(f"Nothing to audit: this seems to be {self.seems}", file=file,
                         fix=self.advice)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Readings:
    """Every reading of a file that was considered.

    Parameters
    ----------
    table
        The file as it was parsed.
    candidates
        The readings, the best first.
    refusal
        Why the file is not to be read; None where it is.
    """

    table: Table
    candidates: tuple[Candidate, ...] = ()
    refusal: Refusal | None = None

    @property
    def best(self) -> Candidate | None:
        """The reading with the highest score."""
        return self.candidates[0] if self.candidates else None

    @property
    def runner_up(self) -> Candidate | None:
        """The second best reading."""
        return self.candidates[1] if len(self.candidates) > 1 else None

    @property
    def settled(self) -> bool:
        """Whether there is a clear winner, which may be read without a question."""
        if self.best is None or self.refusal is not None:
            return False
        return self.runner_up is None or self.best.score - self.runner_up.score >= CLEAR_MARGIN

    def choose(self, number: int) -> Candidate:
        """Return a reading by its number, counted from 1.

        Raises
        ------
        DataError
            If there is no such reading.
        """
        if not 1 <= number <= len(self.candidates):
            fix = f"There are readings 1 to {len(self.candidates)}." if self.candidates else None
            raise DataError(f"There is no reading {number}", file=self.table.name, fix=fix)
        return self.candidates[number - 1]

    def explain(self) -> list[str]:
        """Say in words what the best reading is, why, and what the runner-up would be."""
        if self.best is None:
            return [] if self.refusal is None else [self.refusal.seems, self.refusal.advice]
        lines = [f"Read as: {self.best.title} ({self.best.counts.describe()})."]
        lines += _because(self.best.rules)
        if self.runner_up is not None:
            lines.append(f"Runner-up: {self.runner_up.title} ({self.runner_up.counts.describe()}).")
            lines += _because(self.runner_up.rules)
        return lines


def _because(rules: Sequence[Rule]) -> list[str]:
    return [f"{rule.points:+5.1f}  {rule.sentence}" for rule in rules]
