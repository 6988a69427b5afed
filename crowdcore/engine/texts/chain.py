"""Chains of hidden classes: forward-backward and Viterbi for many texts at once.

Texts are ordered by length, the longest first, and their tokens are laid out by position: all
first tokens, then the second tokens of all texts that have one, and so on. Text r then is row r of
every step, a step is one slice, and the texts that go on are its first rows. Nothing is padded and
nothing is gathered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

FORBIDDEN = -1e4
"""Log-probability of a transition that must not be: finite, so that a best path always exists."""


class ChainLayout:
    """The tokens of texts, ordered by their position in the text.

    Parameters
    ----------
    offsets : array of int [S + 1]
        Where each text starts among the tokens, and where the last one ends.
    """

    def __init__(self, offsets: NDArray[np.integer]) -> None:
        bounds: NDArray[np.int64] = np.asarray(offsets, np.int64)
        lengths = np.diff(bounds)
        texts = np.argsort(-lengths, kind="stable")
        self.n_tokens = int(bounds[-1])
        self.sizes: list[int] = []
        """How many texts have a first, a second, ... token."""
        if len(lengths):
            by_length = np.sort(lengths)
            steps = np.arange(int(lengths.max()))
            self.sizes = (len(lengths) - np.searchsorted(by_length, steps, side="right")).tolist()
        self.order: NDArray[np.int64] = self._order(bounds[:-1][texts])
        """The token that stands in each row [N]."""
        self.rank: NDArray[np.int64] = np.empty_like(self.order)
        """The row in which each token stands [N]."""
        self.rank[self.order] = np.arange(self.n_tokens)

    def _order(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        sizes = np.array(self.sizes, np.int64)
        step = np.repeat(np.arange(len(sizes)), sizes)
        row = np.arange(self.n_tokens) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return starts[row] + step

    def steps(self, rows: Tensor) -> tuple[Tensor, ...]:
        """Cut a table of all tokens [N, ...] into its steps; they share its memory."""
        return torch.split(rows, self.sizes)


@dataclass(frozen=True, eq=False)
class ChainBeliefs:
    """What forward-backward infers of the hidden classes."""

    posterior: Tensor  # [N, K]
    transitions: Tensor  # [K, K] expected number, in float64
    starts: Tensor  # [K] expected number, in float64
    log_likelihood: Tensor  # of all texts, in float64


def forward_backward(
    layout: ChainLayout, log_emission: Tensor, log_transition: Tensor, log_start: Tensor
) -> ChainBeliefs:
    """Infer the classes of all tokens, given those around them.

    Parameters
    ----------
    layout : ChainLayout
        The texts.
    log_emission : Tensor [N, K]
        Log-probability of what is seen of each token, in the order of the layout.
    log_transition : Tensor [K, K]
        Of the next class (column) after a class (row); rows need not add to one.
    log_start : Tensor [K]
        Of a text's first class.

    Returns
    -------
    ChainBeliefs
        In the order of the layout.
    """
    dtype = log_emission.dtype
    top = log_emission.amax(1, keepdim=True)
    # Not to nothing: else a token whose only likely class is forbidden has no class at all.
    floor = -600.0 if dtype == torch.float64 else -80.0
    emission = (log_emission - top).clamp_(min=floor).exp_()
    transition, start = log_transition.exp().to(dtype), log_start.exp().to(dtype)
    forward, total = torch.empty_like(emission), emission.new_empty(len(emission), 1)
    steps, forwards, totals = (layout.steps(rows) for rows in (emission, forward, total))
    for step, (seen, alpha, scale) in enumerate(zip(steps, forwards, totals, strict=True)):
        if step:
            torch.mm(forwards[step - 1][: len(seen)], transition, out=alpha)
            alpha.mul_(seen)
        else:
            torch.mul(seen, start, out=alpha)
        torch.sum(alpha, 1, keepdim=True, out=scale)
        alpha.div_(scale)
    log_likelihood = total.double().log().sum() + top.sum(dtype=torch.float64)
    emission /= total
    expected = torch.zeros(transition.shape, dtype=torch.float64, device=emission.device)
    back = transition.T.contiguous()
    for step in range(len(steps) - 2, -1, -1):
        ahead = steps[step + 1]  # the next tokens' emissions times what comes after them
        alpha, seen = forwards[step][: len(ahead)], steps[step][: len(ahead)]
        expected += (alpha.T @ ahead).double()
        message = ahead @ back
        alpha *= message
        seen *= message
    starts = forwards[0].sum(0, dtype=torch.float64) if forwards else start.double() * 0
    return ChainBeliefs(forward, expected * transition.double(), starts, log_likelihood)


def viterbi(
    layout: ChainLayout, log_emission: Tensor, log_transition: Tensor, log_start: Tensor
) -> Tensor:
    """Find the likeliest classes of each text as a whole.

    Parameters
    ----------
    layout : ChainLayout
        The texts.
    log_emission : Tensor [N, K]
        Log-probability of what is seen of each token, in the order of the layout.
    log_transition : Tensor [K, K]
        Of the next class (column) after a class (row); `FORBIDDEN` where it must not be.
    log_start : Tensor [K]
        Of a text's first class.

    Returns
    -------
    Tensor [N]
        The class of each token, in the order of the layout; the first of equally likely ones.
    """
    if not layout.sizes:
        return log_emission.new_empty(0, dtype=torch.int64)
    dtype = log_emission.dtype
    by_next = log_transition.to(dtype).T.contiguous()  # [next, before]
    best = log_emission.clone()
    came_from = torch.empty(log_emission.shape, dtype=torch.int16, device=log_emission.device)
    bests, origins = layout.steps(best), layout.steps(came_from)
    bests[0].add_(log_start.to(dtype))
    for step in range(1, len(bests)):
        n_texts = len(bests[step])
        # The best score of a text only grows more negative: take out what all its paths share.
        before = bests[step - 1][:n_texts]
        reached, origin = (before.unsqueeze(1) + by_next).max(2)
        bests[step].add_(reached - before.amax(1, keepdim=True))
        origins[step].copy_(origin)
    path = torch.empty(len(best), dtype=torch.int64, device=best.device)
    paths = layout.steps(path)
    for step in range(len(bests) - 1, -1, -1):
        paths[step].copy_(bests[step].argmax(1))
        if step + 1 < len(bests):
            following = paths[step + 1].unsqueeze(1)
            back = origins[step + 1].gather(1, following).squeeze(1)
            paths[step][: len(following)] = back.long()
    return path
