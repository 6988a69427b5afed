"""The logarithmic opinion pool: what several methods believe, multiplied."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

FLOOR = 0.01
"""No member can veto a class: all other classes together have at least this probability."""


def opinion(posterior: Tensor) -> Tensor:
    """What a member adds to the pool, in logarithms [N, K]."""
    return posterior.clamp(min=FLOOR / max(1, posterior.shape[1] - 1)).log()
