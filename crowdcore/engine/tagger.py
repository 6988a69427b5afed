"""A small tagger: hashed words, affixes and shapes, two convolutions, valid tags."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from crowdcore.engine.chain import FORBIDDEN, ChainLayout, viterbi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.run import Run
    from crowdcore.spans import TagSet

N_BUCKETS = 1 << 15
"""Rows of the table of embeddings; words that share a row are rare."""

WIDTH, DROPOUT, RATE = 64, 0.4, 3e-3
TEXTS_PER_STEP, EPOCHS = 48, 7
GAP = 2
"""Empty rows between texts that are laid end to end, so that none sees the next."""

_DIGITS, _UPPER, _LOWER = re.compile(r"\d+"), re.compile(r"[A-Z]+"), re.compile(r"[a-z]+")


def word_features(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Hash what is seen of each token: word, first three, last three and last two letters, shape.

    Parameters
    ----------
    tokens : sequence of str
        The tokens.

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
        rows.append([1 + zlib.crc32(part.encode("utf-8")) % (N_BUCKETS - 1) for part in parts])
    return np.array(rows, np.int64)[code]


class Tagger(nn.Module):
    """A network from the features of tokens to scores of tags.

    Parameters
    ----------
    n_tags : int
        Number of tags.
    """

    def __init__(self, n_tags: int) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag(N_BUCKETS, WIDTH, mode="sum", padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=0.3)
        self.narrow = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.wide = nn.Conv1d(WIDTH, WIDTH, 5, padding=2)
        self.dropout = nn.Dropout(DROPOUT)
        self.out = nn.Linear(WIDTH, n_tags)

    def forward(self, features: Tensor, is_token: Tensor) -> Tensor:
        """Return scores [rows, K] of rows [rows, 5], among them gaps."""
        mask = is_token.unsqueeze(1).to(self.out.weight.dtype)
        hidden = self.dropout(self.embedding(features)) * mask
        for layer in (self.narrow, self.wide):
            spread = layer(hidden.T.unsqueeze(0)).squeeze(0).T
            hidden = (hidden + self.dropout(torch.relu(spread))) * mask
        scores: Tensor = self.out(hidden)
        return scores


def _laid_out(
    texts: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The tokens of some texts end to end, with gaps; and which rows are tokens."""
    lengths = (offsets[texts + 1] - offsets[texts]) + GAP
    total = int(lengths.sum())
    start = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(texts)), lengths)
    within = np.arange(total) - start[owner]
    is_token = within < lengths[owner] - GAP
    return np.where(is_token, offsets[texts][owner] + within, 0), is_token


def train_tagger(
    features: NDArray[np.int64],
    offsets: NDArray[np.int64],
    tags: NDArray[np.integer],
    texts: NDArray[np.int64],
    *,
    n_tags: int,
    run: Run,
    stage: str,
) -> Tagger:
    """Train a tagger on the tags of some texts, for a fixed number of epochs.

    Parameters
    ----------
    features : array of int [N, 5]
        What `word_features` gave of all tokens.
    offsets : array of int [S + 1]
        Where each text starts.
    tags : array of int [N]
        The tags to learn.
    texts : array of int
        The texts to learn from.
    n_tags : int
        Number of tags.
    run : Run
        Watches and cancels; gives the seed.
    stage : str
        What is being trained, for whoever watches.

    Returns
    -------
    Tagger
        Ready to tag.
    """
    device = run.device
    net = Tagger(n_tags).to(device)
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    rng = np.random.default_rng(run.seed)
    targets = np.asarray(tags, np.int64)
    net.train()
    for _ in run.loop(EPOCHS, stage):
        total = 0.0
        order = rng.permutation(texts)
        for begin in range(0, len(order), TEXTS_PER_STEP):
            run.check()
            rows, is_token = _laid_out(order[begin : begin + TEXTS_PER_STEP], offsets)
            inputs = torch.from_numpy(features[rows] * is_token[:, None]).to(device)
            real = torch.from_numpy(is_token).to(device)
            scores = net(inputs, real)[real]
            wanted = torch.from_numpy(targets[rows[is_token]]).to(device)
            loss = nn.functional.cross_entropy(scores, wanted)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            total += float(loss.detach()) * len(wanted)
        run.log(loss=total / max(1, int((offsets[texts + 1] - offsets[texts]).sum())))
    return net.eval()


def tag_texts(
    net: Tagger, features: NDArray[np.int64], offsets: NDArray[np.int64], tag_set: TagSet
) -> NDArray[np.int64]:
    """Tag texts with valid tags.

    Parameters
    ----------
    net : Tagger
        A trained tagger.
    features : array of int [N, 5]
        What `word_features` gave.
    offsets : array of int [S + 1]
        Where each text starts, and the last one ends.
    tag_set : TagSet
        What the tags mean.

    Returns
    -------
    array of int [N]
        The likeliest valid tags of each text.
    """
    device = net.out.weight.device
    rows, is_token = _laid_out(np.arange(len(offsets) - 1), offsets)
    with torch.no_grad():
        inputs = torch.from_numpy(features[rows] * is_token[:, None]).to(device)
        real = torch.from_numpy(is_token).to(device)
        logs = net(inputs, real)[real].double().log_softmax(1)
    layout = ChainLayout(offsets)
    forbidden = torch.from_numpy(np.where(tag_set.allowed, 0.0, FORBIDDEN)).to(device)
    order = torch.from_numpy(layout.order).to(device)
    path = viterbi(layout, logs[order], forbidden, forbidden[tag_set.outside])
    return path.cpu().numpy()[layout.rank]
