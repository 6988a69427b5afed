"""What an overview is made of, and which items of each kind need a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.items import LOW_CONFIDENCE
from crowdcore.audit.kinds import audit_of
from crowdcore.data import Kind
from crowdcore.results.ranking import SURE
from crowdcore.wording import percent

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.agreements.panel import AgreementPanel
    from crowdcore.audit.comparison import Comparison
    from crowdcore.confidence.accuracy import ExpectedAccuracy
    from crowdcore.results.result import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class OverviewSource:
    """What an overview is made of.

    Attributes
    ----------
    result
        The truths, and the labels that the run used.
    items, workers
        The tables of items, with what counting says of them, and of workers.
    expected
        How many truths are probably right; None where nothing tells.
    agreement
        How far the workers agree.
    comparison, previous
        What differs from the run before, and what that is called; None for a first run.
    excluded
        Workers whom the run leaves out.
    decided
        Workers about whom somebody has decided.
    n_unused
        Decisions that hold and that the run does not go by yet.
    warnings
        Titles of warnings about the data.
    """

    result: Result
    items: pd.DataFrame
    workers: pd.DataFrame
    agreement: AgreementPanel
    expected: ExpectedAccuracy | None = None
    comparison: Comparison | None = None
    previous: str = ""
    excluded: Sequence[str] = ()
    decided: Sequence[str] = ()
    n_unused: int = 0
    warnings: Sequence[str] = ()

    @property
    def kind(self) -> Kind:
        """What the labels are."""
        return self.result.data.kind

    @property
    def doubtful(self) -> pd.DataFrame:
        """The workers in doubt whose labels took part."""
        table = self.workers[~self.workers["worker"].isin(list(self.excluded))]
        return table[table["verdict"].isin(audit_of(self.kind).in_doubt)]


@dataclass(frozen=True, kw_only=True)
class OpenItems:
    """Which items of a kind need a person: the filter of that name, and what makes one."""

    preset: str
    meaning: str
    mask: Callable[[pd.DataFrame], NDArray[np.bool_]]


def _unsure(items: pd.DataFrame) -> NDArray[np.bool_]:
    unsure = items["confidence"].to_numpy(float) < LOW_CONFIDENCE
    return np.asarray(unsure & (items["n_labels"].to_numpy() > 0), bool)


def _open_order(items: pd.DataFrame) -> NDArray[np.bool_]:
    if "above_next" not in items:
        return np.zeros(len(items), bool)
    above = items["above_next"].to_numpy(float)
    return np.asarray(np.isfinite(above) & (above < SURE), bool)


_BELOW = f"is less than {percent(LOW_CONFIDENCE, 0)} sure"
OPEN_ITEMS: Mapping[Kind, OpenItems] = {
    "classes": OpenItems(preset="unsure", meaning=f"whose truth {_BELOW}", mask=_unsure),
    "sets": OpenItems(preset="unsure", meaning=f"whose set of classes {_BELOW}", mask=_unsure),
    "sequences": OpenItems(preset="unsure", meaning=f"of which some span {_BELOW}", mask=_unsure),
    "ratings": OpenItems(
        preset="disputed",
        meaning="whose ratings scatter far more widely than usual",
        mask=lambda items: items["disputed"].to_numpy(bool),
    ),
    "comparisons": OpenItems(
        preset="open",
        meaning=f"of which it is less than {percent(SURE, 0)} sure that they beat the next in rank",
        mask=_open_order,
    ),
}
"""Which items need a person, by kind of labels."""


def item_noun(kind: Kind) -> str:
    """Return what truths of a kind are about, in a word."""
    return "text" if kind == "sequences" else "item"
