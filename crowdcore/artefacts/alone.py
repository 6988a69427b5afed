"""Alone: what a classifier thinks of labelled items without looking at their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from crowdcore.result import Result

NAME = "classifier_alone"


@dataclass(frozen=True, kw_only=True, eq=False)
class Alone:
    """The classifier's own part in beliefs that join features and labels."""

    probabilities: NDArray[Any]  # [N, K]

    @classmethod
    def of(cls, result: Result) -> Alone | None:
        """What the classifier of a result says by itself, if the result joins it with labels."""
        found = result.artefacts.get(NAME)
        return None if found is None else cls(probabilities=found["probabilities"])


def parts(probabilities: Any) -> dict[str, Any]:
    """What a method puts into its estimate under `NAME`."""
    return {"probabilities": probabilities}
