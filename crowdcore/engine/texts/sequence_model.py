"""A model of tagged texts: workers' tags, a chain of true tags, and words, by variational Bayes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from crowdcore.annotations import annotation_order
from crowdcore.data import CrowdData
from crowdcore.engine import em
from crowdcore.engine.dirichlet import expected_log
from crowdcore.engine.labels import Labels
from crowdcore.engine.texts.chain import FORBIDDEN, ChainLayout, forward_backward, viterbi
from crowdcore.spans import TagSet, repaired

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.annotations import AnnotationOrder
    from crowdcore.engine.texts.chain import ChainBeliefs

WorkerModel = Literal["seq", "cm", "cv", "acc"]
"""What a worker's tag depends on: the true tag and their tag before; the true tag; whether it is
right, by true tag; whether it is right."""

START_STEPS, START_SMOOTHING = 5, 0.1
"""Steps of Dawid-Skene from which a fit begins, and their smoothing."""


@dataclass(frozen=True)
class SequencePriors:
    """Pseudo-counts of the model's tables.

    Parameters
    ----------
    spread
        Of a worker's tags, for each true tag (and tag before): shared by the wrong tags, and given
        to the right one too.
    right
        Given to the right tag besides.
    transition
        Of each transition between true tags that is possible.
    word
        Of each word under each true tag.
    """

    spread: float = 10.0
    right: float = 10.0
    transition: float = 1.0
    word: float = 1.0


@dataclass(frozen=True, eq=False)
class SequenceTables:
    """Expected logs of the model's probabilities."""

    worker: Tensor  # [W * symbols, true]
    word: Tensor | None  # [V, true]
    transition: Tensor  # [true before, true]
    start: Tensor  # [true]


class SequenceModel:
    """Tagged texts, laid out for the chain, with what every round of a fit needs.

    Parameters
    ----------
    labels : Labels
        Labels of the kind "sequences".
    worker_model : {"seq", "cm", "cv", "acc"}
        What a worker's tag depends on.
    chain : bool
        Whether neighbouring true tags depend on each other; forbidden ones are ruled out anyhow.
    words : bool
        Whether a token's word says something about its tag.
    priors : SequencePriors
        Pseudo-counts.
    """

    def __init__(
        self,
        labels: Labels,
        *,
        worker_model: WorkerModel = "seq",
        chain: bool = True,
        words: bool = True,
        priors: SequencePriors | None = None,
    ) -> None:
        data = labels.data
        if data.offsets is None:
            raise ValueError("Labels of sequences have offsets")
        self.labels, self.worker_model = labels, worker_model
        self.chain, self.words = chain, words
        self.priors = priors or SequencePriors()
        self.tag_set = TagSet(data.classes)
        self.n_tags = len(data.classes)
        self.layout = ChainLayout(data.offsets)
        self.order: AnnotationOrder = annotation_order(data)
        tags = np.empty(data.n_labels, np.int32)
        tags[self.order.label] = repaired(
            data.label[self.order.label], self.order.offsets[:-1], self.tag_set
        )
        before = np.empty(data.n_labels, np.int32)
        before[self.order.label] = self.order.previous(tags, self.tag_set.outside)
        self.n_before = self.n_tags if worker_model == "seq" else 1
        self.symbol = tags if self.n_before == 1 else before * np.int32(self.n_tags) + tags
        self._tags = tags
        self.allowed = labels.tensor(self.tag_set.allowed)

    def _recoded(self, given: np.ndarray, n_given: int) -> Labels:
        """The same labels with tokens in the order of the layout and other classes."""
        data = self.labels.data
        recoded = CrowdData(
            item=self.layout.rank[data.item],
            worker=data.worker,
            label=given,
            items=data.items,
            workers=data.workers,
            classes=tuple(map(str, range(n_given))),
        )
        return self.labels.with_data(recoded)

    @cached_property
    def symbols(self) -> Labels:
        """What workers gave: a tag, or a tag behind another."""
        return self._recoded(self.symbol, self.n_before * self.n_tags)

    @cached_property
    def word_of(self) -> tuple[Tensor, int]:
        """The word of each token [N] in the order of the layout, and how many words there are."""
        tokens = np.array(self.labels.data.details["token"], dtype=object)
        _, code = np.unique(tokens.astype(str), return_inverse=True)
        return self.labels.tensor(code[self.layout.order].astype(np.int64)), int(code.max()) + 1

    def start(self) -> Tensor:
        """Return the beliefs [N, K] of a few steps of Dawid-Skene, in the order of the layout."""
        labels = self._recoded(self._tags, self.n_tags)
        posterior = labels.shares()
        for _ in range(START_STEPS):
            prior = em.class_prior(labels, posterior)
            counts = em.given_counts(labels, posterior)
            posterior, _ = em.e_step(labels, prior, em.normalise_rows(counts, START_SMOOTHING))
        return posterior

    def m_step(self, posterior: Tensor, beliefs: ChainBeliefs | None = None) -> SequenceTables:
        """Learn the tables from beliefs.

        Parameters
        ----------
        posterior : Tensor [N, K]
            Beliefs about the tokens, in the order of the layout.
        beliefs : ChainBeliefs, optional
            Where the posterior comes from; without it neighbours count as independent.

        Returns
        -------
        SequenceTables
        """
        word = None
        if self.words:
            code, n_words = self.word_of
            counts = torch.zeros(n_words, self.n_tags, dtype=torch.float64, device=code.device)
            counts.index_add_(0, code, posterior.double())
            word = expected_log(counts + self.priors.word, 0).to(posterior.dtype)
        transition = self._transition(posterior, beliefs)
        return SequenceTables(
            self._worker_table(posterior), word, transition, transition[self.tag_set.outside]
        )

    def _transition(self, posterior: Tensor, beliefs: ChainBeliefs | None) -> Tensor:
        forbidden = torch.full_like(self.allowed, FORBIDDEN, dtype=torch.float64)
        if not self.chain:
            return torch.where(self.allowed, torch.zeros_like(forbidden), forbidden)
        if beliefs is None:
            counts, starts = self._independent(posterior)
        else:
            counts, starts = beliefs.transitions.clone(), beliefs.starts
        counts[self.tag_set.outside] += starts
        counts = torch.where(self.allowed, counts + self.priors.transition, 0.0)
        total = torch.digamma(counts.sum(1, keepdim=True))
        logs = torch.digamma(counts.clamp(min=1e-12)) - total
        return torch.where(self.allowed, logs, forbidden)

    def _independent(self, posterior: Tensor) -> tuple[Tensor, Tensor]:
        """Expected transitions [K, K] and starts [K] where neighbours are independent."""
        steps = self.layout.steps(posterior.double())
        size = (self.n_tags, self.n_tags)
        counts = torch.zeros(size, dtype=torch.float64, device=posterior.device)
        for before, after in itertools.pairwise(steps):
            counts += before[: len(after)].T @ after
        return counts, steps[0].sum(0)

    def _worker_table(self, posterior: Tensor) -> Tensor:
        """Expected logs of each worker's symbols under each true tag [W * symbols, K]."""
        n_tags, n_before = self.n_tags, self.n_before
        counts = self.symbols.sum_over_keys(posterior).double()
        counts = counts.reshape(-1, n_before, n_tags, n_tags).permute(0, 3, 1, 2)
        eye = torch.eye(n_tags, dtype=torch.float64, device=counts.device)  # [true, given]
        spread, right = self.priors.spread, self.priors.right
        n_wrong = max(1, n_tags - 1)
        if self.worker_model in ("cv", "acc"):
            hits = (counts[:, :, 0] * eye).sum(2)  # [W, true]
            total = counts[:, :, 0].sum(2)
            if self.worker_model == "acc":
                hits, total = (x.sum(1, keepdim=True).expand(-1, n_tags) for x in (hits, total))
            pair = torch.stack([hits + spread + right, total - hits + spread], 2)
            logs = expected_log(pair)
            wrong = (logs[..., 1] - np.log(n_wrong)).unsqueeze(2)
            table = (logs[..., 0].unsqueeze(2) * eye + wrong * (1 - eye)).unsqueeze(2)
        else:
            prior = spread / n_wrong * (1 - eye) + (spread + right) * eye
            # A tag that cannot follow takes no share of the others' probability.
            possible = self.allowed.unsqueeze(0) if n_before > 1 else torch.ones_like(eye[:1]) > 0
            counts = torch.where(possible, counts + prior.unsqueeze(1), 0.0)
            total = torch.digamma(counts.sum(3, keepdim=True))
            table = torch.digamma(counts.clamp(min=1e-12)) - total
            table = torch.where(possible, table, FORBIDDEN)
        by_symbol: Tensor = table.permute(0, 2, 3, 1).reshape(-1, n_tags)
        return by_symbol.to(self.symbols.dtype)

    def emission(self, tables: SequenceTables) -> Tensor:
        """Return the log-probability of what is seen of each token under each tag [N, K]."""
        scores = self.symbols.sum_over_items(tables.worker)
        if tables.word is not None:
            scores += tables.word[self.word_of[0]]
        if not self.labels.use_gold:
            return scores
        items, classes = self.labels.gold
        rows = torch.full_like(scores[: len(items)], FORBIDDEN)
        rows.scatter_(1, classes.unsqueeze(1), 0.0)
        rank = self.labels.tensor(self.layout.rank)[items]
        return scores.index_copy(0, rank, rows)

    def e_step(self, tables: SequenceTables) -> tuple[ChainBeliefs, Tensor]:
        """Infer the tags: beliefs, and the emissions that they come from."""
        emission = self.emission(tables)
        return forward_backward(self.layout, emission, tables.transition, tables.start), emission

    def best_tags(self, tables: SequenceTables, emission: Tensor) -> Tensor:
        """Return the likeliest valid tags of all tokens [N], in the order of the layout."""
        return viterbi(self.layout, emission, tables.transition, tables.start)

    def in_order(self, rows: Tensor) -> Tensor:
        """Put rows of the layout into the order of the tokens."""
        return rows[self.labels.tensor(self.layout.rank)]
