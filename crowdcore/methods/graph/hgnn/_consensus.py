"""Consensus: answers that several methods agree on, to learn from where there is no gold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.engine import em
from crowdcore.engine.splits import one_label_per_item

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import CrowdData, Floats
    from crowdcore.engine.labels import Labels

SHARES = np.linspace(0.1, 1.0, 10)
"""Shares of the agreed items to try."""

DEFAULT_SHARE = 0.5
"""The share of agreed items to learn from where too few labels can be held out to choose it."""

HELD_OUT = 0.5
"""Of the items with enough labels, one label each of this share is held out."""

MIN_HELD_OUT_LABELS = 50
"""With fewer labels to hold out, none are."""

SMOOTHING = 0.5
TINY = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Consensus:
    """The joint posterior of several methods, and the items on which all of them agree."""

    posterior: Floats  # [N, K]
    agreed: NDArray[np.bool_]  # [N]
    confusion: Floats  # [W, true, given]
    share: float = DEFAULT_SHARE  # of the agreed items of each class, to learn from

    @classmethod
    def from_posterior(
        cls, labels: Labels, posterior: Tensor, agreed: NDArray[np.bool_]
    ) -> Consensus:
        """The consensus on some labels, with the workers' confusion under it."""
        confusion = em.normalise_rows(em.given_counts(labels, posterior), SMOOTHING)
        return cls(
            posterior=posterior.double().cpu().numpy(),
            agreed=agreed & (labels.data.labels_per_item > 0),
            confusion=confusion.double().cpu().numpy(),
        )

    def clearest(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The agreed items to learn from, and their answers: the most certain of each class.

        Taken class by class, so that a class that is hard to be certain of is learnt too.
        """
        answer = self.posterior.argmax(1)
        items = np.flatnonzero(self.agreed)
        items = items[np.lexsort((-self.posterior.max(1)[items], answer[items]))]
        size = np.bincount(answer[items], minlength=self.posterior.shape[1])
        rank = np.arange(len(items)) - np.repeat(np.cumsum(size) - size, size)
        taken = np.sort(items[rank < np.ceil(self.share * size[answer[items]] - TINY)])
        return taken, answer[taken].astype(np.int64)

    def joined_by(self, posterior: Tensor) -> Consensus:
        """The consensus joined by one more posterior, which counts as much as all others."""
        joining = posterior.double().cpu().numpy()
        both = np.sqrt(self.posterior * joining) + TINY
        return replace(self, posterior=both / both.sum(1, keepdims=True))

    def best_share(self, data: CrowdData, held: NDArray[np.int64]) -> float:
        """The most informative share, judged by labels that this consensus has not seen.

        More items are more informative, but the less clear ones are more often wrong: the labels
        on them tell how often. The information of n answers of which a share is wrong is n times
        the capacity of a channel with such an error.
        """
        information = []
        for share in SHARES:
            items, answers = replace(self, share=float(share)).clearest()
            answer_of_item = np.full(data.n_items, -1)
            answer_of_item[items] = answers
            inside = held[answer_of_item[data.item[held]] >= 0]
            likelihood = self.confusion[data.worker[inside], :, data.label[inside]]  # [held, true]
            error = _error_rate(likelihood, answer_of_item[data.item[inside]])
            information.append(len(items) * _capacity(error, data.n_classes))
        return float(SHARES[int(np.argmax(information))])


def hold_out_labels(data: CrowdData, rng: np.random.Generator) -> NDArray[np.int64]:
    """One label each of some of the items that have enough; none where these are too few."""
    candidates = one_label_per_item(data, rng)
    held = candidates[: int(HELD_OUT * len(candidates))]
    return held if len(held) >= MIN_HELD_OUT_LABELS else held[:0]


def _error_rate(likelihood: Floats, answers: NDArray[np.int64]) -> float:
    """The likeliest share of wrong answers, from the labels' likelihood by class [held, true]."""
    n_classes = likelihood.shape[1]
    errors = np.linspace(0, 1 - 1 / n_classes, 201)
    right = likelihood[np.arange(len(answers)), answers]
    wrong = (likelihood.sum(1) - right) / max(1, n_classes - 1)
    log_likelihood = [np.log((1 - error) * right + error * wrong + TINY).sum() for error in errors]
    return float(errors[int(np.argmax(log_likelihood))])


def _capacity(error: float, n_classes: int) -> float:
    """The information of one answer, in nats, if it is wrong so often, each other class alike."""
    lost = sum(-p * np.log(p) for p in (error, 1 - error) if p > 0)
    return float(np.log(n_classes) - lost - error * np.log(max(1, n_classes - 1)))
