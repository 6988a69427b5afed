"""Embedding: a place in the learnt space for every worker and every item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from crowdcore.result import Result

NAME = "embedding"


@dataclass(frozen=True, kw_only=True, eq=False)
class Embedding:
    """States of workers [W, d] and items [N, d] in the last layer before the answer."""

    workers: NDArray[Any]
    items: NDArray[Any]

    @classmethod
    def of(cls, result: Result) -> Embedding | None:
        """The embedding of a result, if its method makes one."""
        parts = result.artefacts.get(NAME)
        return None if parts is None else cls(workers=parts["workers"], items=parts["items"])


def parts(workers: Any, items: Any) -> dict[str, Any]:
    """What a method puts into its estimate under `NAME`."""
    return {"workers": workers, "items": items}
