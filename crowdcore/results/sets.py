"""Results of labels that hold several classes: a probability for every item and class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats
from crowdcore.distributions import as_array
from crowdcore.errors import ResultError
from crowdcore.results.result import Estimate, Result, Score, wilson
from crowdcore.wording import percent

if TYPE_CHECKING:
    from torch import Tensor

EVEN = 0.5
"""The probability above which a class belongs to the truth."""


@dataclass(frozen=True, kw_only=True)
class SetEstimate(Estimate):
    """Which classes a method gives to items.

    Parameters
    ----------
    probability
        That each class applies to each item [N, K].
    confusion
        P(ticked | applies) of each worker, [W, 2, 2] or for each class [W, K, 2, 2].
    """

    probability: Tensor | Floats  # [N, K]
    confusion: Tensor | Floats | None = None  # [W, 2, 2] or [W, K, 2, 2]

    def to_result(self, **common: Any) -> SetResult:
        """Check the probabilities and collect the sets; see `Estimate.to_result`."""
        data = common["data"]
        probability = as_array(self.probability, np.float64)
        shape = (data.n_items, data.n_classes)
        if probability.shape != shape:
            raise ResultError(f"probability: shape {probability.shape} instead of {shape}")
        if not (np.abs(probability - EVEN) <= EVEN + 1e-6).all():  # false for NaN too
            raise ResultError("probability: a number is not between 0 and 1")
        probability = np.clip(probability, 0, 1)
        confusion = None if self.confusion is None else as_array(self.confusion, np.float64)
        return SetResult(
            probability=probability,
            truth=probability > EVEN,
            tied=np.isclose(probability, EVEN, rtol=0, atol=1e-9).any(1),
            confusion=confusion,
            **common,
        )


@dataclass(frozen=True, kw_only=True)
class SetScore(Score):
    """How far sets agree with gold.

    Parameters
    ----------
    n
        How many items have gold.
    exact
        How many of them have exactly the classes of the gold.
    jaccard
        The mean share of classes in common: those in both, among those in either.
    hamming
        The share of all yes/no decisions that are wrong.
    precision, recall, f1
        Over all decisions together (micro averages).
    by_class
        (precision, recall, f1, how often it applies) of each class by name.
    """

    exact: int
    jaccard: float
    hamming: float
    precision: float
    recall: float
    f1: float
    by_class: dict[str, tuple[float, float, float, int]]

    @property
    def accuracy(self) -> float:
        """The share of items with exactly the classes of the gold."""
        return self.exact / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval of the exact matches."""
        low, high = wilson(self.exact, self.n)
        return float(low), float(high)

    @classmethod
    def from_sets(
        cls, truth: NDArray[np.bool_], gold: NDArray[np.bool_], classes: tuple[str, ...]
    ) -> SetScore:
        """Compare sets with the known ones.

        Parameters
        ----------
        truth, gold
            What was inferred and what is known [n, K].
        classes
            The names of the classes.

        Returns
        -------
        SetScore
            All measures.
        """
        both, either = (truth & gold).sum(1), (truth | gold).sum(1)
        jaccard = np.where(either > 0, both / np.maximum(either, 1), 1.0)
        hits, given, right = ((truth & gold).sum(0), truth.sum(0), gold.sum(0))
        overall = _rates(int(hits.sum()), int(given.sum()), int(right.sum()))
        by_class = {
            name: (*_rates(int(hits[k]), int(given[k]), int(right[k])), int(right[k]))
            for k, name in enumerate(classes)
        }
        return cls(
            n=len(truth),
            exact=int((truth == gold).all(1).sum()),
            jaccard=float(jaccard.mean()),
            hamming=float((truth != gold).mean()),
            precision=overall[0],
            recall=overall[1],
            f1=overall[2],
            by_class=by_class,
        )

    @property
    def figures(self) -> dict[str, float | int]:
        """The measures by name, as they are written to files."""
        low, high = self.interval
        names = ("n", "exact", "jaccard", "hamming", "precision", "recall", "f1")
        figures = {name: getattr(self, name) for name in names}
        return {"accuracy": self.accuracy, "low": low, "high": high, **figures}

    @property
    def headline(self) -> str:
        """The measure that counts most, in a few words."""
        return f"{percent(self.accuracy)} exactly right against gold"

    @property
    def lines(self) -> list[str]:
        """The measures in sentences."""
        low, high = self.interval
        return [
            f"Against gold: {self.accuracy:.4f} of the items have exactly the right classes (95 % "
            f"interval {low:.4f} to {high:.4f}; {self.exact:,} of {self.n:,} items)",
            f"Single classes: precision {self.precision:.4f}, recall {self.recall:.4f}, "
            f"F1 {self.f1:.4f}; Jaccard {self.jaccard:.4f}; {self.hamming:.4f} of all yes/no "
            "decisions are wrong",
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class SetResult(Result):
    """Sets of classes of items, with a probability for each class.

    Parameters
    ----------
    probability
        That each class applies to each item [N, K].
    truth
        Which classes apply [N, K]: those likelier than not.
    tied
        Which items have a class that applies as likely as not [N]; it is left out of the set.
    confusion
        P(ticked | applies) of each worker, [W, 2, 2] or for each class [W, K, 2, 2]; None where
        the method has none.
    """

    probability: Floats  # [N, K]
    truth: NDArray[np.bool_]  # [N, K]
    tied: NDArray[np.bool_]  # [N]
    confusion: Floats | None

    answers: ClassVar[tuple[str, ...]] = ("probability", "truth", "tied", "confusion")

    @property
    def confidence(self) -> Floats:
        """The probability that an item's whole set is right, if classes err independently [N]."""
        right: Floats = np.where(self.truth, self.probability, 1 - self.probability).prod(1)
        return right

    @property
    def summary(self) -> dict[str, float | int]:
        """Ties, empty sets, and the mean size and confidence of a set."""
        return {
            "tied": int(self.tied.sum()),
            "empty": int((~self.truth.any(1)).sum()),
            "mean_size": float(self.truth.sum(1).mean()),
            "mean_confidence": float(self.confidence.mean()),
        }

    @property
    def summary_line(self) -> str:
        """The same numbers in a sentence."""
        numbers = self.summary
        return (
            f"Truths: {numbers['mean_size']:.2f} classes per item on average, "
            f"{numbers['empty']:,} items with none, {numbers['tied']:,} with a tied class; mean "
            f"confidence {numbers['mean_confidence']:.3f}"
        )

    def score(self) -> SetScore | None:
        """Compare the sets with the known ones.

        Returns
        -------
        SetScore or None
            None where there is no gold, or where the method has seen it.
        """
        data = self.data
        if not self.can_be_scored or data.gold is None or data.sets is None:
            return None
        gold = data.sets[data.gold[data.has_gold]]
        return SetScore.from_sets(self.truth[data.has_gold], gold, data.classes)


def _rates(hits: int, given: int, right: int) -> tuple[float, float, float]:
    """Precision, recall and F1; NaN where there is nothing to divide by."""
    precision = hits / given if given else math.nan
    recall = hits / right if right else math.nan
    f1 = 2 * hits / (given + right) if given + right else math.nan
    return precision, recall, f1
