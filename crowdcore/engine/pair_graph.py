"""Who was compared with whom: sums over comparisons, and linear systems of their graph.

The second derivatives of a Bradley-Terry likelihood are a weighted graph Laplacian: minus a weight
for every pair of items that were compared, and on the diagonal the sum of an item's weights. It is
kept sparse; nothing is ever as large as items × items unless there are few items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, sparse

from crowdcore.codes import sum_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import Codes, Floats

MAX_DENSE_ITEMS = 1000
"""Items up to which systems are solved, and covariances given, by a dense factorisation."""

MAX_SOLVER_STEPS = 400
"""Steps of conjugate gradients at most."""

DRAW_NUMBERS = 3_200_000
"""Random numbers spent on the variances of many items: draws × items."""

MIN_DRAWS, MAX_DRAWS, DRAWS_AT_ONCE = 16, 200, 8


class PairGraph:
    """The comparisons as a graph between items.

    Parameters
    ----------
    left, right : array [L]
        Codes of the two items of each comparison.
    n_items : int
        Number of items N.

    Attributes
    ----------
    first, second : array [P]
        The two items of each compared pair, the lower code first.
    pair : array [L]
        The pair of each comparison.
    """

    def __init__(self, left: Codes, right: Codes, n_items: int) -> None:
        self.left, self.right, self.n_items = left, right, n_items
        low, high = np.minimum(left, right), np.maximum(left, right)
        keys, self.pair = np.unique(low * np.int64(n_items) + high, return_inverse=True)
        self.first, self.second = np.divmod(keys, n_items)

    @property
    def n_pairs(self) -> int:
        """P, the number of different pairs that were compared."""
        return len(self.first)

    @cached_property
    def pair_counts(self) -> NDArray[np.int64]:
        """How often each pair was compared [P]."""
        return np.bincount(self.pair, minlength=self.n_pairs)

    @cached_property
    def n_components(self) -> int:
        """Into how many groups of items, never compared with each other, the items fall."""
        return int(self.component.max()) + 1

    @cached_property
    def component(self) -> NDArray[np.int32]:
        """The group of items that each item can be compared with, directly or not [N]."""
        ones = np.ones(self.n_pairs, bool)
        shape = (self.n_items, self.n_items)
        graph = sparse.coo_array((ones, (self.first, self.second)), shape=shape)
        _, component = sparse.csgraph.connected_components(graph, directed=False)
        return np.asarray(component, np.int32)

    def differences(self, scores: Floats) -> Floats:
        """Subtract the right item's score from the left one's [L]."""
        return scores[self.left] - scores[self.right]

    def sum_to_items(self, values: Floats) -> Floats:
        """Add up what comparisons say for their left items and against their right ones [N]."""
        plus = sum_by(self.left, values, self.n_items)
        return plus - sum_by(self.right, values, self.n_items)

    @cached_property
    def _structure(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Row starts and columns of the symmetric matrix of pairs, and where its entries are."""
        rows = np.concatenate([self.first, self.second])
        columns = np.concatenate([self.second, self.first])
        order = np.lexsort([columns, rows])
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.n_items))])
        return starts.astype(np.int32), columns[order].astype(np.int32), order % self.n_pairs

    def system(self, weights: Floats, ridge: float) -> System:
        """Build the Laplacian of weighted comparisons, plus a ridge.

        Parameters
        ----------
        weights : array [L]
            The weight of each comparison, 0 or above.
        ridge : float
            What is added to the diagonal, above 0.

        Returns
        -------
        System
            Solves equations and gives variances.
        """
        starts, columns, order = self._structure
        by_pair = sum_by(self.pair, weights, self.n_pairs)
        entries = by_pair[order]
        shape = (self.n_items, self.n_items)
        neighbours = sparse.csr_array((entries, columns, starts), shape=shape)
        degree = sum_by(self.first, by_pair, self.n_items)
        degree += sum_by(self.second, by_pair, self.n_items)
        return System(
            graph=self,
            pair_weights=by_pair,
            neighbours=neighbours,
            diagonal=degree + ridge,
            ridge=ridge,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """A symmetric, positive system of equations between items: a Laplacian plus a ridge.

    Parameters
    ----------
    graph : PairGraph
        Whose Laplacian it is.
    pair_weights : array [P]
        The weight of each pair.
    neighbours : sparse array [N, N]
        The weights as a symmetric matrix.
    diagonal : array [N]
        The sum of each item's weights, plus the ridge.
    ridge : float
        What was added to the diagonal.
    lost : array [N, N], optional
        What other unknowns explain, to be subtracted; only where there are few items.
    """

    graph: PairGraph
    pair_weights: Floats
    neighbours: sparse.csr_array
    diagonal: Floats
    ridge: float
    lost: Floats | None = None

    @property
    def is_dense(self) -> bool:
        """Whether there are so few items that covariances are exact and complete."""
        return self.graph.n_items <= MAX_DENSE_ITEMS

    def minus(self, lost: sparse.csr_array) -> System:
        """Return the system without what other unknowns explain [N, N]; for few items."""
        return replace(self, lost=lost.toarray())

    def relative_size(self, move: Floats) -> float:
        """Return the mean size of a step [N], in standard errors that the others' scores leave."""
        return float(np.sqrt(np.mean(move * move * self.diagonal)))

    @cached_property
    def _factor(self) -> tuple[Floats, bool]:
        matrix = np.diag(self.diagonal) - self.neighbours.toarray()
        if self.lost is not None:
            matrix -= self.lost
        factor, lower = linalg.cho_factor(matrix, lower=True)
        return factor, lower

    def solve(self, right_side: Floats, tolerance: float = 1e-4) -> Floats:
        """Solve for one or several right sides [N] or [N, S].

        Parameters
        ----------
        right_side : array
            What the system is to yield.
        tolerance : float
            The error allowed, as a share of the right side; exact where there are few items.

        Returns
        -------
        array
            In the shape of the right side.
        """
        if self.is_dense:
            solution: Floats = linalg.cho_solve(self._factor, right_side)
            return solution
        columns = right_side if right_side.ndim > 1 else right_side[:, None]
        return self._conjugate_gradients(columns, tolerance).reshape(right_side.shape)

    def _conjugate_gradients(self, right_side: Floats, tolerance: float) -> Floats:
        diagonal = self.diagonal[:, None]
        solution = np.zeros_like(right_side)
        residual = right_side.copy()
        scaled = residual / diagonal
        direction = scaled.copy()
        size = (residual * scaled).sum(0)
        goal = tolerance**2 * np.maximum(size, np.finfo(float).tiny)
        for _ in range(MAX_SOLVER_STEPS):
            image = diagonal * direction - self.neighbours @ direction
            length = size / np.maximum((direction * image).sum(0), np.finfo(float).tiny)
            solution += length * direction
            residual -= length * image
            scaled = residual / diagonal
            before, size = size, (residual * scaled).sum(0)
            if (size <= goal).all():
                break
            direction *= size / np.maximum(before, np.finfo(float).tiny)
            direction += scaled
        return solution

    def covariance(self) -> Floats:
        """Invert the system [N, N]; only where there are few items."""
        return self.solve(np.eye(self.graph.n_items))

    def variances(self, rng: np.random.Generator) -> Floats:
        """Return the diagonal of the inverse [N]; for many items from draws, within a few percent.

        Given all others, an item's variance is one over its diagonal entry. Draws only tell what
        the others add to it, which is the smaller part where items have several neighbours.

        Parameters
        ----------
        rng : numpy.random.Generator
            From which draws come.

        Returns
        -------
        array [N]
        """
        if self.is_dense:
            return np.diag(self.covariance()).copy()
        n = self.graph.n_items
        draws = int(np.clip(DRAW_NUMBERS // n, MIN_DRAWS, MAX_DRAWS)) // DRAWS_AT_ONCE
        squares = np.zeros(n)
        for _ in range(draws):
            from_others = (self.neighbours @ self._draw(rng)) / self.diagonal[:, None]
            squares += (from_others**2).sum(1)
        return 1 / self.diagonal + squares / (draws * DRAWS_AT_ONCE)

    def _draw(self, rng: np.random.Generator) -> Floats:
        """Draw from the normal distribution whose precision the system is [N, DRAWS_AT_ONCE]."""
        graph, size = self.graph, DRAWS_AT_ONCE
        noise = rng.standard_normal((graph.n_pairs, size))
        noise *= np.sqrt(self.pair_weights)[:, None]
        right_side = np.sqrt(self.ridge) * rng.standard_normal((graph.n_items, size))
        for column in range(size):
            right_side[:, column] += np.bincount(graph.first, noise[:, column], graph.n_items)
            right_side[:, column] -= np.bincount(graph.second, noise[:, column], graph.n_items)
        return self.solve(right_side, tolerance=1e-2)
