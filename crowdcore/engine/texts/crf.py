"""A linear-chain CRF on what is seen of tokens and their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from crowdcore.engine.texts.chain import ChainBeliefs, ChainLayout, forward_backward, viterbi

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

N_NEIGHBOURS = 3
"""A token is seen with the one before and the one after it."""


class LinearChain(nn.Module):
    """Weights of features and of transitions, of which the scores of tags are sums.

    Parameters
    ----------
    buckets : int
        Rows of the table of weights for each of three neighbours.
    n_tags : int
        Number of tags K.
    """

    transition: Tensor
    start: Tensor

    def __init__(self, buckets: int, n_tags: int) -> None:
        super().__init__()
        self.buckets = buckets
        self.weight = nn.Parameter(torch.zeros(N_NEIGHBOURS * buckets, n_tags))
        self.register_buffer("transition", torch.zeros(n_tags, n_tags))
        self.register_buffer("start", torch.zeros(n_tags))

    def rows(self, features: Tensor) -> Tensor:
        """Return the rows of the table of weights [rows, 15] of laid-out tokens [rows, 5].

        Row 0 stands for what is not there: gaps between texts, and neighbours beyond an edge.
        """
        gap = torch.zeros_like(features[:1])
        before, after = torch.cat([gap, features[:-1]]), torch.cat([features[1:], gap])
        shifted = [
            torch.where(part > 0, part + number * self.buckets, 0)
            for number, part in enumerate((features, before, after))
        ]
        return torch.cat(shifted, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Return the scores of tags [rows, K] of laid-out tokens [rows, 5]."""
        return nn.functional.embedding_bag(
            self.rows(features.long()), self.weight, mode="sum", padding_idx=0
        )

    def beliefs(self, offsets: NDArray[np.integer], scores: Tensor) -> tuple[Tensor, Tensor]:
        """Return marginal probabilities [N, K] and the likeliest tags [N] of all tokens."""
        layout = ChainLayout(offsets)
        order = torch.from_numpy(layout.order).to(scores.device)
        rank = torch.from_numpy(layout.rank).to(scores.device)
        arguments = layout, scores[order], self.transition.to(scores), self.start.to(scores)
        found: ChainBeliefs = forward_backward(*arguments)
        return found.posterior[rank], viterbi(*arguments)[rank]
