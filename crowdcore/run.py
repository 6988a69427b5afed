"""Run: the one channel between a fit and whoever watches it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from crowdcore.data import DataError
from crowdcore.parts import Alone, Parts

if TYPE_CHECKING:
    import torch

Device = Literal["auto", "cpu", "cuda"]

MAX_REPORTS_PER_SECOND = 4.0


class Cancelled(Exception):  # noqa: N818  (the user asked for it; it is no error)
    """The fit was asked to stop, and did."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a fit is.

    Parameters
    ----------
    stage
        What is being done.
    step, total
        How many steps of the stage are done, and how many there are at most.
    speed
        Steps per second.
    metrics
        The numbers that the method logged in this step, such as a log-likelihood.
    """

    stage: str
    step: int
    total: int
    speed: float
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the steps that is done, 0 to 1."""
        return min(1.0, self.step / max(1, self.total))


class Run:
    """Loops, logs, cancels; owns the seed and the device.

    Parameters
    ----------
    seed
        From which all random numbers of the fit come.
    device
        What computes; "auto" takes CUDA where there is one.
    watch
        Called with a `Progress` a few times per second.
    should_stop
        Asked at every step; once it returns True, the fit raises `Cancelled`.
    parts
        The parts that make the same fit together: one that is asked to stop stops all.

    Attributes
    ----------
    history : list of dict
        One row per step, with its stage and what was logged.
    steps : int
        How many steps there were.
    converged : bool or None
        Whether the last loop reached its goal; None where nothing iterates.
    rng : numpy.random.Generator
        Random numbers on the host.

    Examples
    --------
    >>> run = Run(watch=lambda progress: print(progress.stage, progress.share))
    >>> result = crowdcore.fit(data, "ds", run=run)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        device: Device = "auto",
        watch: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        parts: Parts | None = None,
    ) -> None:
        self.seed = seed
        self.parts = parts or Alone()
        self.requested_device = device
        self.history: list[dict[str, float | str]] = []
        self.converged: bool | None = None
        self.steps = 0
        self.rng = np.random.default_rng(seed)
        self._watch = watch
        self._should_stop = should_stop
        self._cancelled = False
        self._row: dict[str, float | str] | None = None
        self._last_report = float("-inf")

    def cancel(self) -> None:
        """Make the fit stop at its next step."""
        self._cancelled = True

    def check(self) -> None:
        """Stop here if the fit was asked to; for long work outside `loop`.

        Raises
        ------
        Cancelled
            If the fit was asked to stop.
        """
        if self._should_end():
            raise Cancelled

    def loop(self, total: int, stage: str) -> Iterator[int]:
        """Count steps, report them and stop when asked to.

        Parameters
        ----------
        total
            How many steps there are at most.
        stage
            What is being done, for whoever watches.

        Yields
        ------
        int
            The step, from 0.

        Raises
        ------
        Cancelled
            Before a step, if the fit was asked to stop.
        """
        began = time.perf_counter()
        self.converged = False
        step = 0
        while step < total:
            self.check()
            row: dict[str, float | str] = {"stage": stage, "step": step}
            self._row = row
            self.history.append(row)
            self.steps += 1
            yield step
            step = int(row["step"]) + 1  # a run that was broken off goes on at a later step
            self._report(stage, step, total, began)
        self._row = None

    @property
    def position(self) -> tuple[int, list[dict[str, float | str]]]:
        """The current step, and the rows of the history before it."""
        assert self._row is not None  # asked for within a loop
        return int(self._row["step"]), self.history[:-1]

    def resume(self, history: list[dict[str, float | str]], step: int) -> None:
        """Go on at a later step of the loop, as if the steps before had been made here.

        Parameters
        ----------
        history
            The rows of the steps before.
        step
            The step that the loop is at.
        """
        assert self._row is not None  # asked for within a loop
        self._row["step"] = step
        self.history[:] = [*history, self._row]
        self.steps = len(self.history)

    def log(self, **metrics: float | torch.Tensor) -> None:
        """Put numbers beside the current step; they become the curve.

        Parameters
        ----------
        **metrics
            Numbers, or tensors with one element, by name.
        """
        if self._row is None:
            self._row = {"stage": "", "step": 0}
            self.history.append(self._row)
        self._row.update({name: float(value) for name, value in metrics.items()})

    def plateaued(self, name: str, tol: float, *, relative: bool = False) -> bool:
        """Tell whether the last step hardly moved a logged number; notes convergence.

        Parameters
        ----------
        name
            Under which the number was logged.
        tol
            Moves below it count as none.
        relative
            Whether `tol` is a share of the number itself.

        Returns
        -------
        bool
            False after the first step of a loop.
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
        """Log a change as `change`, and tell whether it is below `tol`; notes convergence.

        Parameters
        ----------
        change
            How far the last step moved.
        tol
            Moves below it count as none.

        Returns
        -------
        bool
            Whether nothing moves any more.
        """
        self.log(change=change)
        self.converged = float(change) < tol
        return self.converged

    def part(self, title: str, *, stop_at: float = math.inf) -> Run:
        """Make a run within this one, for a fit inside a fit.

        Parameters
        ----------
        title
            What the inner fit is for; it stands before its stages.
        stop_at
            By `time.perf_counter`, when the inner fit is to stop; the outer one can go on.

        Returns
        -------
        Run
            With the same seed, device and way to stop, and a history of its own.
        """

        def report(progress: Progress) -> None:
            if self._watch is not None:
                self._watch(replace(progress, stage=f"{title}: {progress.stage}"))

        return Run(
            seed=self.seed,
            device=self.requested_device,
            watch=report,
            should_stop=lambda: self._wants_to_end() or time.perf_counter() > stop_at,
            parts=self.parts,
        )

    @property
    def device(self) -> torch.device:
        """The device to compute on; CUDA where there is one, unless another was requested."""
        return pick_device(self.requested_device)

    def generator(self) -> torch.Generator:
        """Make a torch generator from the run's seed.

        Returns
        -------
        torch.Generator
            On the run's device.
        """
        import torch

        return torch.Generator(device=self.device).manual_seed(self.seed)

    def _should_end(self) -> bool:
        return self.parts.agree(self._wants_to_end())

    def _wants_to_end(self) -> bool:
        """Whether this part was asked to stop, whatever the others were."""
        return self._cancelled or (self._should_stop is not None and self._should_stop())

    def _report(self, stage: str, step: int, total: int, began: float) -> None:
        now = time.perf_counter()
        is_early = now - self._last_report < 1 / MAX_REPORTS_PER_SECOND
        if self._watch is None or (is_early and step < total):
            return
        self._last_report = now
        row = self._row or {}
        metrics = {name: value for name, value in row.items() if isinstance(value, float)}
        speed = step / max(now - began, 1e-9)
        self._watch(Progress(stage=stage, step=step, total=total, speed=speed, metrics=metrics))


def pick_device(requested: Device) -> torch.device:
    """Return the device to compute on.

    Parameters
    ----------
    requested
        "auto" is CUDA where there is one.

    Returns
    -------
    torch.device
        Where tensors are put.

    Raises
    ------
    DataError
        If CUDA is requested and not there.
    """
    import torch

    available = torch.cuda.is_available()
    if requested == "cuda" and not available:
        raise DataError(
            "There is no CUDA device on this machine", fix="Use --device auto or --device cpu."
        )
    return torch.device("cuda" if requested != "cpu" and available else "cpu")
