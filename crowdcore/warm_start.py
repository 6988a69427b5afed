"""WarmStart: what an earlier result held of items and workers, for a later fit to begin from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, CrowdData, DataError, Floats

VOTE_SMOOTHING = 1e-3
"""Labels added to each class of items of which the earlier result says nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WarmStart:
    """What an earlier result held of items and workers, by name.

    Parameters
    ----------
    items, classes
        The names behind the posterior.
    posterior
        The probability of each class of each item [N, K].
    item_scores
        Scores of the items, name -> [N].
    workers
        The names behind the workers' scores.
    worker_scores
        Scores of the workers, name -> [W].
    """

    items: tuple[str, ...]
    classes: tuple[str, ...]
    posterior: Floats  # [N, K]
    item_scores: Mapping[str, Floats] = field(default_factory=dict)  # name -> [N]
    workers: tuple[str, ...] = ()
    worker_scores: Mapping[str, Floats] = field(default_factory=dict)  # name -> [W]

    def posterior_for(self, data: CrowdData) -> Floats:
        """Match the posterior with the items and classes of some data, by name.

        Parameters
        ----------
        data
            The data of the later fit.

        Returns
        -------
        numpy.ndarray
            A posterior for these data [N, K]; vote shares where the earlier result is silent.

        Raises
        ------
        DataError
            If the earlier result says nothing of any of these items.
        """
        votes = data.votes + VOTE_SMOOTHING
        posterior: Floats = votes / votes.sum(1, keepdims=True)
        earlier_item = _codes_among(data.items, self.items)
        earlier_class = _codes_among(data.classes, self.classes)
        shared_items = np.flatnonzero(earlier_item != UNKNOWN)
        shared_classes = np.flatnonzero(earlier_class != UNKNOWN)
        matched = np.zeros((len(shared_items), data.n_classes))
        matched[:, shared_classes] = self.posterior[earlier_item[shared_items]][
            :, earlier_class[shared_classes]
        ]
        total = matched.sum(1)
        if not total.any():
            raise DataError(
                "The earlier result says nothing about these data: no item with one of its classes "
                "is in both",
                fix="Begin from a result of the same items and classes, or from none.",
            )
        has_mass = total > 0
        posterior[shared_items[has_mass]] = matched[has_mass] / total[has_mass, None]
        return posterior

    def item_scores_for(self, name: str, data: CrowdData, *, default: float) -> Floats:
        """Match a score of items with those of some data, by name.

        Parameters
        ----------
        name
            The name of the score.
        data
            The data of the later fit.
        default
            The score of items that have none.

        Returns
        -------
        numpy.ndarray
            A score for each item of these data [N].
        """
        return _pick(self.item_scores.get(name), _codes_among(data.items, self.items), default)

    def worker_scores_for(self, name: str, data: CrowdData, *, default: float) -> Floats:
        """Match a score of workers with those of some data, by name.

        Parameters
        ----------
        name
            The name of the score.
        data
            The data of the later fit.
        default
            The score of workers who have none.

        Returns
        -------
        numpy.ndarray
            A score for each worker of these data [W].
        """
        codes = _codes_among(data.workers, self.workers)
        return _pick(self.worker_scores.get(name), codes, default)


def _codes_among(names: tuple[str, ...], others: tuple[str, ...]) -> NDArray[np.int64]:
    """The code of each name among other names; UNKNOWN where it is not among them."""
    if names == others:
        return np.arange(len(names))
    code = {name: index for index, name in enumerate(others)}
    return np.array([code.get(name, UNKNOWN) for name in names], np.int64)


def _pick(scores: Floats | None, codes: NDArray[np.int64], default: float) -> Floats:
    if scores is None:
        return np.full(len(codes), default)
    picked: Floats = np.append(scores, np.nan)[codes]  # UNKNOWN is the last
    return np.where(np.isfinite(picked), picked, default)
