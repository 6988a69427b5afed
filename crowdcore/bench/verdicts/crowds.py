"""Crowds with known workers on which verdicts are measured: two simulators, one grid of sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData
from crowdcore.simulation.classes import simulate

Simulator = Literal["product", "response theory"]
SIMULATORS: tuple[Simulator, ...] = ("product", "response theory")

BAD = ("random", "one answer", "adversary")
"""Characters that an accusation is right about."""

ITEMS, WORKERS = 500, 60
GRID = tuple(product((2, 4), (3, 5, 10), (False, True)))
"""Classes, labels per item, and whether items are hard."""

HARD_ITEMS = 0.3
SHAPING_SEED, REPORTING_SEED = 10_000, 500_000
"""Rules were thought out with the first seeds in view; figures come from the others."""

USUAL = {"random": 0.075, "one answer": 0.075, "adversary": 0.05, "copier": 0.05}
"""Shares of bad workers, and of copiers, where nothing else is said."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownCrowd:
    """Labels without gold, and all that is true about them."""

    data: CrowdData
    truth: NDArray[np.int64]  # [N]
    character: tuple[str, ...]  # [W]
    copied_from: NDArray[np.int64]  # [W]; UNKNOWN where nobody is copied
    hard: bool

    @property
    def is_bad(self) -> NDArray[np.bool_]:
        """Who answers without looking, or against the truth [W]."""
        return np.isin(np.array(self.character), BAD)


def crowds(
    simulator: Simulator,
    n_crowds: int,
    *,
    shares: dict[str, float] = USUAL,
    lopsided: float = 0.1,
    first_seed: int = REPORTING_SEED,
) -> Iterator[KnownCrowd]:
    """Simulate crowds over the grid of sizes, one seed each.

    Parameters
    ----------
    simulator
        Which of the two.
    n_crowds
        How many; the grid is gone through again and again.
    shares
        Shares of the workers by character: "random", "one answer", "adversary", "copier".
    lopsided
        The share of lopsided workers among the honest ones.
    first_seed
        The seed of the first crowd.

    Yields
    ------
    KnownCrowd
        A crowd of 60 workers on 500 items.
    """
    from crowdcore.bench.verdicts.response_theory import response_crowd

    for number in range(n_crowds):
        classes, labels_per_item, hard = GRID[number % len(GRID)]
        seed = first_seed + number
        if simulator == "response theory":
            honest = 1 - sum(shares.values())
            yield response_crowd(
                items=ITEMS,
                workers=WORKERS,
                classes=classes,
                labels_per_item=labels_per_item,
                hard=hard,
                shares={**shares, "lopsided": lopsided * honest},
                seed=seed,
            )
            continue
        simulation = simulate(
            items=ITEMS,
            workers=WORKERS,
            classes=classes,
            labels_per_item=labels_per_item,
            spammers=shares.get("random", 0) + shares.get("one answer", 0),
            adversaries=shares.get("adversary", 0),
            copiers=shares.get("copier", 0),
            class_bias=lopsided,
            hard_items=HARD_ITEMS if hard else 0.0,
            features=0,
            seed=seed,
        )
        yield KnownCrowd(
            data=replace(simulation.data, gold=None),
            truth=simulation.truth.astype(np.int64),
            character=simulation.character,
            copied_from=simulation.copied_from.astype(np.int64),
            hard=hard,
        )
