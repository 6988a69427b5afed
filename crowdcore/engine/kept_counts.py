"""What a run keeps on the disk while it goes on: the counts of its last steps, not the posteriors.

From the counts of the workers' labels one E step leads to every item's posterior, so they are all
that a run needs to go on after it was broken off, also with another number of parts.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from crowdcore.run import Run

SECONDS_BETWEEN = 10.0
"""Counts are kept no more often than this."""

KEPT_STEPS = 2
"""How many of the last kept steps stay."""


class KeptCounts:
    """Puts counts into a folder, and takes those that an earlier try left there.

    Parameters
    ----------
    folder : Path
        Where they are kept.
    run : Run
        Whose steps and curve are kept with them.
    writes : bool
        Whether this part writes; one does.
    device : torch.device
        Where tensors are put.
    every : float
        Seconds between two times that counts are kept.
    """

    def __init__(
        self,
        folder: Path,
        run: Run,
        *,
        writes: bool,
        device: torch.device,
        every: float = SECONDS_BETWEEN,
    ) -> None:
        self._folder, self._run = folder, run
        self._writes, self._device, self._every = writes, device, every
        self._is_first = True
        self._last = time.monotonic()

    def take(self) -> tuple[Tensor, Tensor] | None:
        """Return the counts and totals of the last kept step, once; None where there are none.

        The run then goes on at that step.
        """
        if not self._is_first:
            return None
        self._is_first = False
        kept = sorted(self._folder.glob("step-*.npz"))
        if not kept:
            return None
        with np.load(kept[-1]) as arrays:
            counts, totals = (torch.from_numpy(arrays[name]) for name in ("counts", "totals"))
            self._run.resume(json.loads(str(arrays["history"])), int(arrays["step"]))
        return counts.to(self._device), totals.to(self._device)

    def put(self, counts: Tensor, totals: Tensor) -> None:
        """Keep the counts of the current step, unless others were kept a moment ago."""
        now = time.monotonic()
        if not self._writes or now - self._last < self._every:
            return
        self._last = now
        step, history = self._run.position
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = self._folder / "step.part.npz"
        np.savez(
            partial,
            counts=counts.cpu().numpy(),
            totals=totals.cpu().numpy(),
            step=step,
            history=json.dumps(history),
        )
        partial.rename(self._folder / f"step-{step:06d}.npz")
        for older in sorted(self._folder.glob("step-*.npz"))[:-KEPT_STEPS]:
            older.unlink()
