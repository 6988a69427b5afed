"""Labels that were not worth their price: they came too late to matter, or tell nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError, Floats
from crowdcore.results.result import Result
from crowdcore.spending.measures import ACCURACY_LIMIT, honest_posterior
from crowdcore.spending.workers import worker_quality
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    import pandas as pd

SURE_ENOUGH = 0.99
"""From this probability on a further label of the item is not needed."""

LITTLE_TOLD = 0.3
"""Labels tell next to nothing whose log-odds for the class that they name are below it: they are
right at most a third more often than a guess."""

MIN_LABELS = 10
"""Of workers with fewer labels it is not said that they tell nothing."""

Reason = Literal["item was sure already", "tells next to nothing", ""]
REASONS: tuple[Reason, ...] = ("item was sure already", "tells next to nothing")


@dataclass(frozen=True, kw_only=True, eq=False)
class PastLabels:
    """Which labels were worth their price.

    Parameters
    ----------
    labels
        One row per label that was not: `item`, `worker`, `label` and `reason`.
    n_labels
        All labels.
    in_order
        Whether the labels have times, so that their order is known; otherwise the order of the
        file counts.
    """

    labels: pd.DataFrame
    n_labels: int
    in_order: bool

    def describe(self, price: float | None = None) -> list[str]:
        """Say how many labels were not worth their price.

        Parameters
        ----------
        price
            What a label cost; None leaves the money out.

        Returns
        -------
        list of str
            Sentences.
        """
        said = []
        for reason in REASONS:
            n = int((self.labels["reason"] == reason).sum())
            money = "" if price is None else f", {n * price:,.2f} at {price:g} each"
            what = {
                "item was sure already": f"came when their item was {percent(SURE_ENOUGH, 0)} sure "
                "already",
                "tells next to nothing": "are of workers whose labels tell next to nothing",
                "": "",
            }[reason]
            share = percent(n / max(1, self.n_labels))
            said.append(f"{count(n, 'label')} ({share}{money}) {what}.")
        if not self.in_order:
            said.append("The file has no times, so its rows were taken to be in their order.")
        return said


def past_labels(result: Result) -> PastLabels:
    """Find labels that brought nothing.

    Labels of an item are taken one after another, each worker being right as often as the run
    says. Once one class is sure enough, and stays the truth, further labels of the item count as
    not needed.

    Parameters
    ----------
    result
        Truths of labels with classes.

    Returns
    -------
    PastLabels
        Nobody is accused by it: a careful worker can come too late as well.

    Raises
    ------
    DataError
        If the labels are no classes.
    """
    import pandas as pd

    data = result.data
    if data.kind != "classes":
        raise DataError(
            "Which labels were not worth their price is told of labels that are one class each; "
            f"these are {data.kind}"
        )
    posterior, _ = honest_posterior(result)
    quality = worker_quality(data, posterior[data.item, data.label]).quality
    n_classes = max(2, data.n_classes)
    right = np.clip(quality, 1 / n_classes / 2, ACCURACY_LIMIT)
    evidence = np.log(right * (n_classes - 1) / (1 - right))  # [W]
    tells_nothing = (evidence < LITTLE_TOLD) & (data.labels_per_worker >= MIN_LABELS)
    is_late = _came_late(result, evidence)
    is_empty = tells_nothing[data.worker] & ~is_late
    rows = np.flatnonzero(is_late | is_empty)
    items, workers = np.array(data.items, object), np.array(data.workers, object)
    reason: list[Reason] = [REASONS[0] if is_late[row] else REASONS[1] for row in rows.tolist()]
    return PastLabels(
        labels=pd.DataFrame(
            {
                "item": items[data.item[rows]],
                "worker": workers[data.worker[rows]],
                "label": data.class_names(data.label[rows]),
                "reason": reason,
            }
        ),
        n_labels=data.n_labels,
        in_order=data.time is not None,
    )


def _came_late(result: Result, evidence: Floats) -> NDArray[np.bool_]:
    """Which labels [L] came when their item was sure already, and rightly so."""
    data = result.data
    when = np.arange(data.n_labels) if data.time is None else np.nan_to_num(data.time)
    order = np.lexsort((when, data.item))
    item = data.item[order]
    first = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=data.n_items))[:-1]])
    turn = np.arange(data.n_labels) - first[item]
    logs = np.zeros((data.n_items, data.n_classes))
    is_late = np.zeros(data.n_labels, bool)
    for number in range(int(turn.max()) + 1):
        rows = order[turn == number]
        now = logs[data.item[rows]]
        top = now.max(1)
        share = 1 / np.exp(now - top[:, None]).sum(1)
        is_late[rows] = (share >= SURE_ENOUGH) & (now.argmax(1) == result.truth[data.item[rows]])
        logs[data.item[rows], data.label[rows]] += evidence[data.worker[rows]]
    return is_late
