"""Codes of names: how names get them, and what they must fulfil."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.errors import DataError


def natural_order(names: set[str] | Sequence[str]) -> tuple[str, ...]:
    """Order numbers by value and everything else by spelling.

    Parameters
    ----------
    names
        Names; each is listed once.

    Returns
    -------
    tuple of str
        Numbers first.
    """

    def key(name: str) -> tuple[int, float, str]:
        try:
            value = float(name)
        except ValueError:
            return (1, 0.0, name)
        return (1, 0.0, name) if math.isnan(value) else (0, value, name)

    return tuple(sorted(set(names), key=key))


def codes_by_name(names: Iterable[str]) -> dict[str, int]:
    """Number names in the order in which they first appear."""
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def as_codes(name: str, values: NDArray[Any]) -> NDArray[np.int32]:
    """Make codes 32-bit integers; anything that is not a whole number is refused, not cut."""
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"Codes must be whole numbers, not {array.dtype}", column=name)
    return np.ascontiguousarray(array, dtype=np.int32)


def sum_by(codes: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[np.float64]:
    """Add values up by their codes.

    Parameters
    ----------
    codes
        From 0 to `size` - 1 [n].
    values
        Numbers [n].
    size
        How many sums there are.

    Returns
    -------
    numpy.ndarray
        Sums [size].
    """
    return np.bincount(codes, values, minlength=size).astype(np.float64, copy=False)


def sorted_with(keys: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Order values by their keys, and then by value.

    Packed integers are sorted: `argsort` and `lexsort` take several times as long.

    Parameters
    ----------
    keys
        Whole numbers from 0 on [n]; times `size` they must stay below 2 ** 63.
    values
        Whole numbers from 0 to `size` - 1 [n].
    size
        Above every value.

    Returns
    -------
    numpy.ndarray
        The values [n], in their new order.
    """
    bits = max(1, (size - 1).bit_length())
    packed = keys.astype(np.int64) << bits
    packed |= values
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def check_codes(name: str, codes: NDArray[Any], names: tuple[str, ...]) -> None:
    """Refuse codes without a name, and names that occur twice."""
    if int(codes.min()) < 0 or int(codes.max()) >= len(names):
        raise DataError(f"A code lies outside 0..{len(names) - 1}", column=name)
    if len(set(names)) != len(names):
        repeated = Counter(names).most_common(1)[0][0]
        raise DataError(f"Two names are {repeated!r}", column=name)
