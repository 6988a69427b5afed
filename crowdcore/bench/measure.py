"""One fit in a process of its own: how long it takes and how much memory it adds.

This file is also run by the peers' Python, which has no crowdcore: nothing but the standard
library and numpy may be imported outside the functions that fit.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from crowdcore.data import CrowdData

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
ALPHA = "alpha"
"""What stands for Krippendorff's alpha among the ids of methods."""

WARM = 200
"""Labels of the small fit that comes first, so that imports and first calls are not measured."""


def measured(fit: Callable[[], int]) -> dict[str, float]:
    """Time a fit and watch the memory it adds.

    Parameters
    ----------
    fit : callable
        Does the work and returns its number of steps.

    Returns
    -------
    dict of str to float
        `seconds`, `cpu_seconds`, `bytes` and `steps`.
    """
    gc.collect()
    before = _start_watch()
    began, began_cpu = time.perf_counter(), time.process_time()
    steps = fit()
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    added = max(0, _peak() - before)
    return {"seconds": seconds, "cpu_seconds": cpu, "bytes": added, "steps": steps}


def _start_watch() -> int:
    """Forget the peak so far, where the system allows it, and return the memory in use."""
    if RESET.exists():
        RESET.write_text("5")
        return _status("VmRSS")
    return _peak()


def _peak() -> int:
    if STATUS.exists():
        return _status("VmHWM")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int:
    for line in STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def fit_ours(job: dict[str, Any]) -> dict[str, float]:
    """Fit one of crowdcore's methods, from codes in memory to a checked result.

    Parameters
    ----------
    job : dict of str to object
        `codes` (path of an NPZ), `method` (an id) and `params`.

    Returns
    -------
    dict of str to float
        What `measured` returns.
    """
    from crowdcore.data import CrowdData

    codes = np.load(job["codes"])

    def data(rows: slice) -> CrowdData:
        item, worker, label = (codes[name][rows] for name in ("item", "worker", "label"))
        return CrowdData(
            item=item,
            worker=worker,
            label=label,
            items=tuple(f"i{number}" for number in range(item.max() + 1)),
            workers=tuple(f"w{number}" for number in range(worker.max() + 1)),
            classes=tuple(f"c{number}" for number in range(label.max() + 1)),
        )

    work = _function_to_measure(job["method"], job["params"])
    work(data(slice(WARM)))
    full_data = data(slice(None))
    kept: list[Any] = []  # a result that is dropped at once would not count in the peak

    def fit() -> int:
        kept.append(work(full_data))
        return 0 if job["method"] == ALPHA else int(kept[0].provenance.steps)

    return measured(fit)


def _function_to_measure(method_id: str, params: dict[str, Any]) -> Callable[[CrowdData], Any]:
    if method_id == ALPHA:
        from crowdcore.audit.agreement import agreement

        return agreement
    import torch

    from crowdcore.registry import get_method

    torch.set_num_threads(1)
    method = get_method(method_id)
    return lambda data: method.fit(data, device="cpu", **params)


def fit_peer(job: dict[str, Any]) -> dict[str, float]:
    """Fit crowd-kit's counterpart, from a data frame of codes in memory to its result.

    Parameters
    ----------
    job : dict of str to object
        `codes` (path of an NPZ), `peer` (a class of crowd-kit) and `params`.

    Returns
    -------
    dict of str to float
        What `measured` returns.
    """
    import pandas as pd
    from crowdkit import aggregation

    codes = np.load(job["codes"])
    columns = {"task": "item", "worker": "worker", "label": "label"}
    frame = pd.DataFrame({ours: codes[theirs] for ours, theirs in columns.items()})
    make = getattr(aggregation, job["peer"])
    make(**job["params"]).fit_predict(frame.iloc[:WARM])
    kept: list[Any] = []

    def fit() -> int:
        model = make(**job["params"])
        kept.extend([model, model.fit_predict(frame)])
        return len(getattr(model, "loss_history_", ())) or job["params"].get("n_iter", 0)

    return measured(fit)


def alpha_of_peer(job: dict[str, Any]) -> dict[str, float]:
    """Let the package krippendorff compute alpha, from codes in memory.

    Parameters
    ----------
    job : dict of str to object
        `codes` (path of an NPZ).

    Returns
    -------
    dict of str to float
        What `measured` returns.
    """
    import krippendorff  # type: ignore[import-not-found]

    codes = np.load(job["codes"])
    item, worker, label = (codes[name] for name in ("item", "worker", "label"))

    def fit(n_labels: int) -> int:
        rows = slice(n_labels)
        matrix = np.full((worker[rows].max() + 1, item[rows].max() + 1), np.nan)
        matrix[worker[rows], item[rows]] = label[rows]
        krippendorff.alpha(matrix, level_of_measurement="nominal")
        return 0

    fit(WARM)
    return measured(lambda: fit(len(item)))


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    peers = {"krippendorff.alpha": alpha_of_peer}
    outcome = peers.get(task["peer"], fit_peer)(task) if "peer" in task else fit_ours(task)
    sys.stdout.write("\n" + json.dumps(outcome) + "\n")
