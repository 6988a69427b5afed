"""Results of labels that are one class each: a posterior over classes, and confusion matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, Floats
from crowdcore.distributions import as_array, checked_distributions, likeliest_classes
from crowdcore.errors import ResultError
from crowdcore.results.result import Estimate, Result, Score, wilson
from crowdcore.warm_start import WarmStart
from crowdcore.wording import percent

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class ClassEstimate(Estimate):
    """What a method infers of classes, as tensors or arrays, in the order of the codes.

    Parameters
    ----------
    posterior
        The probability of each class of each item [N, K].
    confusion
        P(given | true) of each worker [W, true, given].
    truth
        The class of each item [N]; only where it is not simply the likeliest.
    """

    posterior: Tensor | Floats  # [N, K]
    confusion: Tensor | Floats | None = None  # [W, true, given]
    truth: Tensor | Codes | None = None  # [N]

    def to_result(self, **common: Any) -> ClassResult:
        """Check the distributions and find the likeliest classes; see `Estimate.to_result`."""
        data = common["data"]
        posterior = checked_distributions(
            self.posterior, (data.n_items, data.n_classes), "posterior"
        )
        confusion = None
        if self.confusion is not None:
            shape = (data.n_workers, data.n_classes, data.n_classes)
            confusion = checked_distributions(self.confusion, shape, "confusion")
        truth, tied = likeliest_classes(posterior)
        if self.truth is not None:
            truth = as_array(self.truth)
            allowed = np.arange(-1, data.n_classes)
            if truth.shape != (data.n_items,) or not np.isin(truth, allowed).all():
                raise ResultError("truth: one class code per item, or -1")
        return ClassResult(
            posterior=posterior,
            truth=truth.astype(np.int32),
            tied=tied,
            confusion=confusion,
            **common,
        )


@dataclass(frozen=True, kw_only=True)
class ClassScore(Score):
    """How many of the items with gold are right, with a 95 % Wilson interval.

    Parameters
    ----------
    n
        How many items have gold.
    correct, undecided
        How many of them are right, and for how many the method did not decide.
    """

    correct: int
    undecided: int

    @property
    def accuracy(self) -> float:
        """The share that is right; undecided counts as wrong."""
        return self.correct / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval of the accuracy."""
        low, high = wilson(self.correct, self.n)
        return float(low), float(high)

    @property
    def figures(self) -> dict[str, float | int]:
        """The measures by name, as they are written to files."""
        low, high = self.interval
        return {
            "accuracy": self.accuracy,
            "low": low,
            "high": high,
            "n": self.n,
            "correct": self.correct,
            "undecided": self.undecided,
        }

    @property
    def headline(self) -> str:
        """The measure that counts most, in a few words."""
        return f"{percent(self.accuracy)} right against gold"

    @property
    def lines(self) -> list[str]:
        """The measures in sentences."""
        low, high = self.interval
        return [
            f"Accuracy against gold: {self.accuracy:.4f} (95 % interval {low:.4f} to {high:.4f}; "
            f"{self.correct:,} of {self.n:,} items)"
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassResult(Result):
    """Classes of items, each with a probability.

    Parameters
    ----------
    posterior
        The probability of each class of each item [N, K].
    truth
        The class of each item [N]; UNKNOWN where the method left it undecided.
    tied
        Which items have several likeliest classes [N].
    confusion
        P(given | true) of each worker [W, true, given]; None where the method has none.
    """

    posterior: Floats  # [N, K]
    truth: Codes  # [N]
    tied: NDArray[np.bool_]  # [N]
    confusion: Floats | None  # [W, true, given]

    answers: ClassVar[tuple[str, ...]] = ("posterior", "truth", "tied", "confusion")

    @property
    def confidence(self) -> Floats:
        """The probability of each item's likeliest class [N]."""
        top: Floats = self.posterior.max(1)
        return top

    @property
    def summary(self) -> dict[str, float | int]:
        """Ties, undecided items and the mean confidence."""
        return {
            "tied": int(self.tied.sum()),
            "undecided": int((self.truth == UNKNOWN).sum()),
            "mean_confidence": float(self.confidence.mean()),
        }

    @property
    def summary_line(self) -> str:
        """The same numbers in a sentence."""
        numbers = self.summary
        decided = self.data.n_items - int(numbers["undecided"])
        return (
            f"Truths: {decided:,} decided, {numbers['undecided']:,} undecided, "
            f"{numbers['tied']:,} tied; mean confidence {numbers['mean_confidence']:.3f}"
        )

    def score(self) -> ClassScore | None:
        """Count how many truths are the known answer.

        Returns
        -------
        ClassScore or None
            None where there is no gold, or where the method has seen it.
        """
        if not self.can_be_scored or self.data.gold is None:
            return None
        has_gold = self.data.has_gold
        truth = self.truth[has_gold]
        correct = int((truth == self.data.gold[has_gold]).sum())
        return ClassScore(n=len(truth), correct=correct, undecided=int((truth == UNKNOWN).sum()))

    @property
    def warm_start(self) -> WarmStart:
        """What a later fit of the same or of similar data can begin from."""
        return WarmStart(
            items=self.data.items,
            classes=self.data.classes,
            posterior=self.posterior,
            item_scores=self.item_scores,
            workers=self.data.workers,
            worker_scores=self.worker_scores,
        )
