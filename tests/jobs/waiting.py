"""Waiting for other processes, with an end to patience."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0


def until(condition: Callable[[], bool], patience: float = PATIENCE) -> float:
    """Wait for a condition and return how long it took."""
    begun = time.perf_counter()
    while not condition():
        waited = time.perf_counter() - begun
        assert waited < patience, f"it did not happen within {patience} s"
        time.sleep(0.01)
    return time.perf_counter() - begun
