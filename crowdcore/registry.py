"""The registry: every method under methods/, found by walking the folders."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from crowdcore import methods as home
from crowdcore.data import CrowdData, DataError
from crowdcore.method import Method, Role
from crowdcore.result import Beliefs, Result
from crowdcore.run import Device, Run


def methods(role: Role = "aggregate") -> Mapping[str, Method]:
    """Every method of a role by id: those that infer truths, or those that complete labels."""
    return MappingProxyType({name: one for name, one in _all().items() if one.role == role})


@cache
def _all() -> dict[str, Method]:
    """Every method. A file that does not import, or holds no method, is an error."""
    found: dict[str, Method] = {}
    prefix = home.__name__ + "."
    for info in pkgutil.walk_packages(home.__path__, prefix):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        own = [value for value in vars(module).values() if isinstance(value, Method)]
        if len(own) != 1 or own[0].id in found:
            raise ImportError(f"{info.name} must define exactly one method, with an id of its own")
        found[own[0].id] = own[0]
    return dict(sorted(found.items()))


def get_method(name: str, role: Role = "aggregate") -> Method:
    """Return a method by id; an unknown id gets the nearest ones named."""
    known = methods(role)
    if name in _all() and name not in known:
        does = "completes labels" if role == "aggregate" else "infers truths"
        what = "infer truths" if role == "aggregate" else "complete labels"
        raise DataError(f"{name!r} {does}; it does not {what}", fix=f"{', '.join(known)} do.")
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        fix = f"Did you mean {', '.join(near)}?" if near else f"There are {', '.join(known)}."
        raise DataError(f"There is no method {name!r}", fix=fix)
    return known[name]


def fit(
    data: CrowdData,
    name: str,
    *,
    run: Run | None = None,
    seed: int = 0,
    device: Device = "auto",
    warm_start: Beliefs | None = None,
    complete: str | None = None,
    complete_params: Mapping[str, Any] | None = None,
    **params: Any,
) -> Result:
    """Run the method called `name` on the data, from an earlier result if there is one.

    With `complete`, the method of that name fills in missing labels first.
    """
    chosen = get_method(name)
    run = run if run is not None else Run(seed=seed, device=device)
    completion = None
    if complete is not None:
        completer = get_method(complete, "complete")
        completion = completer.complete(data, run=run.part("Completion"), **(complete_params or {}))
    return chosen.fit(data, run=run, warm_start=warm_start, completion=completion, **params)
