"""How fast methods are and how much memory they add, beside the same method of a peer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.bench import measure
from crowdcore.bench.peers import PEERS
from crowdcore.data import DataError
from crowdcore.registry import get_method

if TYPE_CHECKING:
    from crowdcore.simulation.classes import Simulation

LABELS_PER_ITEM = 5
LABELS_PER_WORKER = 1000
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
PROTOCOL = (
    "Medians; one thread; every measurement in a fresh process after a small fit that is not "
    "counted. Ours is the fit from codes in memory to the checked result, the peer's from codes "
    "in memory (crowd-kit: a data frame of them) to its result. Memory is the peak of the resident "
    "set during the fit, less what was there before. How many times faster compares CPU seconds, "
    "which other work on the machine disturbs least."
)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of a fit: medians over its repeats."""

    seconds: float
    cpu_seconds: float
    bytes: float
    steps: int

    @classmethod
    def of(cls, outcomes: Sequence[dict[str, float]]) -> Cost:
        """Take the medians."""
        return cls(
            seconds=median(outcome["seconds"] for outcome in outcomes),
            cpu_seconds=median(outcome["cpu_seconds"] for outcome in outcomes),
            bytes=median(outcome["bytes"] for outcome in outcomes),
            steps=int(outcomes[0]["steps"]),
        )


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One method's cost, its peer's where there is one, or why there is none."""

    method: str
    n_labels: int
    n_workers: int
    ours: Cost | None = None
    peer: str = ""
    theirs: Cost | None = None
    smallest: Cost | None = None  # on the fewest labels of the run
    reason: str = ""

    @property
    def growth(self) -> float | None:
        """How many times the CPU seconds on the fewest labels of the run."""
        if self.ours is None or self.smallest is None:
            return None
        return self.ours.cpu_seconds / self.smallest.cpu_seconds

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer, in CPU seconds."""
        if self.ours is None or self.theirs is None:
            return None
        return self.theirs.cpu_seconds / self.ours.cpu_seconds

    def to_json(self) -> dict[str, Any]:
        """Turn the row into plain JSON values."""
        return {
            "method": self.method,
            "labels": self.n_labels,
            "workers": self.n_workers,
            "ours": None if self.ours is None else vars(self.ours),
            "labels_a_second": self.ours and self.n_labels / self.ours.seconds,
            "peer": self.peer,
            "theirs": None if self.theirs is None else vars(self.theirs),
            "times_faster": self.ratio,
            "times_the_fewest": self.growth,
            "reason": self.reason,
        }


def compare(
    names: Sequence[str],
    *,
    sizes: Sequence[int],
    n_classes: int,
    n_workers: int | None = None,
    steps: int,
    repeats: int = 3,
    peers: Path | None = None,
    seed: int = 0,
    on_done: Callable[[str], None] = lambda _: None,
) -> list[Measurement]:
    """Measure methods, or alpha, on a simulated crowd of each size.

    Parameters
    ----------
    names : sequence of str
        Ids of methods; "alpha" stands for Krippendorff's.
    sizes : sequence of int
        Numbers of labels.
    n_classes : int
        Number of classes.
    n_workers : int or None, optional
        Number of workers; one per 1,000 labels by default.
    steps : int
        Steps of methods that iterate.
    repeats : int, default 3
        Measurements to take medians of.
    peers : Path or None, optional
        The Python that has the peers; without it they are not measured.
    seed : int, default 0
        Seed of the crowds.
    on_done : callable, optional
        Called after each measurement.

    Returns
    -------
    list of Measurement
        One per method and size.
    """
    with tempfile.TemporaryDirectory(prefix="crowdcore-bench-") as folder:
        crowds = []
        for n_labels in sorted(set(sizes)):
            data = crowd(n_labels, n_classes, seed, n_workers).data
            codes = Path(folder) / f"{n_labels}.npz"
            np.savez(codes, item=data.item, worker=data.worker, label=data.label)
            crowds.append(Crowd(n_labels=n_labels, n_workers=data.n_workers, codes=codes))
            del data
        rows = []
        for name in names:
            trials = [Trial(name, simulated, steps, peers, on_done) for simulated in crowds]
            for _ in range(repeats):  # everything in turn, so that a busy minute hits all
                for trial in trials:
                    trial.measure()
            smallest = trials[0].cost
            rows += [trial.row(smallest if len(trials) > 1 else None) for trial in trials]
        return rows


def settings(name: str, steps: int) -> dict[str, Any]:
    """Return settings with which a method makes this many steps, where it counts steps at all.

    Parameters
    ----------
    name : str
        The method's id, or "alpha".
    steps : int
        How many.

    Returns
    -------
    dict of str to object
        Settings of the method.
    """
    if name == measure.ALPHA:
        return {}
    method = get_method(name)
    wanted = {"max_iter": steps, "tol": 0.0}
    params = {key: value for key, value in wanted.items() if key in method.config.model_fields}
    method.configure(params)
    return params


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """A simulated crowd, and the file of its codes."""

    n_labels: int
    n_workers: int
    codes: Path


class Trial:
    """A method on a crowd, and its peer: measured as often as asked, ours and theirs in turn."""

    def __init__(
        self,
        name: str,
        crowd: Crowd,
        steps: int,
        python: Path | None,
        on_done: Callable[[str], None],
    ) -> None:
        self.name, self.crowd, self.steps, self.on_done = name, crowd, steps, on_done
        self.python, self.peer = python, PEERS.get(name) if python is not None else None
        self.ours: list[dict[str, float]] = []
        self.theirs: list[dict[str, float]] = []
        self.reason, self.failed = "", False

    @property
    def cost(self) -> Cost | None:
        """What ours takes; None where it failed."""
        return None if self.failed else Cost.of(self.ours)

    def measure(self) -> None:
        """Measure once; what failed is not tried again."""
        job: dict[str, Any] = {"codes": str(self.crowd.codes), "method": self.name}
        try:
            if not self.failed:
                job["params"] = settings(self.name, self.steps)
                self.ours.append(_spawn(sys.executable, job, self.name))
        except DataError as error:
            self.reason, self.failed = str(error), True
        self.on_done(self.name)
        if self.python is None:
            return
        try:
            if self.peer is not None and not self.failed:
                # The peer makes as many steps as ours did, so that equal work is compared.
                limits = self.peer.settings(int(self.ours[0]["steps"]) or self.steps)
                job = {"codes": str(self.crowd.codes), "peer": self.peer.name, "params": limits}
                self.theirs.append(_spawn(str(self.python), job, self.peer.name))
        except DataError as error:
            self.reason, self.peer = str(error), None
        self.on_done(f"the peer of {self.name}")

    def row(self, smallest: Cost | None) -> Measurement:
        """Summarise the measurements by their medians.

        Parameters
        ----------
        smallest : Cost or None
            The cost on the smallest crowd, where there are several crowds.

        Returns
        -------
        Measurement
            The row of this method and crowd.
        """
        theirs = Cost.of(self.theirs) if self.theirs and self.peer is not None else None
        return Measurement(
            method=self.name,
            n_labels=self.crowd.n_labels,
            n_workers=self.crowd.n_workers,
            ours=self.cost,
            peer=self.peer.name if theirs is not None and self.peer is not None else "",
            theirs=theirs,
            smallest=smallest,
            reason=self.reason,
        )


def _spawn(python: str, job: dict[str, Any], name: str) -> dict[str, float]:
    environment = {**os.environ, **ONE_THREAD}
    environment.pop("PYTHONPATH", None)  # the peer must not find our packages
    if python == sys.executable:
        environment["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    command = [python, "-P", measure.__file__, json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise DataError(f"{name} could not be measured: {lines[-1]}")
    outcome: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return outcome


def crowd(n_labels: int, n_classes: int, seed: int, n_workers: int | None = None) -> Simulation:
    """Simulate the crowd that everything is measured on.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    n_classes : int
        Number of classes.
    seed : int
        Seed of the crowd.
    n_workers : int or None, optional
        Number of workers; one per 1,000 labels by default.

    Returns
    -------
    Simulation
        The crowd, without features.
    """
    from crowdcore.simulation.classes import simulate

    if n_workers is None:
        n_workers = max(20, n_labels // LABELS_PER_WORKER)
    return simulate(
        items=max(1, n_labels // LABELS_PER_ITEM),
        workers=n_workers,
        classes=n_classes,
        labels_per_item=LABELS_PER_ITEM,
        features=0,
        seed=seed,
    )
