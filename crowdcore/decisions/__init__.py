"""Decisions of people: who is left out, what an item is, which classes are one, what is required.

A decision is never changed. A later one about the same subject takes its place, and undoing one is
a decision too, so the list tells how everything came about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from crowdcore.errors import DataError
from crowdcore.wording import count, join_names

Action = Literal[
    "exclude",
    "leave_out",
    "keep",
    "watch",
    "one_vote",
    "truth",
    "unsure",
    "merge",
    "require",
    "audit",
    "undo",
]

ABOUT_WORKERS: tuple[Action, ...] = ("exclude", "leave_out", "keep", "watch")
"""Actions whose subject is a worker; the latest about a worker holds."""

CHANGE_DATA: tuple[Action, ...] = ("exclude", "leave_out", "one_vote", "truth", "merge")
"""Actions that a run on the same data gives another result for."""

MEANING: dict[Action, str] = {
    "exclude": "leave out every label of a worker",
    "leave_out": "leave out some labels of a worker, and keep the others",
    "keep": "keep a worker whom the evidence put in doubt",
    "watch": "keep a worker for now, and look again",
    "one_vote": "let workers who answer alike vote once per item",
    "truth": "the right answer of an item; it acts as gold",
    "unsure": "the right answer of an item could not be told",
    "merge": "count a class as another one",
    "require": "the accuracy that workers must reach, between 0 and 1",
    "audit": "draw items by chance, to tell the accuracy by deciding them",
    "undo": "take an earlier decision back",
}

QUESTION = "question"
"""Where the evidence of an answer tells how its question was drawn."""

SAMPLE = "sample"
"""Where the evidence of an audit holds its items, and that of an answer the id of its audit."""

NEED_REASON: dict[Action, str] = {
    "exclude": "exclude",
    "leave_out": "leave out labels of",
    "one_vote": "count once the votes of",
}
"""Actions that take labels away, which somebody may have to defend, and their verbs."""

MIN_GROUP = 2
MAX_TEXT_LENGTH = 2_000
"""Characters of a reason or a note."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One entry of the ledger.

    Parameters
    ----------
    id
        What no other decision has.
    time
        When it was made, in ISO 8601.
    by
        The name of the person who made it.
    action
        What was decided, see `MEANING`.
    subject
        The worker, item or class that it is about; of "one_vote" the workers, as `names_text`
        writes them; of "undo" the id of a decision; of "audit" the name of the sample; empty for
        "require".
    value
        The right answer, the class to merge into, the required accuracy, how a sample is drawn, or
        of "leave_out" the items whose labels go, as `names_text` writes them.
    reason, note
        Why, in a few words and at length.
    dataset
        The first version of the data set that a truth or a merge is about; None for all data of
        the project.
    run
        The run that was looked at.
    evidence
        What that run said of the subject, frozen at the time.
    """

    id: str
    time: str
    by: str
    action: Action
    subject: str = ""
    value: str = ""
    reason: str = ""
    note: str = ""
    dataset: str | None = None
    run: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.action not in get_args(Action):
            allowed = ", ".join(get_args(Action))
            raise DataError(f"{self.action!r} is no kind of decision", fix=f"Choose {allowed}.")
        if not self.by.strip():
            raise DataError("A decision needs the name of who makes it", fix="Give a name.")
        if self.action != "require" and not self.subject:
            raise DataError(f"Nothing is named to {self.action}")
        if self.action in ("truth", "merge") and not self.value:
            raise DataError(f"The decision on {self.subject!r} has no answer")
        if self.action in NEED_REASON and not self.reason.strip():
            raise DataError(
                f"There is no reason to {NEED_REASON[self.action]} {self.subject!r}",
                fix="Give one, so that the decision can be defended.",
            )
        if self.action == "leave_out" and not names_in(self.value):
            raise DataError(f"No item is named whose label of {self.subject!r} is left out")
        if self.action == "one_vote" and len(set(names_in(self.subject))) < MIN_GROUP:
            raise DataError("Voting once takes two workers or more", fix="Name them all.")
        if self.action == "require" and not _is_share(self.value):
            raise DataError(
                f"The required accuracy is {self.value!r}", fix="Give a number between 0 and 1."
            )
        for text in (self.reason, self.note):
            if len(text) > MAX_TEXT_LENGTH:
                raise DataError(f"A reason or note has at most {MAX_TEXT_LENGTH:,} characters")

    @property
    def sentence(self) -> str:
        """What was decided, in a few words."""
        if self.action == "leave_out":
            labels = count(len(names_in(self.value)), "label")
            return f"Leave out {labels} of worker {self.subject}"
        if self.action == "one_vote":
            return f"Workers {join_names(names_in(self.subject))} vote once per item"
        phrases: dict[Action, str] = {
            "exclude": f"Exclude worker {self.subject}",
            "keep": f"Keep worker {self.subject}",
            "watch": f"Watch worker {self.subject}",
            "truth": f"Item {self.subject} is {self.value}",
            "merge": f"Class {self.subject} counts as {self.value}",
            "require": f"Workers must reach {self.value}",
            "unsure": f"Item {self.subject}: unsure",
            "audit": f"Audit {self.subject}: {self.value}",
            "undo": f"Take back {self.subject}",
        }
        return phrases[self.action]

    def as_json(self) -> str:
        """Return the decision as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Decision:
        """Read a decision that `as_json` wrote.

        Parameters
        ----------
        text
            One line.

        Returns
        -------
        Decision
            The same decision; unknown fields are left out.

        Raises
        ------
        DataError
            If it is no decision.
        """
        try:
            values = json.loads(text)
            names = {entry.name for entry in fields(cls)}
            return cls(**{name: value for name, value in values.items() if name in names})
        except (ValueError, TypeError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"This line is no decision: {text[:80]!r}") from None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What holds after all decisions, each with the decision that says so.

    Parameters
    ----------
    workers
        The latest decision on each worker, by name.
    truths
        The decision on each item, by name.
    merges
        The decision on each class that counts as another one, by name.
    groups
        The decision on each group of workers who vote once, by their names.
    requirement
        The decision on the required accuracy; None where nothing is required.
    """

    workers: Mapping[str, Decision] = field(default_factory=dict)
    truths: Mapping[str, Decision] = field(default_factory=dict)
    merges: Mapping[str, Decision] = field(default_factory=dict)
    groups: Mapping[str, Decision] = field(default_factory=dict)
    requirement: Decision | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions that hold."""
        requirement = () if self.requirement is None else (self.requirement,)
        return (
            *self.workers.values(),
            *self.truths.values(),
            *self.merges.values(),
            *self.groups.values(),
            *requirement,
        )

    @property
    def excluded(self) -> tuple[str, ...]:
        """The workers to leave out."""
        return tuple(name for name, made in self.workers.items() if made.action == "exclude")

    @property
    def required_accuracy(self) -> float | None:
        """The accuracy that workers must reach."""
        return None if self.requirement is None else float(self.requirement.value)

    @property
    def changing_data(self) -> tuple[Decision, ...]:
        """The decisions that change what a run is given, in the order they were made."""
        changing = [made for made in self.decisions if made.action in CHANGE_DATA]
        return tuple(sorted(changing, key=lambda decision: decision.time))


def standing(decisions: Iterable[Decision], *, dataset: str | None = None) -> Standing:
    """Work out what holds.

    Parameters
    ----------
    decisions
        The ledger, in the order it was written.
    dataset
        Leave out truths and merges that are about other data sets; None takes all.

    Returns
    -------
    Standing
        The latest decision on each subject that was not undone.
    """
    entries = list(decisions)
    undone = undone_ids(entries)
    workers: dict[str, Decision] = {}
    truths: dict[str, Decision] = {}
    merges: dict[str, Decision] = {}
    groups: dict[str, Decision] = {}
    requirement = None
    for decision in entries:
        if decision.id in undone:
            continue
        elsewhere = None not in (dataset, decision.dataset) and decision.dataset != dataset
        if decision.action in ABOUT_WORKERS:
            workers[decision.subject] = decision
        elif decision.action == "require":
            requirement = decision
        elif decision.action == "one_vote":
            groups[decision.subject] = decision
        elif decision.action == "truth" and not elsewhere:
            truths[decision.subject] = decision
        elif decision.action == "merge" and not elsewhere:
            merges[decision.subject] = decision
    return Standing(
        workers=workers, truths=truths, merges=merges, groups=groups, requirement=requirement
    )


def names_text(names: Iterable[str]) -> str:
    """Write several workers or items as the text of a subject or value.

    Parameters
    ----------
    names
        The names; their order and repeats do not matter.

    Returns
    -------
    str
        A JSON list, in alphabetical order.
    """
    return json.dumps(sorted(set(names)), ensure_ascii=False)


def names_in(text: str) -> list[str]:
    """Read what `names_text` wrote.

    Parameters
    ----------
    text
        A JSON list of names.

    Returns
    -------
    list of str
        The names.

    Raises
    ------
    DataError
        If it is no such list.
    """
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"{text[:80]!r} is no list of names", fix='Write it like ["a", "b"].')
    return names


def holding_ids(entries: Sequence[Decision]) -> set[str]:
    """Return the ids of decisions that were neither replaced nor taken back.

    Parameters
    ----------
    entries
        The ledger, in the order it was written.

    Returns
    -------
    set of str
        Those of `Standing`, of audits, and of items that could not be told and were not decided
        since.
    """
    holds, undone = standing(entries), undone_ids(entries)
    ids = {decision.id for decision in holds.decisions}
    for decision in entries:
        is_open = decision.action == "unsure" and decision.subject not in holds.truths
        if (is_open or decision.action == "audit") and decision.id not in undone:
            ids.add(decision.id)
    return ids


def undone_ids(entries: Sequence[Decision]) -> set[str]:
    """Return the ids of decisions that were taken back.

    Parameters
    ----------
    entries
        The ledger, in the order it was written.

    Returns
    -------
    set of str
        Undoing an undo brings the first decision back.
    """
    undone: set[str] = set()
    for decision in reversed(entries):
        if decision.action == "undo" and decision.id not in undone:
            undone.add(decision.subject)
    return undone


def _is_share(text: str) -> bool:
    try:
        return 0 < float(text) <= 1
    except ValueError:
        return False
