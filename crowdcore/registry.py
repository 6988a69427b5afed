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
from crowdcore.method import Method
from crowdcore.result import Beliefs, Result
from crowdcore.run import Device, Run


@cache
def methods() -> Mapping[str, Method]:
    """Every method by id. A file that does not import, or holds no method, is an error."""
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
    return MappingProxyType(dict(sorted(found.items())))


def get_method(name: str) -> Method:
    """Return a method by id; an unknown id gets the nearest ones named."""
    known = methods()
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
    **params: Any,
) -> Result:
    """Run the method called `name` on the data, from an earlier result if there is one."""
    return get_method(name).fit(
        data, run=run, seed=seed, device=device, warm_start=warm_start, **params
    )
