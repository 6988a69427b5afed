"""Consensus: answers that several methods agree on, for teaching where there is no gold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.engine import em

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import CrowdData, Floats
    from crowdcore.labels import Labels

SHARES = np.linspace(0.1, 1.0, 10)
UNTRIED = 0.5
"""The share of agreed items that teach where too few labels can be held out to choose it."""

HELD_OUT = 0.5
"""Of the items with enough labels, one label each of this share is held out."""

FEWEST_LABELS, FEWEST_PER_ITEM = 50, 3
SMOOTHING = 0.5
TINY = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Consensus:
    """What several methods believe together, and on which items all of them agree."""

    posterior: Floats  # [N, K]
    agreed: NDArray[np.bool_]  # [N]
    confusion: Floats  # [W, true, given]
    share: float = UNTRIED  # of the agreed items of each class, which teach

    @classmethod
    def of(cls, labels: Labels, posterior: Tensor, agreed: Tensor) -> Consensus:
        """The consensus on some labels."""
        confusion = em.rows_of(em.given_counts(labels, posterior), SMOOTHING)
        return cls(
            posterior=posterior.double().cpu().numpy(),
            agreed=agreed.cpu().numpy() & (labels.data.labels_per_item > 0),
            confusion=confusion.double().cpu().numpy(),
        )

    def clearest(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The agreed items that teach, and their answers: of each class its surest ones.

        Taken class by class, so that a class that is hard to be sure of is taught too.
        """
        answer = self.posterior.argmax(1)
        items = np.flatnonzero(self.agreed)
        items = items[np.lexsort((-self.posterior.max(1)[items], answer[items]))]
        size = np.bincount(answer[items], minlength=self.posterior.shape[1])
        rank = np.arange(len(items)) - np.repeat(np.cumsum(size) - size, size)
        taken = np.sort(items[rank < np.ceil(self.share * size[answer[items]] - TINY)])
        return taken, answer[taken].astype(np.int64)

    def joined_by(self, posterior: Tensor) -> Consensus:
        """The consensus after one more has told its beliefs, which count as much as all others."""
        told = posterior.double().cpu().numpy()
        both = np.sqrt(self.posterior * told) + TINY
        return replace(self, posterior=both / both.sum(1, keepdims=True))

    def best_share(self, data: CrowdData, held: NDArray[np.int64]) -> float:
        """The share that teaches most, judged by labels that this consensus has not seen.

        More items teach more, but the less clear ones are more often wrong: the labels on them
        tell how often. What n answers teach of which a share is wrong is n times the capacity
        of a channel with such an error.
        """
        worth = []
        for share in SHARES:
            items, answers = replace(self, share=float(share)).clearest()
            told = np.full(data.n_items, -1)
            told[items] = answers
            inside = held[told[data.item[held]] >= 0]
            given = self.confusion[data.worker[inside], :, data.label[inside]]  # [held, true]
            error = _share_of_errors(given, told[data.item[inside]])
            worth.append(len(items) * _capacity(error, data.n_classes))
        return float(SHARES[int(np.argmax(worth))])


def hold_out(data: CrowdData, rng: np.random.Generator) -> NDArray[np.int64]:
    """One label each of some of the items that have enough; none where these are too few."""
    order = rng.permutation(np.lexsort((data.label, data.worker, data.item)))
    _, first = np.unique(data.item[order], return_index=True)
    able = order[first]
    able = able[data.labels_per_item[data.item[able]] >= FEWEST_PER_ITEM]
    held = rng.permutation(able)[: int(HELD_OUT * len(able))]
    return held if len(held) >= FEWEST_LABELS else held[:0]


def _share_of_errors(given: Floats, told: NDArray[np.int64]) -> float:
    """The likeliest share of wrong answers, from what labels say of each class [held, true]."""
    n_classes = given.shape[1]
    errors = np.linspace(0, 1 - 1 / n_classes, 201)
    right = given[np.arange(len(told)), told]
    wrong = (given.sum(1) - right) / max(1, n_classes - 1)
    loglik = [np.log((1 - error) * right + error * wrong + TINY).sum() for error in errors]
    return float(errors[int(np.argmax(loglik))])


def _capacity(error: float, n_classes: int) -> float:
    """What one answer teaches, in nats, if it is wrong so often, each other class alike."""
    lost = sum(-p * np.log(p) for p in (error, 1 - error) if p > 0)
    return float(np.log(n_classes) - lost - error * np.log(max(1, n_classes - 1)))
