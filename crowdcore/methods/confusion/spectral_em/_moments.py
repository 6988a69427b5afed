"""Confusion matrices from moments alone: three groups of workers and a tensor (Zhang et al. 2014).

The mean answer of a group is, given the truth, independent of the other groups' answers. So the
moments across groups are sums over the classes of products of the groups' confusion columns,
and the tensor power method takes such sums apart. All matrices here are [given, true].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.data import CrowdData, Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_ITEMS_PER_CLASS = 10
"""Items labelled by all three groups below which moments are noise."""

MIN_SINGULAR_RATIO = 1e-3
"""A matrix whose smallest singular value is a smaller share of its largest is not inverted."""

POWER_ITERATIONS = 200
NUMBERS_PER_CHUNK = 4_000_000
"""Numbers that are multiplied together."""


class NotValidError(ValueError):
    """The moments do not have the form that the model gives them; the text says where."""


def group(data: CrowdData) -> NDArray[np.int64]:
    """Deal the workers [W] into three groups of like size, from the busiest to the laziest.

    Workers who are equally busy are ordered by how often others agree with them, so that
    names play no part.
    """
    votes = data.votes[data.item, data.label].astype(np.float64)
    agreed = np.bincount(data.worker, votes, minlength=data.n_workers)
    order = np.lexsort((agreed, data.labels_per_worker))[::-1]
    turns = np.array([0, 1, 2, 2, 1, 0])
    groups = np.empty(data.n_workers, np.int64)
    groups[order] = turns[np.arange(data.n_workers) % len(turns)]
    return groups


def decompose(shares: Floats) -> tuple[Floats, Floats]:
    """From the groups' vote shares [3, N, K]: their matrices [3, given, true] and the prior [K]."""
    n_items, n_classes = shares.shape[1:]
    if n_items < MIN_ITEMS_PER_CLASS * n_classes:
        raise NotValidError(f"only {n_items} items were labelled by all three groups of workers")
    groups = [_columns(shares[[a, b, c]]) for a, b, c in ((1, 2, 0), (2, 0, 1), (0, 1, 2))]
    matrices = np.stack([matrix for matrix, _ in groups])
    prior = np.mean([weight for _, weight in groups], axis=0)
    return matrices, prior / prior.sum()


def _columns(shares: Floats) -> tuple[Floats, Floats]:
    """The columns of group c, and the class weights, from groups (a, b, c) [3, N, K]."""
    a, b, c = shares
    n = len(a)
    ab, cb, ca = a.T @ b / n, c.T @ b / n, c.T @ a / n
    a = a @ (cb @ _inverse(ab)).T  # eq. 2a: answers of a, as c would have given them
    b = b @ (ca @ _inverse(ab.T)).T  # eq. 2b
    second = a.T @ b / n  # eq. 2c
    values, vectors = np.linalg.eigh((second + second.T) / 2)
    if values[0] < MIN_SINGULAR_RATIO * values[-1]:
        raise NotValidError("the second moments are not positive definite")
    # The symmetric root: unlike other whitenings it turns with the order of the classes.
    white = (vectors / np.sqrt(values)) @ vectors.T
    third = _third_moment(a @ white, b @ white, c @ white)  # eq. 2d, whitened
    sizes, vectors = _power_method(third, white)
    columns = np.linalg.inv(white) @ (vectors * sizes)  # [given, component]
    owner = columns.argmax(0)
    if len(set(owner.tolist())) < len(owner):
        raise NotValidError("two components belong to the same class")
    matrix, weight = np.empty_like(columns), np.empty(len(owner))
    matrix[:, owner], weight[owner] = columns, sizes**-2.0
    return matrix, weight


def _third_moment(a: Floats, b: Floats, c: Floats) -> Floats:
    """The mean of a (x) b (x) c over items [K, K, K], made symmetric."""
    n, k = a.shape
    total = np.zeros((k, k * k))
    step = max(1, NUMBERS_PER_CHUNK // (k * k))
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        total += a[rows].T @ (b[rows, :, None] * c[rows, None, :]).reshape(-1, k * k)
    third = (total / n).reshape(k, k, k)
    turns = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    mean: Floats = np.mean([third.transpose(turn) for turn in turns], axis=0)
    return mean


def _power_method(tensor: Floats, starts: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues [K] and eigenvectors [K, component], the largest first, by deflation.

    Every class is a start: its column of the whitening is where a perfect crowd would end.
    """
    sizes, vectors = [], []
    for _ in range(len(tensor)):
        tries: NDArray[np.floating] = starts / np.linalg.norm(starts, axis=0)
        for _ in range(POWER_ITERATIONS):
            tries = np.einsum("ijk,js,ks->is", tensor, tries, tries)
            tries = tries / np.maximum(np.linalg.norm(tries, axis=0), 1e-300)
        values = np.einsum("ijk,is,js,ks->s", tensor, tries, tries, tries)
        best = int(values.argmax())
        if not values[best] > 0:
            raise NotValidError("the third moments have too few components")
        size, vector = float(values[best]), tries[:, best]
        tensor = tensor - size * np.einsum("i,j,k->ijk", vector, vector, vector)
        sizes.append(size)
        vectors.append(vector)
    return np.array(sizes), np.stack(vectors, 1)


def _inverse(matrix: Floats) -> Floats:
    sizes = np.linalg.svd(matrix, compute_uv=False)
    if sizes[-1] < MIN_SINGULAR_RATIO * sizes[0]:
        raise NotValidError("two groups' answers hardly depend on each other")
    return np.linalg.inv(matrix).astype(np.float64)


def worker_confusions(
    joint: Floats, groups: NDArray[np.int64], matrices: Floats, prior: Floats
) -> Floats:
    """Each worker's matrix [W, true, given], from their answers beside each group's (eq. 3).

    `joint` [3, W, given, K] sums the groups' vote shares over the items that a worker gave
    each class. A worker's own group is left out, for its mean holds their own answer.
    """
    n_workers, n_classes = joint.shape[1:3]
    total = np.zeros((n_workers, n_classes, n_classes))  # [W, given, true]
    for number, matrix in enumerate(matrices):
        solved = joint[number] @ _inverse(prior[:, None] * matrix.T)
        total += np.where((groups != number)[:, None, None], solved, 0)
    total = np.clip(total, 0, None).transpose(0, 2, 1)
    size = total.sum(2, keepdims=True)
    rows: Floats = np.divide(total, size, out=np.full_like(total, 1 / n_classes), where=size > 0)
    return rows
