"""Texts as numbers: TF-IDF of words and pairs of words, and its main directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_DIRECTIONS = 100
"""Main directions that are kept of a column of texts."""

MAX_WORDS = 20_000
"""Words and pairs that count, the most frequent ones."""

MIN_TEXTS_FOR_REPEATS = 20
"""From so many texts on, a word must occur in two of them: one that does not tells nothing."""

MIN_RELATIVE_STRENGTH = 1e-3
"""Directions weaker than this share of the strongest are noise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TextSpace:
    """What was learnt from texts, by which others are turned into numbers.

    Parameters
    ----------
    vocabulary
        The words and pairs of words that count.
    idf
        Their weights [V].
    directions
        The directions [d, V] that texts are seen from.
    """

    vocabulary: tuple[str, ...]
    idf: NDArray[np.float32]
    directions: NDArray[np.float32]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Turn texts into numbers.

        Parameters
        ----------
        texts
            The texts.

        Returns
        -------
        ndarray
            The numbers [len(texts), d]; zeros where no word is known.
        """
        numbers = _weights(_counter(self.vocabulary).transform(texts), self.idf) @ self.directions.T
        return np.asarray(numbers, np.float32)


def learn_texts(texts: Sequence[str]) -> TextSpace | None:
    """Learn words and directions from texts.

    Parameters
    ----------
    texts
        The texts.

    Returns
    -------
    TextSpace or None
        None where no word is left.
    """
    from sklearn.utils.extmath import randomized_svd

    counter = _counter(None, min_df=2 if len(texts) >= MIN_TEXTS_FOR_REPEATS else 1)
    try:
        counts = counter.fit_transform(texts)
    except ValueError:  # an empty vocabulary
        return None
    n_texts_with = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = (np.log((1 + len(texts)) / (1 + n_texts_with)) + 1).astype(np.float32)
    size = min(MAX_DIRECTIONS, *counts.shape)
    _, strength, directions = randomized_svd(
        _weights(counts, idf), n_components=size, n_iter=5, random_state=0
    )
    kept = strength > MIN_RELATIVE_STRENGTH * strength.max()
    return TextSpace(
        vocabulary=tuple(counter.get_feature_names_out().tolist()),
        idf=idf,
        directions=np.ascontiguousarray(directions[kept], np.float32),
    )


def _counter(vocabulary: tuple[str, ...] | None, min_df: int = 1) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(
        ngram_range=(1, 2),
        min_df=min_df,
        max_features=MAX_WORDS,
        vocabulary=vocabulary,
        dtype=np.float32,
    )


def _weights(counts: Any, idf: NDArray[np.float32]) -> Any:
    """Return the sublinear TF-IDF [n, V], every text of length 1."""
    from sklearn.preprocessing import normalize

    weights = counts.copy()
    weights.data = (1 + np.log(weights.data)) * idf[weights.indices]
    return normalize(weights, copy=False)
