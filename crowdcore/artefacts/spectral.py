"""SpectralSpace: workers as mixtures of experts, and the oracle worker among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdcore.data import Codes, Floats
    from crowdcore.result import Result

NAME = "spectral"

Origin = Literal["features", "labels"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectralSpace:
    """Every worker's weights on the experts, and what each way to find the oracle leads to."""

    workers: NDArray[Any]  # [W, E]
    centres: tuple[str, ...]  # ways to find the oracle, C of them
    used: str  # the one whose truths the result holds
    oracle: Floats  # [C, E]
    truth: Codes  # [C, N]
    confidence: Floats  # [C, N]
    origin: Origin  # whether items were known by features, or only by their labels
    bound: Floats | None  # [E], the gate that fits the gold best
    bound_accuracy: float | None  # its accuracy on the gold that it was fitted to: a ceiling

    @classmethod
    def of(cls, result: Result) -> SpectralSpace | None:
        """The spectral space of a result, if its method makes one."""
        found = result.artefacts.get(NAME)
        if found is None:
            return None
        return cls(
            workers=found["workers"],
            centres=tuple(found["centres"]),
            used=found["used"],
            oracle=found["oracle"],
            truth=found["truth"],
            confidence=found["confidence"],
            origin=found["origin"],
            bound=found.get("bound"),
            bound_accuracy=found.get("bound_accuracy"),
        )


def parts(
    *,
    workers: Any,
    centres: Sequence[str],
    used: str,
    oracle: Any,
    truth: Any,
    confidence: Any,
    origin: Origin,
    bound: tuple[Any, float] | None = None,
) -> dict[str, Any]:
    """What a method puts into its estimate under `NAME`; `bound` is a gate and its accuracy."""
    found = {
        "workers": workers,
        "centres": list(centres),
        "used": used,
        "oracle": oracle,
        "truth": truth,
        "confidence": confidence,
        "origin": origin,
    }
    if bound is not None:
        found["bound"], found["bound_accuracy"] = bound
    return found
