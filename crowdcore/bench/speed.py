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
from crowdcore.bench.peers import PEERS, Peer
from crowdcore.data import DataError
from crowdcore.registry import get_method

if TYPE_CHECKING:
    from crowdcore.simulation import Simulation

LABELS_PER_ITEM = 5
LABELS_PER_WORKER = 1000
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
HOW = (
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
            seconds=median(one["seconds"] for one in outcomes),
            cpu_seconds=median(one["cpu_seconds"] for one in outcomes),
            bytes=median(one["bytes"] for one in outcomes),
            steps=int(outcomes[0]["steps"]),
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method's cost, its peer's where there is one, or why there is none."""

    method: str
    n_labels: int
    ours: Cost | None = None
    peer: str = ""
    theirs: Cost | None = None
    reason: str = ""

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
            "ours": None if self.ours is None else vars(self.ours),
            "labels_a_second": self.ours and self.n_labels / self.ours.seconds,
            "peer": self.peer,
            "theirs": None if self.theirs is None else vars(self.theirs),
            "times_faster": self.ratio,
            "reason": self.reason,
        }


def compare(
    names: Sequence[str],
    *,
    n_labels: int,
    n_classes: int,
    n_workers: int | None = None,
    steps: int,
    repeats: int = 3,
    peers: Path | None = None,
    seed: int = 0,
    told: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Measure methods, or alpha, on one simulated crowd.

    `peers` is the Python that has the peers.
    """
    with tempfile.TemporaryDirectory(prefix="crowdcore-bench-") as folder:
        codes = Path(folder) / "codes.npz"
        data = crowd(n_labels, n_classes, seed, n_workers).data
        np.savez(codes, item=data.item, worker=data.worker, label=data.label)
        rows = []
        for name in names:
            peer = PEERS.get(name) if peers is not None else None
            try:
                row = _measure(name, peer, peers, codes, steps=steps, repeats=repeats, told=told)
                rows.append(Row(method=name, n_labels=n_labels, **row))
            except DataError as error:
                rows.append(Row(method=name, n_labels=n_labels, reason=str(error)))
        return rows


def settings(name: str, steps: int) -> dict[str, Any]:
    """Settings with which a method makes this many steps, where it counts steps at all."""
    if name == measure.ALPHA:
        return {}
    method = get_method(name)
    wanted = {"max_iter": steps, "tol": 0.0}
    params = {key: value for key, value in wanted.items() if key in method.config.model_fields}
    method.configure(params)
    return params


def _measure(
    name: str,
    peer: Peer | None,
    python: Path | None,
    codes: Path,
    *,
    steps: int,
    repeats: int,
    told: Callable[[str], None],
) -> dict[str, Any]:
    """Repeat ours and theirs in turn, so that a busy minute hits both."""
    params = settings(name, steps)
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    reason = ""
    for _ in range(repeats):
        job: dict[str, Any] = {"codes": str(codes), "method": name, "params": params}
        ours.append(_spawn(sys.executable, job, name))
        told(name)
        if peer is None or python is None:
            continue
        # The peer makes as many steps as ours did, so that equal work is compared.
        limits = peer.settings(int(ours[0]["steps"]) or steps)
        job = {"codes": str(codes), "peer": peer.name, "params": limits}
        try:
            theirs.append(_spawn(str(python), job, peer.name))
        except DataError as error:
            reason, peer = str(error), None
        told(f"the peer of {name}")
    found: dict[str, Any] = {"ours": Cost.of(ours), "reason": reason}
    if theirs and peer is not None:
        found |= {"peer": peer.name, "theirs": Cost.of(theirs)}
    return found


def _spawn(python: str, job: dict[str, Any], name: str) -> dict[str, float]:
    environment = {**os.environ, **ONE_THREAD}
    environment.pop("PYTHONPATH", None)  # the peer must not find our packages
    if python == sys.executable:
        environment["PYTHONPATH"] = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    command = [python, "-P", measure.__file__, json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise DataError(f"{name} could not be measured: {lines[-1]}")
    outcome: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return outcome


def workers_for(n_labels: int) -> int:
    """How many workers give so many labels, unless somebody says."""
    return max(20, n_labels // LABELS_PER_WORKER)


def crowd(n_labels: int, n_classes: int, seed: int, n_workers: int | None = None) -> Simulation:
    """Simulate the crowd that everything is measured on."""
    from crowdcore.simulation import simulate

    return simulate(
        items=max(1, n_labels // LABELS_PER_ITEM),
        workers=workers_for(n_labels) if n_workers is None else n_workers,
        classes=n_classes,
        labels_per_item=LABELS_PER_ITEM,
        features=0,
        seed=seed,
    )
