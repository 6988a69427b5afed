"""What the catalogue's rows are to everyone else: projects, data sets and runs."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from crowdcore.data import Kind
from crowdcore.decisions import Decision
from crowdcore.wording import count

Status = Literal["queued", "running", "done", "failed", "cancelled", "lost"]

MAX_LISTED_WORKERS = 4
"""Excluded workers that a run's label names; of more it says how many."""

MAX_NAME_LETTERS = 20
"""Letters of a worker's name in a run's label."""


@dataclass(frozen=True, kw_only=True)
class Project:
    """A question with its data sets and runs. Names are unique in a workspace."""

    id: str
    name: str
    created: str  # ISO 8601, UTC, as are all times here
    sample: str | None = None  # which sample the project was made from

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> Self:
        """Read a row of the catalogue."""
        return cls(**_fields_in(cls, row))


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Labels that were saved once and never change; what is added makes another version."""

    id: str
    project_id: str
    name: str
    created: str
    fingerprint: str
    kind: Kind
    n_labels: int
    n_items: int
    n_workers: int
    n_classes: int
    n_gold: int
    n_features: int
    version: int = 1
    made_from: str | None = None  # the id of the version before
    added: dict[str, int] = field(default_factory=dict)  # what is new since, counted

    @property
    def label(self) -> str:
        """A short text that no other data set has; for selectors."""
        return f"{self.title} · {self.id[:6]}"

    @property
    def title(self) -> str:
        """The name, with the version where it is not the first."""
        return self.name if self.version == 1 else f"{self.name}, version {self.version}"

    @property
    def sizes(self) -> str:
        """How large it is, in words."""
        return (
            f"{count(self.n_labels, 'label')} of {count(self.n_items, 'item')} by "
            f"{count(self.n_workers, 'worker')}"
        )

    @property
    def news(self) -> str:
        """What is new since the version before, such as "2 gold answers, 30 labels"."""
        return ", ".join(count(number, noun) for noun, number in self.added.items() if number)

    @property
    def features(self) -> int | None:
        """How many features an item has; None where there are none, as in the data themselves."""
        return self.n_features or None

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> Self:
        """Read a row of the catalogue."""
        values = _fields_in(cls, row)
        return cls(**{**values, "added": json.loads(values["added"])})


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """A fit: what was asked for, how far it is, and how it ended."""

    id: str
    project_id: str
    dataset_id: str
    number: int  # counts the runs of a project, and is never used twice
    method: str
    title: str
    params: dict[str, Any]
    seed: int
    device: str
    excluded: tuple[str, ...]
    status: Status
    stopping: bool  # somebody has asked it to stop
    stage: str = ""
    step: int = 0
    total: int = 0
    speed: float = 0.0  # steps per second
    metrics: dict[str, float] = field(default_factory=dict)
    error: str = ""  # a sentence
    pid: int | None = None
    created: str
    started: str | None = None
    finished: str | None = None
    seconds: float | None = None  # of the fit itself
    headline: str = ""  # how far the truths agree with gold, in words
    accuracy: float | None = None  # against gold, where truths are classes
    n_tied: int | None = None
    warm_from: str | None = None  # the run whose result it begins from
    member_of: str | None = None  # the run that it is a part of
    completion: dict[str, Any] | None = None  # the method that fills in labels first, its params
    decisions: tuple[Decision, ...] = ()  # what people had decided and the run goes by
    name: str = ""  # what people call it
    preview: bool = False  # only tried, to see what a decision would change

    @property
    def complete(self) -> str | None:
        """The method that fills in missing labels first, if one does."""
        return None if self.completion is None else str(self.completion["method"])

    @property
    def complete_params(self) -> dict[str, Any]:
        """The settings of that method."""
        return {} if self.completion is None else dict(self.completion["params"])

    @property
    def active(self) -> bool:
        """Whether it waits or works."""
        return self.status in ("queued", "running")

    @property
    def share(self) -> float:
        """The part of the current stage that is done, 0 to 1."""
        return min(1.0, self.step / max(1, self.total))

    @property
    def label(self) -> str:
        """A short text that no other run of the project has; for selectors."""
        name = f"#{self.number} {self.name or self.title}" + (" (member)" if self.member_of else "")
        return " ".join(part for part in (name, self.without, self.decided) if part)

    @property
    def without(self) -> str:
        """Whose labels it leaves out, such as "without 8, part of 10"; "" if nobody's."""
        parts = [made.subject for made in self.decisions if made.action == "leave_out"]
        names = [_shortened(name) for name in self.excluded]
        names += [f"part of {_shortened(name)}" for name in parts]
        if not names:
            return ""
        shown = names[:MAX_LISTED_WORKERS]
        n_more = len(names) - len(shown)
        return f"without {', '.join(shown)}" + (f" and {n_more:,} more" if n_more else "")

    @property
    def decided(self) -> str:
        """What else people decided for it, such as "with 12 decided truths"; "" if nothing."""
        truths, merges, groups = (
            sum(decision.action == action for decision in self.decisions)
            for action in ("truth", "merge", "one_vote")
        )
        parts = [count(truths, "decided truth")] if truths else []
        parts += [f"{count(merges, 'class', 'classes')} merged"] if merges else []
        parts += [f"{count(groups, 'group')} voting once"] if groups else []
        return f"with {' and '.join(parts)}" if parts else ""

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> Self:
        """Read a row of the catalogue."""
        values = _fields_in(cls, row)
        for name in ("params", "metrics", "excluded"):
            values[name] = json.loads(values[name])
        values["excluded"] = tuple(values["excluded"])
        values["completion"] = json.loads(values["completion"] or "null")
        values["decisions"] = tuple(Decision(**entry) for entry in json.loads(values["decisions"]))
        values["preview"] = bool(values["preview"])
        return cls(stopping=bool(row["cancel"]), **values)


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME_LETTERS else name[: MAX_NAME_LETTERS - 1] + "…"


def _fields_in(cls: type[Any], row: sqlite3.Row) -> dict[str, Any]:
    columns = set(row.keys())
    return {entry.name: row[entry.name] for entry in fields(cls) if entry.name in columns}
