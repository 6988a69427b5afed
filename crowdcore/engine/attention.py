"""Attention of nodes to nodes: all pairs exactly in O(n log n), and the forms over fewer pairs.

Additive scores are φ(query_i + key_j), φ being the leaky ReLU of some slope; queries and keys
are [n]. Dot scores are query_i · key_j; queries and keys are [n, d], already scaled. A node's
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

IN_CACHE = 262_144
"""Numbers that are summed together."""

AT_ONCE = 32_000_000
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
    near: Tensor,
    slope: float = 0.0,
    *,
    copies: Tensor | None = None,
) -> Tensor:
    """Attend to the nodes that are near [n, n] only; every node must be near to some."""
    # A key's copies multiply its weight.
    more = value.new_zeros(len(key)) if copies is None else copies.log()

    def rows(of: Tensor, near: Tensor, key: Tensor, value: Tensor) -> Tensor:
        mask = torch.where(near, more, -torch.inf)
        if of.dim() > 1:
            return _dot(of, key, value, mask)
        return (_scores(of, key, slope) + mask).softmax(1) @ value

    step = max(1, AT_ONCE // len(key))
    if step >= len(query):
        return rows(query, near, key, value)
    # Recomputed in the backward pass, so that memory stays bounded.
    parts = [
        checkpoint(rows, *part, key, value, use_reentrant=False, preserve_rng_state=False)
        for part in zip(torch.split(query, step), torch.split(near, step), strict=True)
    ]
    return torch.cat(parts)


def _dot(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Attention by dot products, to which a mask [1 or n, n] is added."""
    q, k, v = (rows.unsqueeze(0).unsqueeze(0) for rows in (query, key, value))  # one head
    found = scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0)
    return found.squeeze(0).squeeze(0)


def sampled(
    query: Tensor, key: Tensor, value: Tensor, chosen: Tensor, slope: float = 0.0
) -> Tensor:
    """Attend to some chosen nodes [m] and, every node, to itself."""
    own = torch.arange(len(key), device=key.device).unsqueeze(1)
    scores = _scores(query, key.index_select(0, chosen), slope)
    scores = scores.masked_fill(own == chosen, -torch.inf)  # itself counts once
    alone = query * key if query.dim() > 1 else leaky_relu(query + key, slope).unsqueeze(1)
    weight = torch.cat([scores, alone.sum(1, keepdim=True)], 1).softmax(1)  # [n, m + 1]
    others, itself = torch.split(weight, [len(chosen), 1], 1)
    return others @ value.index_select(0, chosen) + itself * value


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
        (asked, q), (kept, k) = _sorted(query), _sorted(key)
        top = k.amax()
        sums, up, down = _Sums(k, q), (k - top).exp(), (slope * (k - top)).exp()
        if copies is not None:
            many = copies.index_select(0, kept)
            up, down = up * many, down * many
        damp = (q + top).clamp(min=0).mul(slope - 1).exp()  # [n]
        above, below = sums(up, down)
        size = above + below * damp
        share = above / size  # of the weight, above the split
        columns = _turned(value.index_select(0, kept))  # [d, n]
        means, pulls = [], []
        for (part,) in _together(columns):
            above, below = sums(part * up, part * down)
            above /= size
            total = below.mul_(damp).div_(size).add_(above)
            means.append(total.to(value.dtype))
            # How far those above the split pull the mean: what a larger query is worth.
            pulls.append((above - total * share).to(value.dtype))
        answer, pull = torch.cat(means), torch.cat(pulls)  # [d, n]
        ctx.slope = slope
        ctx.save_for_backward(asked, kept, q, k, columns, answer, pull, size, damp, up, down)
        return _back(asked, _turned(answer))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        asked, kept, q, k, columns, answer, pull, size, damp, up, down = ctx.saved_tensors
        grad = _turned(grads[0].index_select(0, asked))  # [d, n]
        sums, over, under = _Sums(q, k), size.reciprocal(), damp / size
        of_query = torch.zeros_like(q)
        inner = torch.zeros_like(q)
        for part, mean, lean in _together(grad, answer, pull):
            of_query += (part * lean).sum(0, dtype=torch.float64)
            inner += (part * mean).sum(0, dtype=torch.float64)
        above, below = sums(inner * over, inner * under)
        of_key = -(above * up + ctx.slope * below * down)
        kind, of_values = grads[0].dtype, []
        for part, given in _together(grad, columns):
            above, below = sums(part * over, part * under)
            above *= up
            below *= down
            of_values.append((above + below).to(kind))
            of_key += above.add_(below, alpha=ctx.slope).mul_(given).sum(0)
        return (
            _back(asked, of_query.mul_(1 - ctx.slope).to(kind)),
            _back(kept, of_key.to(kind)),
            _back(kept, _turned(torch.cat(of_values))),
            None,
            None,
        )


class _Sums:
    """Sums over sorted places, for sorted ones who ask: of all above minus theirs, and below."""

    def __init__(self, place: Tensor, asking: Tensor) -> None:
        below = torch.searchsorted(place, -asking, right=True)  # [m] places not above
        counts = len(place) - below, below
        self.last = [(count - 1).clamp(min=0) for count in counts]
        self.some = [(count > 0).double() for count in counts]

    def __call__(self, over: Tensor, under: Tensor) -> tuple[Tensor, Tensor]:
        """Add `over` [.., n] above and `under` [.., n] below each split -> two of [.., m]."""
        above, below = (
            columns.cumsum(-1).index_select(-1, last).mul_(some)
            for columns, last, some in zip(
                (over.flip(-1), under), self.last, self.some, strict=True
            )
        )
        return above, below


def _sorted(values: Tensor) -> tuple[Tensor, Tensor]:
    """The order of some values, and they in that order, in float64."""
    ordered, order = values.sort()
    return order, ordered.double()


def _back(order: Tensor, rows: Tensor) -> Tensor:
    """Put sorted rows back where they were."""
    places = torch.arange(len(order), device=order.device)
    return rows.index_select(0, torch.empty_like(order).scatter_(0, order, places))


def _turned(table: Tensor) -> Tensor:
    """The transpose, in its own memory."""
    return table.T.clone(memory_format=torch.contiguous_format)


def _together(*tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Some rows of tables [d, n] at a time, so few that they stay in the processor's cache."""
    n = tables[0].shape[1]
    step = max(1, IN_CACHE // n) if tables[0].device.type == "cpu" else tables[0].shape[0]
    return zip(*(torch.split(table, step) for table in tables), strict=True)
