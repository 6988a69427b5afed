"""One fit in a process of its own: how long it takes and how much memory it adds.

This file is also run by the peers' Python, which has no crowdcore: nothing but the standard
library and numpy may be imported outside the two functions that fit.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
WARM = 200
"""Labels of the small fit that comes first, so that imports and first calls are not measured."""


def measured(fit: Callable[[], int]) -> dict[str, float]:
    """Time a fit and watch the memory it adds; `fit` returns its number of steps."""
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
    """Fit one of crowdcore's methods, from codes in memory to a checked result."""
    import torch

    from crowdcore.data import CrowdData
    from crowdcore.registry import get_method

    torch.set_num_threads(1)
    codes = np.load(job["codes"])

    def data(part: slice) -> CrowdData:
        item, worker, label = (codes[name][part] for name in ("item", "worker", "label"))
        return CrowdData(
            item=item,
            worker=worker,
            label=label,
            items=tuple(f"i{number}" for number in range(item.max() + 1)),
            workers=tuple(f"w{number}" for number in range(worker.max() + 1)),
            classes=tuple(f"c{number}" for number in range(label.max() + 1)),
        )

    method = get_method(job["method"])
    method.fit(data(slice(WARM)), device="cpu", **job["params"])
    whole = data(slice(None))
    kept: list[Any] = []  # a result that is dropped at once would not count in the peak

    def fit() -> int:
        kept.append(method.fit(whole, device="cpu", **job["params"]))
        return int(kept[0].provenance.steps)

    return measured(fit)


def fit_peer(job: dict[str, Any]) -> dict[str, float]:
    """Fit the peer's counterpart, from a data frame of codes in memory to its result."""
    import pandas as pd
    from crowdkit import aggregation  # type: ignore[import-not-found]

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


if __name__ == "__main__":
    work = json.loads(sys.argv[1])
    outcome = fit_peer(work) if "peer" in work else fit_ours(work)
    sys.stdout.write("\n" + json.dumps(outcome) + "\n")
