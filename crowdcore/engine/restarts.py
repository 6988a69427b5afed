"""Random restarts side by side, as further columns of the same tables."""

from __future__ import annotations

MOST_CELLS = 16_000_000
"""Most numbers in one table of a batch: 64 MB in float32, of which a few are held at once."""


def batches(total: int, cells_each: int) -> list[int]:
    """How many restarts to run together, batch after batch, where each needs so many numbers."""
    together = max(1, min(total, MOST_CELLS // max(1, cells_each)))
    full, rest = divmod(total, together)
    return [together] * full + [rest] * (rest > 0)


def affordable(wanted: int, work_each: int, most_work: int) -> int:
    """How many of the wanted restarts fit into a budget of work; at least one."""
    return max(1, min(wanted, most_work // max(1, work_each)))
