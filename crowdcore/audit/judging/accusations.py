"""Whom to accuse: a list whose expected share of wrong accusations is bounded.

This knows nothing of classes: whoever has a probability for each worker can use it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdcore.audit.judging.labels import Flags
from crowdcore.data import Floats

MAX_WRONG_SHARE = 0.05
"""The expected share of wrong accusations in a list."""

MIN_PROBABILITY = 0.75
"""Nobody is accused on odds below 3 to 1."""

MAX_INNOCENT = 0.25
"""Below this probability a worker is not in doubt."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Accusations:
    """Who is accused, and how many of these accusations are expected to be wrong."""

    accused: Flags  # [W]
    expected_wrong: float

    @property
    def n_accused(self) -> int:
        """How many workers are accused."""
        return int(self.accused.sum())


def accuse(
    probability: Floats, judged: Flags, *, min_probability: float = MIN_PROBABILITY
) -> Accusations:
    """Accept the likeliest accusations while few of them are expected to be wrong.

    Parameters
    ----------
    probability
        How probable it is that an accusation of each worker is right [W].
    judged
        Who has enough labels to be judged at all [W].
    min_probability
        No accusation is accepted below this probability.

    Returns
    -------
    Accusations
        The list, with the expected number of wrong entries.

    Examples
    --------
    >>> accusations = accuse(np.array([0.99, 0.8, 0.3]), np.ones(3, bool))
    >>> accusations.n_accused, round(accusations.expected_wrong, 2)
    (1, 0.01)
    """
    order = np.argsort(-probability, kind="stable")
    order = order[judged[order] & (probability[order] >= min_probability)]
    wrong = np.cumsum(1 - probability[order])
    accepted = order[wrong <= MAX_WRONG_SHARE * np.arange(1, len(order) + 1)]
    accused = np.zeros(len(probability), bool)
    accused[accepted] = True
    return Accusations(accused=accused, expected_wrong=float((1 - probability[accepted]).sum()))
