"""Attention made readable: weights against an even share, who stands out, and in which order.

A weight of 1 is an even share: what every node gets where the method makes no difference. Rows
are made in blocks and nothing is kept of nodes × nodes; of a large side a seeded sample looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.attention import AT_ONCE, AttentionMap, Side
from crowdcore.data import CrowdData, Floats

if TYPE_CHECKING:
    import pandas as pd

Nodes = NDArray[np.int64]

MOST_WEIGHTS = 20_000_000
"""Weights that are computed for one overview: a second or two."""

EVEN = 1.15
"""Weights up to this multiple of an even share are as good as even."""

TINY = 1e-12
"""A spread of weights that is only rounding."""

LEAST_WEIGHT = 1e-3
"""Weights below a thousandth of an even share are all the same when nodes are put in order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """What a side's attention looks like as a whole."""

    received: Floats  # [n] mean weight that others give a node
    peak: Floats  # [n] the largest weight of any link of a node, given or received
    reach: float  # to how many nodes a node's attention amounts, on the whole
    looked: int  # how many nodes' rows this is made of

    @property
    def is_even(self) -> bool:
        """Whether no link weighs noticeably more than an even share."""
        return bool(self.peak.max(initial=0) < EVEN)


@dataclass(frozen=True, kw_only=True, eq=False)
class Links:
    """The strongest links of one node, or between two groups; weights against an even share."""

    node: Nodes
    other: Nodes
    weight: Floats


def relative(
    attention: AttentionMap, side: Side, nodes: Sequence[int] | Nodes, others: Any = None
) -> Floats:
    """The weights of some nodes to some others, or to all [m, c], as multiples of an even share."""
    nodes = np.asarray(nodes, np.int64)
    n = len(attention.key[side])
    others = np.arange(n) if others is None else np.asarray(others, np.int64)
    if attention.neighbourhood == "full":
        return n * attention.block(side, nodes, others)
    found = np.empty((len(nodes), len(others)))
    step = max(1, AT_ONCE // n)
    for at in range(0, len(nodes), step):  # an even share among the neighbours, who differ
        rows = attention.rows(side, nodes[at : at + step])
        found[at : at + step] = ((rows > 0).sum(1, keepdims=True) * rows)[:, others]
    return found


def survey(attention: AttentionMap, side: Side, *, seed: int = 0) -> Survey:
    """Go over the rows of a side, or over a sample where there are very many."""
    n = len(attention.key[side])
    looking = _sample(np.arange(n), MOST_WEIGHTS // n, seed)
    total, seen, peak, entropy = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
    for nodes, rows in _blocks(attention, side, looking):
        share = rows / rows.sum(1, keepdims=True)
        entropy -= float((share * np.log(np.maximum(share, 1e-300))).sum())
        rows[np.arange(len(nodes)), nodes] = 0  # what a node gives itself is no link
        total += rows.sum(0)
        seen += len(nodes)
        seen[nodes] -= 1
        np.maximum(peak, rows.max(0), out=peak)
        peak[nodes] = np.maximum(peak[nodes], rows.max(1))
    return Survey(
        received=total / np.maximum(seen, 1),
        peak=peak,
        reach=float(np.exp(entropy / len(looking))),
        looked=len(looking),
    )


def common_share(weights: Floats) -> float:
    """How much of what links [m, m] differ by is the same in every row; 1 if all rows are alike.

    Near 1 the weights say who is looked at, by everyone, and not who belongs together.
    """
    m = len(weights)
    off = ~np.eye(m, dtype=bool)
    logs = np.log(np.maximum(np.nan_to_num(weights), LEAST_WEIGHT))
    columns = np.where(off, logs, 0).sum(0) / max(1, m - 1)
    spread = float(logs[off].var()) if m > 1 else 0.0
    return 1 - float((logs - columns)[off].var()) / spread if spread > TINY else 1.0


def strongest(
    attention: AttentionMap, side: Side, node: int, *, most: int, among: Any = None
) -> Links:
    """The nodes that one node looks at most, itself left out; `among` is a mask [n]."""
    weight = relative(attention, side, [node])[0]
    allowed = weight > 0
    allowed[node] = False
    if among is not None:
        allowed &= among
    others = np.flatnonzero(allowed)
    others = others[np.argsort(-weight[others], kind="stable")[:most]]
    return Links(node=np.full(len(others), node), other=others, weight=weight[others])


def between(
    attention: AttentionMap, side: Side, ones: Nodes, others: Nodes, *, most: int, seed: int = 0
) -> Links:
    """The strongest links from one group to another; of many nodes a sample looks."""
    found: list[tuple[Nodes, Nodes, Floats]] = []
    n = len(attention.key[side])
    for nodes, rows in _blocks(attention, side, _sample(ones, MOST_WEIGHTS // n, seed)):
        rows[np.arange(len(nodes)), nodes] = 0
        part = rows[:, others].ravel()
        top = np.sort(np.argpartition(-part, min(most, len(part)) - 1)[:most])
        row, column = np.divmod(top, len(others))
        found.append((nodes[row], others[column], part[top]))
    node, other, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    top = np.argsort(-weight, kind="stable")[:most]
    top = top[weight[top] > 0]
    return Links(node=node[top], other=other[top], weight=weight[top])


def group_means(
    attention: AttentionMap, side: Side, group: NDArray[Any], n_groups: int, *, seed: int = 0
) -> Floats:
    """The mean weight between groups of nodes [looking, looked at]; NaN for an empty group.

    A group code below 0 is none. Of large groups a sample looks, at all nodes.
    """
    n = len(group)
    size = np.bincount(group[group >= 0], minlength=n_groups)
    means = np.full((n_groups, n_groups), np.nan)
    columns = np.where(group >= 0, group, n_groups)
    for one in np.flatnonzero(size):
        sums, links = np.zeros(n_groups + 1), np.zeros(n_groups + 1)
        looking = _sample(np.flatnonzero(group == one), MOST_WEIGHTS // (n * n_groups), seed)
        for nodes, rows in _blocks(attention, side, looking):
            rows[np.arange(len(nodes)), nodes] = 0
            sums += np.bincount(columns, weights=rows.sum(0), minlength=n_groups + 1)
            links += len(nodes) * np.append(size, 0)
        links[one] -= len(looking)  # nobody is linked to themselves
        np.divide(sums[:-1], links[:-1], out=means[one], where=links[:-1] > 0)
    return means


def seriation(weights: Floats) -> Nodes:
    """An order [m] in which alike nodes stand together: clustering, with the best order of leaves.

    Nodes are alike where they give and get alike weights [m, m]; NaN is none.
    """
    m = len(weights)
    if m < 3:  # noqa: PLR2004  (any order of two is as good)
        return np.arange(m)
    from scipy.cluster.hierarchy import leaves_list, linkage

    filled = np.log(np.maximum(np.nan_to_num(weights), LEAST_WEIGHT))
    # A node's weight of itself would set it apart from those it belongs to.
    np.fill_diagonal(filled, -np.inf)
    np.fill_diagonal(filled, np.maximum(filled.max(0), filled.max(1)))
    tree = linkage(np.hstack([filled, filled.T]), "average", optimal_ordering=True)
    order: Nodes = leaves_list(tree).astype(np.int64)
    return order


def label_weights(attention: AttentionMap, of: Side, node: int) -> pd.DataFrame:
    """How much each label of a worker, or of an item, weighs among its labels; heaviest first.

    Columns: item, worker, label (codes), share (of the node's attention), weight (against an
    even share). Empty where the method does not weigh labels, or filled some in before.
    """
    import pandas as pd

    data = attention.data
    own, shares = (
        (data.worker, attention.of_worker) if of == "workers" else (data.item, attention.of_item)
    )
    if shares is None or len(shares) != data.n_labels:
        own, shares = np.zeros(0, np.int64), np.zeros(0)
    rows = np.flatnonzero(own == node)
    share = np.asarray(shares, np.float64)[rows]
    frame = pd.DataFrame(
        {
            "item": data.item[rows],
            "worker": data.worker[rows],
            "label": data.label[rows],
            "share": share,
            "weight": share * len(rows),
        }
    )
    return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def common_workers(data: CrowdData, item: int, others: Nodes) -> tuple[Nodes, Nodes]:
    """How many workers labelled both an item and each other one, and how many said the same."""
    said = np.full(data.n_workers, -1, np.int64)
    own = data.item == item
    said[data.worker[own]] = data.label[own]
    place = np.full(data.n_items, -1, np.int64)
    place[others] = np.arange(len(others))
    met = (place[data.item] >= 0) & (said[data.worker] >= 0)
    at, same = place[data.item[met]], said[data.worker[met]] == data.label[met]
    shared = np.bincount(at, minlength=len(others))
    return shared, np.bincount(at[same], minlength=len(others))


def _blocks(attention: AttentionMap, side: Side, nodes: Nodes) -> Iterator[tuple[Nodes, Floats]]:
    """Some nodes' weights to all, a block of rows at a time."""
    step = max(1, AT_ONCE // len(attention.key[side]))
    for at in range(0, len(nodes), step):
        part = nodes[at : at + step]
        yield part, relative(attention, side, part)


def _sample(nodes: Nodes, most: int, seed: int) -> Nodes:
    """At least one and at most so many of some nodes, in order."""
    if len(nodes) <= max(1, most):
        return nodes
    rng = np.random.default_rng(seed)
    drawn: Nodes = np.sort(rng.choice(nodes, max(1, most), replace=False))
    return drawn
