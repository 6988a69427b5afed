"""SpendPlan: a budget and a price per label become items and workers of the next batch."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.results.result import Result
from crowdcore.spending.measures import Measure, Worth, worth_of
from crowdcore.spending.value import MAX_FURTHER, choose_labels
from crowdcore.spending.workers import assign, most_per_worker, worker_quality
from crowdcore.wording import count

if TYPE_CHECKING:
    import pandas as pd

MAX_LABELS = 1_000_000
"""Labels that a plan can buy."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SpendPlan:
    """What to buy next.

    Parameters
    ----------
    budget, price
        Money to spend, and what one label costs.
    n_labels
        Labels that the plan buys; fewer than can be paid where more would bring nothing.
    n_affordable
        Labels that can be paid.
    items
        Columns `item`, `n_further`, `gain` (what they are expected to bring) and `n_labels` so far;
        the most worthwhile first. Of comparisons the pairs to ask, with `first` and `second`.
    assignments
        Columns `item` and `worker`; the worker is empty where somebody new must be found.
    workers
        Columns `worker`, `quality` and `n_further`: whom to ask for how many, the best first.
    n_unwanted
        Workers who are not asked because they were left out or are in doubt.
    measure
        Quality before and after; None where none can be told.
    basis
        What the expectation rests on, in a sentence.
    """

    budget: float
    price: float
    n_labels: int
    n_affordable: int
    items: pd.DataFrame
    assignments: pd.DataFrame
    workers: pd.DataFrame
    n_unwanted: int
    measure: Measure | None
    basis: str

    @property
    def cost(self) -> float:
        """What the labels of the plan cost."""
        return self.n_labels * self.price

    def describe(self) -> list[str]:
        """Say what the plan is and what it is expected to bring.

        Returns
        -------
        list of str
            Sentences.
        """
        noun = "pair" if "second" in self.items else "item"
        said = [
            f"{count(self.n_labels, 'label')} for {self.cost:,.2f} of {self.budget:,.2f}: "
            f"{count(len(self.items), noun)}, asked of {count(len(self.workers), 'worker')}."
        ]
        if self.n_labels < self.n_affordable:
            said.append(
                f"{count(self.n_affordable - self.n_labels)} more could be paid but would hardly "
                "change a truth."
            )
        if self.measure is not None:
            said.append(self.measure.describe())
        if self.n_unwanted:
            said.append(
                f"{count(self.n_unwanted, 'worker')} who were left out or are in doubt "
                f"{'is' if self.n_unwanted == 1 else 'are'} not asked."
            )
        n_new = int((self.assignments["worker"] == "").sum()) if len(self.assignments) else 0
        if n_new:
            said.append(f"{count(n_new, 'label')} must come from somebody new.")
        return [*said, self.basis]


def plan_spending(
    result: Result,
    *,
    budget: float,
    price: float,
    known: Collection[str] = (),
    unwanted: Collection[str] = (),
    labels_per_worker: int | None = None,
) -> SpendPlan:
    """Plan the next batch of labels.

    Every item is looked at for what one to five further labels are expected to bring, and the money
    goes where it brings most per label; each label goes to the best worker who has not seen the
    item and has not reached their share.

    Parameters
    ----------
    result
        The truths so far.
    budget, price
        Money to spend, and what one label costs.
    known
        Names of items that need no label: their answer was decided.
    unwanted
        Names of workers not to ask.
    labels_per_worker
        Labels of one worker, at most; twice an equal share if not given.

    Returns
    -------
    SpendPlan
        Items, workers, and what the quality is expected to become.

    Raises
    ------
    DataError
        If no label can be paid, or nobody is left to ask.
    """
    n_affordable = _affordable(budget, price)
    if result.data.kind == "comparisons":
        return _plan_comparisons(result, budget, price, n_affordable, unwanted)
    worth = worth_of(result, known, unwanted)
    if not worth.workers.is_asked.any():
        raise DataError(
            "Nobody is left to ask: every worker was left out or is in doubt",
            fix="Keep some workers on the Workers page, or find new ones.",
        )
    n_units = len(worth.names)
    room = np.full(n_units, MAX_FURTHER)
    wanted = choose_labels(worth.gains, n_affordable, room).astype(np.int64)
    gain = np.where(wanted > 0, worth.gains[np.arange(n_units), np.maximum(wanted, 1) - 1], 0.0)
    n_labels = int(wanted.sum())
    order = np.argsort(-gain / np.maximum(wanted, 1), kind="stable")
    limit = labels_per_worker or most_per_worker(n_labels, int(worth.workers.is_asked.sum()))
    pairs = assign(
        worth.unit_of_label, result.data, wanted, order, workers=worth.workers, limit=limit
    )
    return SpendPlan(
        budget=budget,
        price=price,
        n_labels=n_labels,
        n_affordable=n_affordable,
        items=_item_table(worth, wanted, gain, order),
        assignments=_assignment_table(worth, result.data, pairs),
        workers=_worker_table(result.data, worth, pairs),
        n_unwanted=worth.workers.n_left_out,
        measure=worth.measure(wanted),
        basis=worth.basis,
    )


def _affordable(budget: float, price: float) -> int:
    if not (math.isfinite(price) and price > 0):
        raise DataError(f"The price of a label is {price:g}", fix="Give a number above 0.")
    if not math.isfinite(budget) or budget < price:
        raise DataError(
            f"A budget of {budget:g} pays for no label at {price:g} each", fix="Give more."
        )
    return min(MAX_LABELS, int(budget / price + 1e-9))


def _item_table(
    worth: Worth, wanted: NDArray[np.int64], gain: Floats, order: NDArray[np.intp]
) -> pd.DataFrame:
    import pandas as pd

    chosen = order[wanted[order] > 0]
    names = np.array(worth.names, dtype=object)
    return pd.DataFrame(
        {
            "item": names[chosen],
            "n_further": wanted[chosen],
            "n_labels": worth.n_labels[chosen],
            "gain": gain[chosen],
        }
    )


def _assignment_table(worth: Worth, data: CrowdData, pairs: list[tuple[int, int]]) -> pd.DataFrame:
    import pandas as pd

    workers = (*data.workers, "")  # -1 is the last
    return pd.DataFrame(
        {
            "item": [worth.names[unit] for unit, _ in pairs],
            "worker": [workers[worker] for _, worker in pairs],
        },
        dtype="object",
    )


def _worker_table(data: CrowdData, worth: Worth, pairs: list[tuple[int, int]]) -> pd.DataFrame:
    import pandas as pd

    asked = np.array([worker for _, worker in pairs if worker >= 0], np.int64)
    n_further = np.bincount(asked, minlength=data.n_workers)
    order = [code for code in worth.workers.best_first if n_further[code]]
    return pd.DataFrame(
        {
            "worker": [data.workers[code] for code in order],
            "quality": worth.workers.quality[order],
            "n_further": n_further[order],
        }
    )


def _plan_comparisons(
    result: Result, budget: float, price: float, n_affordable: int, unwanted: Collection[str]
) -> SpendPlan:
    """Take the pairs that tell most about the order, once each."""
    import pandas as pd

    from crowdcore.audit.comparisons.next_pairs import next_pairs
    from crowdcore.engine.comparisons import POINTS

    pairs = next_pairs(result, limit=n_affordable)
    if pairs.empty:
        raise DataError(
            "The method gives no intervals, so it is not known which pairs are open",
            fix="Run bayesian_bt on the same comparisons.",
        )
    data = result.data
    leads = result.truth[data.item] - result.truth[data.other]
    hits = ((POINTS[data.label] - 0.5) * leads > 0).astype(np.float64)
    workers = worker_quality(data, hits, unwanted)
    best = workers.best_first
    # The most telling pairs come first in every round, as long as there is money.
    n_further = np.full(len(pairs), min(MAX_FURTHER, n_affordable // len(pairs)))
    if n_further[0] < MAX_FURTHER:
        n_further[: n_affordable % len(pairs)] += 1
    asked_pairs = np.repeat(np.arange(len(pairs)), n_further)
    asked = [best[number % len(best)] if best else -1 for number in range(len(asked_pairs))]
    names = (*data.workers, "")
    shown = pairs.rename(columns={"bits": "gain", "n_asked": "n_labels"})
    shown.insert(2, "n_further", n_further)
    n_asked = np.bincount([code for code in asked if code >= 0], minlength=data.n_workers)
    order = [code for code in best if n_asked[code]]
    return SpendPlan(
        budget=budget,
        price=price,
        n_labels=len(asked_pairs),
        n_affordable=n_affordable,
        items=shown,
        assignments=pd.DataFrame(
            {
                "item": shown["first"].to_numpy()[asked_pairs],
                "other": shown["second"].to_numpy()[asked_pairs],
                "worker": [names[code] for code in asked],
            }
        ),
        workers=pd.DataFrame(
            {
                "worker": [data.workers[code] for code in order],
                "quality": workers.quality[order],
                "n_further": n_asked[order],
            }
        ),
        n_unwanted=workers.n_left_out,
        measure=None,
        basis="Pairs are ranked by how much one answer tells about the order, in bits; by how much "
        "the order improves is not foretold.",
    )
