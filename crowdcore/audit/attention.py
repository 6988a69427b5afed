"""Attention made readable: weights against an even share, who stands out, and in which order.

A weight of 1 is an even share: what every node gets where the method makes no difference. Rows
are made in blocks and nothing is kept of nodes × nodes; of a large side a seeded sample looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.artefacts.attention import WEIGHTS_PER_CHUNK, AttentionMap, Side
from crowdcore.data import CrowdData, Floats

Nodes = NDArray[np.int64]

MAX_WEIGHTS = 20_000_000
"""Weights that are computed for one overview: a second or two."""

MAX_EVEN_WEIGHT = 1.15
"""Weights up to this multiple of an even share are as good as even."""

MIN_VARIANCE = 1e-12
"""A variance of weights below this is only rounding."""

MIN_WEIGHT = 1e-3
"""Weights below a thousandth of an even share are all the same when nodes are put in order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """What a side's attention looks like as a whole."""

    received: Floats  # [n] mean weight that others give a node
    peak: Floats  # [n] the largest weight of any link of a node, given or received
    reach: float  # to how many nodes a node's attention amounts, on the whole
    n_sampled: int  # how many nodes' rows this is made of

    @property
    def is_even(self) -> bool:
        """Whether no link weighs noticeably more than an even share."""
        return bool(self.peak.max(initial=0) < MAX_EVEN_WEIGHT)


@dataclass(frozen=True, kw_only=True, eq=False)
class Links:
    """The strongest links of one node, or between two groups; weights against an even share."""

    source: Nodes  # who looks
    target: Nodes  # who is looked at
    weight: Floats


def relative_weights(
    attention: AttentionMap,
    side: Side,
    sources: Sequence[int] | Nodes,
    targets: Sequence[int] | Nodes | None = None,
) -> Floats:
    """Return weights as multiples of an even share.

    Parameters
    ----------
    attention
        What a method left.
    side
        Workers or items.
    sources
        Who looks [m].
    targets
        Who is looked at [c]; all nodes of the side if None.

    Returns
    -------
    numpy.ndarray
        Weights [m, c]; 1 is an even share.
    """
    sources = np.asarray(sources, np.int64)
    n = len(attention.key[side])
    targets = np.arange(n) if targets is None else np.asarray(targets, np.int64)
    if attention.neighbourhood == "full":
        return n * attention.block(side, sources, targets)
    weights = np.empty((len(sources), len(targets)))
    step = max(1, WEIGHTS_PER_CHUNK // n)
    for start in range(0, len(sources), step):  # an even share among neighbours, who differ
        chunk = slice(start, start + step)
        rows = attention.rows(side, sources[chunk])
        weights[chunk] = ((rows > 0).sum(1, keepdims=True) * rows)[:, targets]
    return weights


def survey(attention: AttentionMap, side: Side, *, seed: int = 0) -> Survey:
    """Go over the rows of a side, or over a sample where there are very many.

    Parameters
    ----------
    attention
        What a method left.
    side
        Workers or items.
    seed
        Of the sample.
    """
    n = len(attention.key[side])
    sources = _sample(np.arange(n), MAX_WEIGHTS // n, seed)
    total, n_rows, peak, entropy = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
    for nodes, rows in _blocks(attention, side, sources):
        share = rows / rows.sum(1, keepdims=True)
        entropy -= float((share * np.log(np.maximum(share, 1e-300))).sum())
        rows[np.arange(len(nodes)), nodes] = 0  # what a node gives itself is no link
        total += rows.sum(0)
        n_rows += len(nodes)
        n_rows[nodes] -= 1
        np.maximum(peak, rows.max(0), out=peak)
        peak[nodes] = np.maximum(peak[nodes], rows.max(1))
    return Survey(
        received=total / np.maximum(n_rows, 1),
        peak=peak,
        reach=float(np.exp(entropy / len(sources))),
        n_sampled=len(sources),
    )


def common_share(weights: Floats) -> float:
    """Tell how much of what links differ by is the same in every row.

    Near 1 the weights say who is looked at, by everyone, and not who belongs together.

    Parameters
    ----------
    weights
        Weights [m, m]; NaN is none.

    Returns
    -------
    float
        The share of the variance of log weights that their columns explain; 1 if all rows are
        alike.
    """
    m = len(weights)
    is_link = ~np.eye(m, dtype=bool)
    logs = np.log(np.maximum(np.nan_to_num(weights), MIN_WEIGHT))
    columns = np.where(is_link, logs, 0).sum(0) / max(1, m - 1)
    variance = float(logs[is_link].var()) if m > 1 else 0.0
    if variance <= MIN_VARIANCE:
        return 1.0
    return 1 - float((logs - columns)[is_link].var()) / variance


def strongest_links(
    attention: AttentionMap,
    side: Side,
    source: int,
    *,
    max_links: int,
    among: NDArray[np.bool_] | None = None,
) -> Links:
    """List the nodes that one node looks at most, itself left out.

    Parameters
    ----------
    attention
        What a method left.
    side
        Workers or items.
    source
        Who looks.
    max_links
        How many links to list.
    among
        A mask [n] of the nodes that may be listed; None for all.
    """
    weight = relative_weights(attention, side, [source])[0]
    allowed = weight > 0
    allowed[source] = False
    if among is not None:
        allowed &= among
    targets = np.flatnonzero(allowed)
    targets = targets[np.argsort(-weight[targets], kind="stable")[:max_links]]
    return Links(source=np.full(len(targets), source), target=targets, weight=weight[targets])


def links_between(
    attention: AttentionMap,
    side: Side,
    sources: Nodes,
    targets: Nodes,
    *,
    max_links: int,
    seed: int = 0,
) -> Links:
    """List the strongest links from one group of nodes to another.

    Parameters
    ----------
    attention
        What a method left.
    side
        Workers or items.
    sources, targets
        Who looks, and who is looked at; of many sources a sample looks.
    max_links
        How many links to list.
    seed
        Of the sample.
    """
    per_block: list[tuple[Nodes, Nodes, Floats]] = []
    n = len(attention.key[side])
    for nodes, rows in _blocks(attention, side, _sample(sources, MAX_WEIGHTS // n, seed)):
        rows[np.arange(len(nodes)), nodes] = 0
        weights = rows[:, targets].ravel()
        top = np.sort(np.argpartition(-weights, min(max_links, len(weights)) - 1)[:max_links])
        row, column = np.divmod(top, len(targets))
        per_block.append((nodes[row], targets[column], weights[top]))
    source, target, weight = (np.concatenate(blocks) for blocks in zip(*per_block, strict=True))
    top = np.argsort(-weight, kind="stable")[:max_links]
    top = top[weight[top] > 0]
    return Links(source=source[top], target=target[top], weight=weight[top])


def group_means(
    attention: AttentionMap, side: Side, group: NDArray[Any], n_groups: int, *, seed: int = 0
) -> Floats:
    """Average the weights between groups of nodes.

    Parameters
    ----------
    attention
        What a method left.
    side
        Workers or items.
    group
        Each node's group [n]; below 0 it has none.
    n_groups
        How many groups there are. Of large ones a sample looks, at all nodes.
    seed
        Of the samples.

    Returns
    -------
    numpy.ndarray
        Mean weights [looking, looked at]; NaN for an empty group.
    """
    n = len(group)
    size = np.bincount(group[group >= 0], minlength=n_groups)
    means = np.full((n_groups, n_groups), np.nan)
    columns = np.where(group >= 0, group, n_groups)
    for code in np.flatnonzero(size):
        sums, n_links = np.zeros(n_groups + 1), np.zeros(n_groups + 1)
        sources = _sample(np.flatnonzero(group == code), MAX_WEIGHTS // (n * n_groups), seed)
        for nodes, rows in _blocks(attention, side, sources):
            rows[np.arange(len(nodes)), nodes] = 0
            sums += np.bincount(columns, weights=rows.sum(0), minlength=n_groups + 1)
            n_links += len(nodes) * np.append(size, 0)
        n_links[code] -= len(sources)  # nobody is linked to themselves
        np.divide(sums[:-1], n_links[:-1], out=means[code], where=n_links[:-1] > 0)
    return means


def seriation(weights: Floats) -> Nodes:
    """Order nodes so that alike ones stand together: clustering, with the best order of leaves.

    Parameters
    ----------
    weights
        Weights [m, m]; NaN is none. Nodes are alike where they give and get alike weights.

    Returns
    -------
    numpy.ndarray
        The order [m].
    """
    m = len(weights)
    if m < 3:  # noqa: PLR2004  (any order of two is as good)
        return np.arange(m)
    from scipy.cluster.hierarchy import leaves_list, linkage

    logs = np.log(np.maximum(np.nan_to_num(weights), MIN_WEIGHT))
    # A node's weight of itself would set it apart from those it belongs to.
    np.fill_diagonal(logs, -np.inf)
    np.fill_diagonal(logs, np.maximum(logs.max(0), logs.max(1)))
    tree = linkage(np.hstack([logs, logs.T]), "average", optimal_ordering=True)
    order: Nodes = leaves_list(tree).astype(np.int64)
    return order


def label_weights(attention: AttentionMap, side: Side, node: int) -> pd.DataFrame:
    """Tell how much each label of a worker, or of an item, weighs among its labels.

    Parameters
    ----------
    attention
        What a method left.
    side
        Whether the node is a worker or an item.
    node
        Its code.

    Returns
    -------
    pandas.DataFrame
        One row per label, the heaviest first. Columns: item, worker, label (codes), share (of the
        node's attention), weight (against an even share). Empty where the method does not weigh
        labels, or filled some in before.
    """
    data = attention.data
    owner, shares = (
        (data.worker, attention.of_worker) if side == "workers" else (data.item, attention.of_item)
    )
    if shares is None or len(shares) != data.n_labels:
        owner, shares = np.zeros(0, np.int64), np.zeros(0)
    rows = np.flatnonzero(owner == node)
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
    """Count the workers who labelled both an item and others.

    Parameters
    ----------
    data
        The labels.
    item
        The item's code.
    others
        Codes of other items [c].

    Returns
    -------
    n_shared
        How many workers labelled the item and each other one [c].
    n_same
        How many of them gave both the same label [c].
    """
    label = np.full(data.n_workers, -1, np.int64)
    on_item = data.item == item
    label[data.worker[on_item]] = data.label[on_item]
    position = np.full(data.n_items, -1, np.int64)
    position[others] = np.arange(len(others))
    rows = (position[data.item] >= 0) & (label[data.worker] >= 0)
    other, is_same = position[data.item[rows]], label[data.worker[rows]] == data.label[rows]
    n_shared = np.bincount(other, minlength=len(others))
    return n_shared, np.bincount(other[is_same], minlength=len(others))


def _blocks(attention: AttentionMap, side: Side, nodes: Nodes) -> Iterator[tuple[Nodes, Floats]]:
    """Some nodes' weights to all, a block of rows at a time."""
    step = max(1, WEIGHTS_PER_CHUNK // len(attention.key[side]))
    for start in range(0, len(nodes), step):
        block = nodes[start : start + step]
        yield block, relative_weights(attention, side, block)


def _sample(nodes: Nodes, max_nodes: int, seed: int) -> Nodes:
    """At least one and at most so many of some nodes, in order."""
    if len(nodes) <= max(1, max_nodes):
        return nodes
    rng = np.random.default_rng(seed)
    drawn: Nodes = np.sort(rng.choice(nodes, max(1, max_nodes), replace=False))
    return drawn
