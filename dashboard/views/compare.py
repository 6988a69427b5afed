"""Compare: all runs of a project, and any two of them side by side."""

from __future__ import annotations

from dashboard import layout
from dashboard.compare import pair, runs


def draw() -> None:
    run = layout.open_results("compare")
    before, after = runs.draw(run)
    if before is not None and after is not None:
        pair.draw(before, after)


draw()
