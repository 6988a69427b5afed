"""The registry: every method under methods/, found by walking the folders."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from crowdcore import methods as home
from crowdcore.artefacts.artefact import Artefact
from crowdcore.data import CrowdData, DataError, Kind
from crowdcore.method import Method, Role
from crowdcore.results.result import Result
from crowdcore.run import Device, Run
from crowdcore.set_methods import can_take_sets, for_sets
from crowdcore.warm_start import WarmStart


def methods(role: Role = "aggregate", kind: Kind = "classes") -> Mapping[str, Method]:
    """List the methods of a role that work on a kind of labels.

    Parameters
    ----------
    role
        "aggregate" for those that infer truths, "complete" for those that fill in labels.
    kind
        What the labels are.

    Returns
    -------
    mapping
        The methods by id, in alphabetical order.
    """
    of_role = {
        method.id: method
        for method in all_methods()
        if method.role == role and kind in method.kinds
    }
    return MappingProxyType(dict(sorted(of_role.items())))


def methods_of_files() -> list[Method]:
    """List the methods as their files define them, without those made for sets, by id."""
    return [method for method in all_methods() if method.kinds != {"sets"}]


@cache
def all_methods() -> tuple[Method, ...]:
    """Find every method, of all roles and kinds, by id and family.

    Among the methods of one kind no two have the same id. A file that does not import, or holds
    no method, is an error.

    Returns
    -------
    tuple of Method
        Each file's method.
    """
    known: list[Method] = []
    for name in _module_names():
        module = importlib.import_module(name)
        defined = [value for value in vars(module).values() if isinstance(value, Method)]
        if len(defined) != 1:
            raise ImportError(f"{name} must define exactly one method")
        for other in known:
            if other.id == defined[0].id and other.kinds & defined[0].kinds:
                raise ImportError(f"{name} needs an id of its own; {other.family} has {other.id}")
        known.append(defined[0])
    known += [for_sets(method) for method in known if can_take_sets(method)]
    return tuple(sorted(known, key=lambda method: (method.id, method.family)))


def _module_names() -> Iterator[str]:
    """The modules `methods/<family>/<id>`: files or folders; parts begin with an underscore."""
    for family in pkgutil.iter_modules(home.__path__, home.__name__ + "."):
        for info in pkgutil.iter_modules(importlib.import_module(family.name).__path__):
            if not info.name.startswith("_"):
                yield f"{family.name}.{info.name}"


def methods_leaving(*kinds: type[Artefact]) -> list[Method]:
    """List the methods that declare to leave artefacts of some classes.

    Parameters
    ----------
    *kinds
        Classes of artefacts.

    Returns
    -------
    list of Method
        Of all roles; those that leave most of these classes first, then by id.
    """
    leaving = [method for method in all_methods() if set(kinds) & set(method.leaves)]
    return sorted(leaving, key=lambda method: -len(set(kinds) & set(method.leaves)))


def get_method(name: str, role: Role = "aggregate", kind: Kind = "classes") -> Method:
    """Return a method by id.

    Parameters
    ----------
    name
        The method's id.
    role
        What the method must do: infer truths ("aggregate"), or fill in labels ("complete").
    kind
        What the labels are; methods for different kinds may share an id.

    Returns
    -------
    Method
        Call its `fit` or `complete`.

    Raises
    ------
    DataError
        If there is no such method of this role and kind; the nearest ids are named.

    Examples
    --------
    >>> get_method("ds").title
    'Dawid-Skene'
    """
    candidates = methods(role, kind)
    if name in candidates:
        return candidates[name]
    if name in methods("complete" if role == "aggregate" else "aggregate", kind):
        does = "completes labels" if role == "aggregate" else "infers truths"
        wanted = "infer truths" if role == "aggregate" else "complete labels"
        fix = f"{', '.join(candidates)} do."
        raise DataError(f"{name!r} {does}; it does not {wanted}", fix=fix)
    elsewhere = [method for method in all_methods() if method.id == name and method.role == role]
    if elsewhere:
        kinds = " or ".join(sorted({kind for method in elsewhere for kind in method.kinds}))
        fix = f"For {kind} there are {', '.join(candidates) or 'none'}."
        raise DataError(f"{name!r} works on {kinds}; these data are {kind}", fix=fix)
    similar = difflib.get_close_matches(name, candidates, n=3, cutoff=0.4)
    fix = f"There are {', '.join(candidates)}."
    if similar:
        fix = f"Did you mean {', '.join(similar)}?"
    raise DataError(f"There is no method {name!r}", fix=fix)


def fit(
    data: CrowdData,
    name: str,
    *,
    run: Run | None = None,
    seed: int = 0,
    device: Device = "auto",
    warm_start: WarmStart | None = None,
    complete: str | None = None,
    complete_params: Mapping[str, Any] | None = None,
    **params: Any,
) -> Result:
    """Infer the truths of labels by a method.

    Parameters
    ----------
    data
        The labels.
    name
        The method's id among those for this kind of labels; `crowdcore methods` lists them.
    run
        Watches and cancels the fit; it has a seed and a device of its own.
    seed, device
        Of the fit, where no run is given.
    warm_start
        What to begin from: the `warm_start` of an earlier result.
    complete
        The id of a method that fills in labels that nobody gave before.
    complete_params
        Settings of that method by name.
    **params
        Settings of the method by name.

    Returns
    -------
    Result
        The truths, and what was learnt on the way to them.

    Raises
    ------
    DataError
        If there is no such method, or the method, its settings and the data do not fit together.
    Cancelled
        If the run was asked to stop.

    Examples
    --------
    >>> data = CrowdData.from_triples([("a", "ann", "yes"), ("b", "ann", "no"), ("b", "bob", "no")])
    >>> fit(data, "mv").truths()["truth"].tolist()
    ['yes', 'no']
    """
    method = get_method(name, kind=data.kind)
    run = run if run is not None else Run(seed=seed, device=device)
    completion = None
    if complete is not None:
        completer = get_method(complete, "complete", data.kind)
        completion = completer.complete(data, run=run.part("Completion"), **(complete_params or {}))
    return method.fit(data, run=run, warm_start=warm_start, completion=completion, **params)
