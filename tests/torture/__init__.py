"""Tests that look for the next fault; all of them by `make torture`, a sample in `make test`.

Every module here that has `run(budget, seed)` takes part. `budget` is how many cases to try, about;
`seed` draws them where not all are tried. A module's own test, beside those of what it tests, runs
a small budget and asserts that no row has failures.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

Runner = Callable[[int, int], "list[Row]"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What came of one kind of ill-treatment."""

    name: str
    tried: int
    failed: int
    worst: str  # the worst that was seen: a failure in a sentence, else the slowest or largest case


def runners() -> dict[str, Runner]:
    """Find the modules of this package that can be run, by name."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "__main__"]
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in sorted(names)}
    return {name: module.run for name, module in modules.items() if hasattr(module, "run")}
