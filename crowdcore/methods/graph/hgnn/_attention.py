"""Attention of nodes to nodes: all pairs exactly in O(n log n), and the forms over fewer pairs.

Additive scores are φ(query_i + key_j), φ being the leaky ReLU of some slope; queries and keys
are [n]. Dot scores are query_i . key_j; queries and keys are [n, d], already scaled. A node's
answer is the mean of the values [n, d], weighed by the softmax of its scores. A node may stand
for several that are all alike; `copies` [n] says for how many, and each of them is attended to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

NUMBERS_PER_CHUNK = 262_144
"""Numbers that are summed together, so few that they stay in the processor's cache."""

SCORES_PER_CHUNK = 32_000_000
"""Scores that are in memory together where pairs are taken one by one."""


def full(
    query: Tensor, key: Tensor, value: Tensor, slope: float = 0.0, copies: Tensor | None = None
) -> Tensor:
    """Attend to all nodes [n, d]; never makes the n × n weights."""
    if query.dim() > 1:
        return _dot(query, key, value, None if copies is None else copies.log().unsqueeze(0))
    attended: Tensor = _Additive.apply(query, key, value, slope, copies)  # type: ignore[no-untyped-call]
    return attended


def within(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor,
    slope: float = 0.0,
    *,
    copies: Tensor | None = None,
) -> Tensor:
    """Attend to the allowed nodes [n, n] only; every node must be allowed some."""
    # A key's copies multiply its weight.
    log_copies = value.new_zeros(len(key)) if copies is None else copies.log()

    def attend(query: Tensor, allowed: Tensor, key: Tensor, value: Tensor) -> Tensor:
        mask = torch.where(allowed, log_copies, -torch.inf)
        if query.dim() > 1:
            return _dot(query, key, value, mask)
        return (_scores(query, key, slope) + mask).softmax(1) @ value

    step = max(1, SCORES_PER_CHUNK // len(key))
    if step >= len(query):
        return attend(query, allowed, key, value)
    # Recomputed in the backward pass, so that memory stays bounded.
    chunks = [
        checkpoint(attend, *chunk, key, value, use_reentrant=False, preserve_rng_state=False)
        for chunk in zip(torch.split(query, step), torch.split(allowed, step), strict=True)
    ]
    return torch.cat(chunks)


def _dot(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention by dot products, to which a mask [1 or n, n] is added."""
    q, k, v = (rows.unsqueeze(0).unsqueeze(0) for rows in (query, key, value))  # one head
    attended = scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0)
    return attended.squeeze(0).squeeze(0)


def sampled(
    query: Tensor, key: Tensor, value: Tensor, chosen: Tensor, slope: float = 0.0
) -> Tensor:
    """Attend to some chosen nodes [m] and, every node, to itself."""
    node = torch.arange(len(key), device=key.device).unsqueeze(1)
    scores = _scores(query, key.index_select(0, chosen), slope)
    scores = scores.masked_fill(node == chosen, -torch.inf)  # itself counts once
    self_score = query * key if query.dim() > 1 else leaky_relu(query + key, slope).unsqueeze(1)
    weight = torch.cat([scores, self_score.sum(1, keepdim=True)], 1).softmax(1)  # [n, m + 1]
    chosen_weight, self_weight = torch.split(weight, [len(chosen), 1], 1)
    return chosen_weight @ value.index_select(0, chosen) + self_weight * value


def _scores(query: Tensor, key: Tensor, slope: float) -> Tensor:
    if query.dim() == 1:
        return leaky_relu(query.unsqueeze(1) + key, slope)
    return query @ key.T


class _Additive(torch.autograd.Function):
    """Additive attention to all nodes, by sums over sorted keys.

    The exponent splits where key_j = -query_i: keys above contribute e^query_i e^key_j, the
    others e^(slope query_i) e^(slope key_j). Suffix sums over the sorted keys hold the first
    kind for every split, prefix sums the second. With the largest key subtracted every sum and
    factor is at most the number of nodes, and a row's total is at least 1: nothing overflows,
    and what underflows is nothing beside the total. Each sum runs from its own end, never by
    subtraction, in float64. The gradient is made of the same sums, over sorted queries.

    Queries and keys are sorted once, and their tables with them, so that all else walks
    through memory in order.
    """

    @staticmethod
    def forward(  # noqa: PLR0917  (autograd passes no names)
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, slope: float, copies: Tensor | None
    ) -> Tensor:
        (query_order, q), (key_order, k) = _sorted(query), _sorted(key)
        top = k.amax()
        sums, up, down = _SplitSums(k, q), (k - top).exp(), (slope * (k - top)).exp()
        if copies is not None:
            counts = copies.index_select(0, key_order)
            up, down = up * counts, down * counts
        damp = (q + top).clamp(min=0).mul(slope - 1).exp()  # [n]
        above, below = sums(up, down)
        size = above + below * damp
        share = above / size  # of the weight, above the split
        columns = _transposed(value.index_select(0, key_order))  # [d, n]
        means, pulls = [], []
        for (chunk,) in _in_cache(columns):
            above, below = sums(chunk * up, chunk * down)
            above /= size
            total = below.mul_(damp).div_(size).add_(above)
            means.append(total.to(value.dtype))
            # How far those above the split pull the mean: the derivative by the query.
            pulls.append((above - total * share).to(value.dtype))
        answer, pull = torch.cat(means), torch.cat(pulls)  # [d, n]
        ctx.slope = slope
        ctx.save_for_backward(
            query_order, key_order, q, k, columns, answer, pull, size, damp, up, down
        )
        return _unsorted(query_order, _transposed(answer))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        query_order, key_order, q, k, columns, answer, pull, size, damp, up, down = (
            ctx.saved_tensors
        )
        grad = _transposed(grads[0].index_select(0, query_order))  # [d, n]
        sums, over, under = _SplitSums(q, k), size.reciprocal(), damp / size
        query_grad = torch.zeros_like(q)
        inner = torch.zeros_like(q)
        for chunk, mean, chunk_pull in _in_cache(grad, answer, pull):
            query_grad += (chunk * chunk_pull).sum(0, dtype=torch.float64)
            inner += (chunk * mean).sum(0, dtype=torch.float64)
        above, below = sums(inner * over, inner * under)
        key_grad = -(above * up + ctx.slope * below * down)
        dtype, value_grads = grads[0].dtype, []
        for chunk, values in _in_cache(grad, columns):
            above, below = sums(chunk * over, chunk * under)
            above *= up
            below *= down
            value_grads.append((above + below).to(dtype))
            key_grad += above.add_(below, alpha=ctx.slope).mul_(values).sum(0)
        return (
            _unsorted(query_order, query_grad.mul_(1 - ctx.slope).to(dtype)),
            _unsorted(key_order, key_grad.to(dtype)),
            _unsorted(key_order, _transposed(torch.cat(value_grads))),
            None,
            None,
        )


class _SplitSums:
    """Sums over sorted values above and below the splits at minus some other sorted values."""

    def __init__(self, values: Tensor, splits: Tensor) -> None:
        below = torch.searchsorted(values, -splits, right=True)  # [m] values not above
        counts = len(values) - below, below
        self.last = [(count - 1).clamp(min=0) for count in counts]
        self.any = [(count > 0).double() for count in counts]

    def __call__(self, over: Tensor, under: Tensor) -> tuple[Tensor, Tensor]:
        """Add `over` [.., n] above and `under` [.., n] below each split -> two of [.., m]."""
        above, below = (
            columns.cumsum(-1).index_select(-1, last).mul_(any_)
            for columns, last, any_ in zip((over.flip(-1), under), self.last, self.any, strict=True)
        )
        return above, below


def _sorted(values: Tensor) -> tuple[Tensor, Tensor]:
    """The order of some values, and the values in that order, in float64."""
    ordered, order = values.sort()
    return order, ordered.double()


def _unsorted(order: Tensor, rows: Tensor) -> Tensor:
    """Put sorted rows back where they were."""
    index = torch.arange(len(order), device=order.device)
    return rows.index_select(0, torch.empty_like(order).scatter_(0, order, index))


def _transposed(table: Tensor) -> Tensor:
    """The transpose, in its own memory."""
    return table.T.clone(memory_format=torch.contiguous_format)


def _in_cache(*tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Some rows of tables [d, n] at a time, so few that they stay in the processor's cache."""
    n_rows, n = tables[0].shape
    step = max(1, NUMBERS_PER_CHUNK // n) if tables[0].device.type == "cpu" else n_rows
    return zip(*(torch.split(table, step) for table in tables), strict=True)
