"""Bags: rows of a table that are added up together, as `torch.nn.functional.embedding_bag` has it.

The rows of all bags lie one after the other; a bag is told by where it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_ROWS_PER_BAG = 4096
"""A float32 sum over more rows than this is cut, and its parts are added in float64."""


def bag_starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each bag starts.

    Parameters
    ----------
    sizes : array of int [B]
        Number of rows in each bag; may be 0.

    Returns
    -------
    array of int [B]
        Index of the first row of each bag.

    Examples
    --------
    >>> bag_starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2]
    """
    return np.cumsum(sizes) - sizes


def cut_long_bags(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut long bags, so that float32 never adds up more than a few thousand numbers.

    Parameters
    ----------
    sizes : array of int [B]
        Number of rows in each bag; may be 0.

    Returns
    -------
    starts : array of int [P]
        Index of the first row of each piece; a short bag is one piece.
    owner : array of int [P]
        The bag that each piece belongs to.
    """
    n_pieces = np.maximum(1, -(-sizes // MAX_ROWS_PER_BAG))
    owner = np.repeat(np.arange(len(sizes)), n_pieces)
    piece_in_bag = np.arange(len(owner)) - np.repeat(bag_starts(n_pieces), n_pieces)
    starts = np.repeat(bag_starts(sizes), n_pieces) + piece_in_bag * MAX_ROWS_PER_BAG
    return starts, owner
