"""SpectralSpace: workers as mixtures of experts, and the oracle worker among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        )


def parts(
    *,
    workers: Any,
    used: str,
    oracles: Mapping[str, Any],
    truth: Any,
    confidence: Any,
    origin: Origin,
) -> dict[str, Any]:
    """What a method puts into its estimate under `NAME`; `oracles` is centre -> [E]."""
    import numpy as np

    return {
        "workers": workers,
        "centres": list(oracles),
        "used": used,
        "oracle": np.stack(list(oracles.values())),
        "truth": truth,
        "confidence": confidence,
        "origin": origin,
    }
