"""Run: the one channel between a fit and whoever watches it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import torch

Device = Literal["auto", "cpu", "cuda"]

REPORTS_A_SECOND = 4.0


class Cancelled(Exception):  # noqa: N818  (it is a wish of the user's, not an error)
    """The fit was asked to stop, and did."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a fit is."""

    stage: str
    step: int
    total: int
    speed: float  # steps a second
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The part that is done, 0 to 1."""
        return min(1.0, self.step / max(1, self.total))


class Run:
    """Loops, logs, cancels; owns the seed and the device.

    `watch` is called with a `Progress` a few times a second. `should_stop` is asked at every
    step, so that a fit ends within one step of the wish.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        device: Device = "auto",
        watch: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.seed = seed
        self.device_wish = device
        self.history: list[dict[str, float | str]] = []
        self.converged: bool | None = None
        self.steps = 0
        self.rng = np.random.default_rng(seed)
        self._watch = watch
        self._should_stop = should_stop
        self._cancelled = False
        self._row: dict[str, float | str] | None = None
        self._told = float("-inf")

    def cancel(self) -> None:
        """Make the fit stop at its next step."""
        self._cancelled = True

    def check(self) -> None:
        """Raise `Cancelled` if the fit should stop; for long work outside `loop`."""
        if self._wants_to_stop():
            raise Cancelled

    def loop(self, total: int, stage: str) -> Iterator[int]:
        """Count steps, report them and stop when asked to."""
        begun = time.perf_counter()
        self.converged = False
        for step in range(total):
            self.check()
            self._row = {"stage": stage, "step": step}
            self.history.append(self._row)
            self.steps += 1
            yield step
            self._tell(stage, step + 1, total, begun)
        self._row = None

    def log(self, **metrics: float | torch.Tensor) -> None:
        """Put numbers beside the current step; they become the curve."""
        if self._row is None:
            self._row = {"stage": "", "step": 0}
            self.history.append(self._row)
        self._row.update({name: float(value) for name, value in metrics.items()})

    def plateaued(self, name: str, tol: float, *, relative: bool = False) -> bool:
        """Tell whether the last step moved `name` by less than `tol`; notes convergence.

        With `relative` the move is a share of the number itself.
        """
        if len(self.history) < 2:  # noqa: PLR2004  (two steps make a move)
            return False
        before, now = self.history[-2], self.history[-1]
        if (before["stage"], float(before["step"]) + 1) != (now["stage"], now["step"]):
            return False  # another stage, or the same one begun anew
        move = abs(float(now[name]) - float(before[name]))
        self.converged = move < tol * (abs(float(now[name])) if relative else 1.0)
        return self.converged

    def settled(self, change: float | torch.Tensor, tol: float) -> bool:
        """Tell whether a change, logged as `change`, is below `tol`; notes convergence."""
        self.log(change=change)
        self.converged = float(change) < tol
        return self.converged

    def part(self, title: str) -> Run:
        """A run within this one, for a fit inside a fit: its own history, the same wishes."""

        def tell(progress: Progress) -> None:
            if self._watch is not None:
                self._watch(replace(progress, stage=f"{title}: {progress.stage}"))

        return Run(
            seed=self.seed,
            device=self.device_wish,
            watch=tell,
            should_stop=self._wants_to_stop,
        )

    @property
    def device(self) -> torch.device:
        """CUDA where there is one, unless the wish says otherwise."""
        from crowdcore.engine.device import pick

        return pick(self.device_wish)

    def generator(self) -> torch.Generator:
        """Make a torch generator on the run's device, from the run's seed."""
        import torch

        return torch.Generator(device=self.device).manual_seed(self.seed)

    def _wants_to_stop(self) -> bool:
        return self._cancelled or (self._should_stop is not None and self._should_stop())

    def _tell(self, stage: str, step: int, total: int, begun: float) -> None:
        now = time.perf_counter()
        if self._watch is None or (now - self._told < 1 / REPORTS_A_SECOND and step < total):
            return
        self._told = now
        numbers = {k: v for k, v in (self._row or {}).items() if isinstance(v, float)}
        speed = step / max(now - begun, 1e-9)
        self._watch(Progress(stage=stage, step=step, total=total, speed=speed, metrics=numbers))
