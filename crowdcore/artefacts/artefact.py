"""Artefact: what a method leaves beside truths; methods make one, readers get it from a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np

from crowdcore.distributions import as_array
from crowdcore.errors import ResultError

if TYPE_CHECKING:
    from crowdcore.data import CrowdData

Array: TypeAlias = Any
"""A numpy array; while the method is at work, it may still be a tensor."""

NOT_STORED = {"stored": False}
"""Metadata of a field that is not written with a result, such as the data."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Artefact:
    """What a method leaves beside truths: named arrays, and whatever JSON can hold.

    A subclass is a dataclass like this one. It declares its fields and `name`, the key under
    which a result keeps it, and stays as it is on disk once results with it exist: a new field
    has a default. A field that is None is not stored; a mapping of arrays is stored as one array
    per entry. A field called `data` is not stored either: it holds the data of the result.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True, eq=False)
    ... class Difficulties(Artefact):
    ...     name: ClassVar[str] = "difficulties"
    ...     mean: Array  # [N]
    >>> Difficulties(mean=np.zeros(2)).as_stored()
    {'mean': array([0., 0.])}
    """

    name: ClassVar[str]

    def as_stored(self) -> dict[str, Any]:
        """Turn the fields into numpy arrays and JSON, by key.

        Returns
        -------
        dict
            What a result holds and what is written to disk.

        Raises
        ------
        ResultError
            If a field is neither an array of plain numbers or strings nor JSON.
        """
        stored: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or not _is_stored(field):
                continue
            if isinstance(value, Mapping) and any(map(_is_array, value.values())):
                stored |= {f"{_key(field)}/{name}": _plain(array) for name, array in value.items()}
            else:
                stored[_key(field)] = _plain(value)
        for key, value in stored.items():
            if not _is_storable(value):
                raise ResultError(f"{self.name}: {key!r} is neither a plain array nor JSON")
        return stored

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any], data: CrowdData) -> Self:
        """Make the artefact of what `as_stored` gave, also in an earlier version.

        Parameters
        ----------
        stored : mapping
            Arrays and JSON by key.
        data : CrowdData
            The data of the result that the artefact belongs to.

        Returns
        -------
        Artefact
            An artefact of this class, all of whose arrays are numpy's.
        """
        values: dict[str, Any] = {}
        for field in fields(cls):
            key = _key(field)
            if field.name == "data":
                values["data"] = data
            elif key in stored:
                values[field.name] = stored[key]
            elif entries := _entries(stored, f"{key}/"):
                values[field.name] = entries
        return cls(**values)


AnyArtefact = TypeVar("AnyArtefact", bound=Artefact)


def pick(artefacts: Iterable[Artefact], kind: type[AnyArtefact]) -> AnyArtefact | None:
    """Return the artefact of a class, as the method left it; None if it left none.

    Parameters
    ----------
    artefacts : iterable of Artefact
        What a method left.
    kind : type
        The class to look for.
    """
    return next((artefact for artefact in artefacts if isinstance(artefact, kind)), None)


def _is_stored(field: Field[Any]) -> bool:
    return bool(field.metadata.get("stored", field.name != "data"))


def _key(field: Field[Any]) -> str:
    """The key of a field on disk: its name, unless its metadata give another."""
    return str(field.metadata.get("key", field.name))


def _entries(stored: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """What is stored under a prefix, by the rest of its key."""
    return {
        key.removeprefix(prefix): value for key, value in stored.items() if key.startswith(prefix)
    }


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "detach")


def _plain(value: Any) -> Any:
    """A tensor as an array and a tuple as a list; anything else as it is."""
    if hasattr(value, "detach"):
        return as_array(value)
    return list(value) if isinstance(value, tuple) else value


def _is_storable(value: Any) -> bool:
    """Whether a value can be written without pickle, and comes back as it was."""
    return not value.dtype.hasobject if isinstance(value, np.ndarray) else _is_json(value)


def _is_json(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        return all(type(key) is str and _is_json(entry) for key, entry in value.items())
    # Exact types: a numpy float is a float, and would come back as another type.
    return value is None or type(value) in (bool, int, float, str)
