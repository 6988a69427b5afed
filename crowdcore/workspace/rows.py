"""What the catalogue's rows are to everyone else: projects, data sets and runs."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from crowdcore.data import Kind

Status = Literal["queued", "running", "done", "failed", "cancelled", "lost"]


@dataclass(frozen=True, kw_only=True)
class Project:
    """A question with its data sets and runs. Names are unique in a workspace."""

    id: str
    name: str
    created: str  # ISO 8601, UTC, as are all times here
    sample: str | None = None  # which sample the project was made from

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        """Read a row of the catalogue."""
        return cls(**_known(cls, row))


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Labels that were saved once and never change."""

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

    @property
    def label(self) -> str:
        """A short text that no other data set has; for selectors."""
        return f"{self.name} · {self.id[:6]}"

    @property
    def features(self) -> int | None:
        """How many features an item has; None where there are none, as in the data themselves."""
        return self.n_features or None

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        """Read a row of the catalogue."""
        return cls(**_known(cls, row))


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
    speed: float = 0.0  # steps a second
    metrics: dict[str, float] = field(default_factory=dict)
    error: str = ""  # a sentence
    pid: int | None = None
    created: str
    started: str | None = None
    finished: str | None = None
    seconds: float | None = None  # of the fit itself
    accuracy: float | None = None  # against gold
    n_tied: int | None = None
    warm_from: str | None = None  # the run whose result it begins from
    member_of: str | None = None  # the run that it is a part of
    completion: dict[str, Any] | None = None  # the method that fills in labels first, its params

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
        return f"#{self.number} {self.title}" + (" (member)" if self.member_of else "")

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        """Read a row of the catalogue."""
        values = _known(cls, row)
        for name in ("params", "metrics", "excluded"):
            values[name] = json.loads(values[name])
        values["excluded"] = tuple(values["excluded"])
        values["completion"] = json.loads(values["completion"] or "null")
        return cls(stopping=bool(row["cancel"]), **values)


def _known(cls: type[Any], row: sqlite3.Row) -> dict[str, Any]:
    return {one.name: row[one.name] for one in fields(cls) if one.name in row.keys()}  # noqa: SIM118
