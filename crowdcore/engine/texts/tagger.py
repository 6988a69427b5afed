"""What a tagger sees of tokens, its network, and how texts are laid out for it."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

MIN_BUCKETS, MAX_BUCKETS = 1 << 9, 1 << 15
"""Rows of the table of embeddings; in a table of that size words that share a row are rare."""

N_FEATURES = 5
"""What is seen of a token: word, first three, last three and last two letters, shape."""

GAP = 2
"""Empty rows between texts that are laid end to end, so that none sees the next."""

TOKENS_PER_CHUNK = 65_536
"""Tokens that a network is applied to together, unless a single text is longer."""

START_SPREAD = 0.1
"""Standard deviation of embeddings before training."""

_DIGITS, _UPPER, _LOWER = re.compile(r"\d+"), re.compile(r"[A-Z]+"), re.compile(r"[a-z]+")


def n_buckets(tokens: Sequence[str]) -> int:
    """Return how many rows a table of embeddings needs: a few for every different token."""
    wanted = 4 * len(set(tokens))
    return int(np.clip(1 << (wanted - 1).bit_length(), MIN_BUCKETS, MAX_BUCKETS))


def word_features(tokens: Sequence[str], buckets: int = MAX_BUCKETS) -> NDArray[np.int64]:
    """Hash what is seen of each token: word, first three, last three and last two letters, shape.

    Parameters
    ----------
    tokens : sequence of str
        The tokens.
    buckets : int
        Rows of the table of embeddings.

    Returns
    -------
    array of int [N, 5]
        Rows of the table of embeddings; 0 is kept for gaps.
    """
    names, code = np.unique(np.array(tokens, dtype=object).astype(str), return_inverse=True)
    rows = []
    for name in names.tolist():
        shape = _LOWER.sub("x", _UPPER.sub("X", _DIGITS.sub("9", name)))
        parts = ("w" + name, "p" + name[:3], "s" + name[-3:], "e" + name[-2:], "h" + shape)
        rows.append([1 + zlib.crc32(part.encode("utf-8")) % (buckets - 1) for part in parts])
    return np.array(rows, np.int64).reshape(-1, N_FEATURES)[code]


class TokenTrunk(nn.Module):
    """A network from the features of tokens to a hidden state that knows their neighbours.

    Parameters
    ----------
    buckets : int
        Rows of the table of embeddings.
    width : int
        Size of embeddings and hidden state.
    dropout : float
        Share of the hidden units that are silenced in a step.
    """

    def __init__(self, buckets: int, width: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag(buckets, width, mode="sum", padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=START_SPREAD)
        self.narrow = nn.Conv1d(width, width, 3, padding=1)
        self.wide = nn.Conv1d(width, width, 5, padding=2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        """Return the hidden state [rows, H] of rows [rows, 5], among them gaps of zeros."""
        rows = features.long()
        mask = (rows[:, :1] > 0).to(self.narrow.weight.dtype)
        hidden: Tensor = self.dropout(self.embedding(rows)) * mask
        for layer in (self.narrow, self.wide):
            spread = layer(hidden.T.unsqueeze(0)).squeeze(0).T
            hidden = (hidden + self.dropout(torch.relu(spread))) * mask
        return hidden


@dataclass(frozen=True, eq=False)
class LaidOutTexts:
    """Texts laid end to end, with gaps between them.

    Attributes
    ----------
    tokens : array of int [n]
        The tokens of the texts, text by text.
    rows : array of int [n]
        The row in which each of them stands.
    n_rows : int
        How many rows there are, gaps included.
    """

    tokens: NDArray[np.int64]
    rows: NDArray[np.int64]
    n_rows: int

    def inputs(self, features: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows [n_rows, 5] that a network takes, of the features of all tokens."""
        laid_out = np.zeros((self.n_rows, features.shape[1]), np.int64)
        laid_out[self.rows] = features[self.tokens]
        return laid_out


def lay_out(texts: NDArray[np.int64], offsets: NDArray[np.int64]) -> LaidOutTexts:
    """Lay some texts end to end.

    Parameters
    ----------
    texts : array of int
        The texts.
    offsets : array of int [S + 1]
        Where each text starts among all tokens, and the last one ends.

    Returns
    -------
    LaidOutTexts
    """
    lengths = offsets[texts + 1] - offsets[texts]
    text = np.repeat(np.arange(len(texts)), lengths)
    place = np.arange(len(text))  # among the tokens of these texts
    begin = np.cumsum(lengths) - lengths
    tokens = offsets[texts][text] + place - begin[text]
    return LaidOutTexts(tokens, place + GAP * text, len(text) + GAP * len(texts))


def _chunks(offsets: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """All texts, some at a time."""
    chunk = offsets[:-1] // TOKENS_PER_CHUNK
    yield from np.split(np.arange(len(chunk)), np.flatnonzero(np.diff(chunk)) + 1)


def apply_to_texts(
    net: nn.Module, features: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Tensor:
    """Apply a network to all tokens without gradients, some texts at a time.

    Parameters
    ----------
    net : torch.nn.Module
        From laid-out rows [rows, 5] to outputs [rows, ...]; put into evaluation mode.
    features : array of int [N, 5]
        What `word_features` gave.
    offsets : array of int [S + 1]
        Where each text starts, and the last one ends.

    Returns
    -------
    Tensor [N, ...]
        The outputs of all tokens.
    """
    net.eval()
    device = next(net.parameters()).device
    outputs = []
    with torch.no_grad():
        for texts in _chunks(offsets):
            laid_out = lay_out(texts, offsets)
            inputs = torch.from_numpy(laid_out.inputs(features)).to(device)
            rows = torch.from_numpy(laid_out.rows).to(device)
            outputs.append(net(inputs).index_select(0, rows))
    return torch.cat(outputs)
