"""The CRF of CRF-MA with the weights of annotations, and the two halves of an EM step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from crowdcore.annotations import annotation_order
from crowdcore.artefacts.trained_network import CRF, TrainedNetwork
from crowdcore.data import DataError
from crowdcore.engine.minimise import lbfgs
from crowdcore.engine.texts.chain import FORBIDDEN, ChainLayout, forward_backward
from crowdcore.engine.texts.crf import LinearChain
from crowdcore.engine.texts.tagger import N_FEATURES, lay_out, n_buckets, word_features
from crowdcore.results.sequences import SequenceEstimate
from crowdcore.spans import TagSet, repaired

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels

PRIOR = 1.0
"""Annotations that are, and as many that are not followed, before anything is known of a worker."""


class CrowdCRF:
    """A CRF that follows, in each text, one of its annotations; which one is not known.

    Parameters
    ----------
    labels : Labels
        Labels of the kind "sequences".
    variance : float
        Prior variance of the CRF's weights.
    """

    def __init__(self, labels: Labels, variance: float) -> None:
        data = labels.data
        self.labels, self.variance = labels, variance
        self.tag_set, self.n_tags = TagSet(data.classes), labels.n_classes
        self.offsets = np.asarray(data.offsets, np.int64)
        order = annotation_order(data)
        lengths = np.diff(self.offsets)
        is_whole = np.diff(order.offsets) == lengths[order.text]
        if not is_whole.any():
            raise DataError(
                "Nobody annotated a whole text",
                fix="Give O to tokens outside of every span, and leave out texts that a worker "
                "did not see.",
            )
        self.n_partial = int((~is_whole).sum())
        tags = np.empty(data.n_labels, np.int64)
        tags[order.label] = repaired(data.label[order.label], order.offsets[:-1], self.tag_set)
        kept = np.repeat(is_whole, np.diff(order.offsets))
        number = np.cumsum(is_whole) - 1
        self.worker = labels.tensor(order.worker[is_whole])  # [A]
        self.n_annotations = labels.tensor(
            np.bincount(order.worker[is_whole], minlength=labels.n_workers).astype(np.float64)
        )
        learnt, text = np.unique(order.text[is_whole], return_inverse=True)
        self.text, self.n_texts = labels.tensor(text), len(learnt)  # [A]
        annotation = np.repeat(number, np.diff(order.offsets))[kept]
        self.annotation = labels.tensor(annotation)  # [L] of each tag
        before = order.previous(tags, self.tag_set.outside)[kept]
        self.given = labels.tensor(tags[order.label][kept])  # [L]
        self.pair = labels.tensor(before * self.n_tags) + self.given
        # Tokens of texts that are learnt from, in the order of a chain.
        laid_out = lay_out(learnt, self.offsets)
        position = np.full(data.n_items, -1, np.int64)
        position[laid_out.tokens] = np.arange(len(laid_out.tokens))
        self.layout = ChainLayout(np.concatenate([[0], np.cumsum(lengths[learnt])]))
        self.token = labels.tensor(self.layout.rank[position[order.item[kept]]])  # [L]
        tokens = data.details.get("token", data.items)
        self.buckets = n_buckets(tokens)
        self.features = word_features(tokens, self.buckets)
        self.net = LinearChain(self.buckets, self.n_tags).to(labels.device)
        inputs = labels.tensor(laid_out.inputs(self.features))
        rows = self.net.rows(inputs).index_select(0, labels.tensor(laid_out.rows))
        self.rows = rows.index_select(0, labels.tensor(self.layout.order))  # [N, 15]
        self.allowed = labels.tensor(self.tag_set.allowed)
        self.n_weights = len(self.net.weight) * self.n_tags
        self.point = torch.zeros(
            self.n_weights + self.n_tags**2, dtype=torch.float64, device=labels.device
        )
        per_text = torch.bincount(self.text, minlength=self.n_texts).double()
        self.share = 1 / per_text.index_select(0, self.text)  # [A] of the annotation in its text
        self.reliability = torch.full_like(self.n_annotations, 0.5)
        counts = torch.bincount(self.rows.flatten(), minlength=len(self.net.weight)).double()
        of_pairs = torch.bincount(self.pair, minlength=self.n_tags**2).double()
        seen = torch.cat([counts.repeat_interleave(self.n_tags), of_pairs])
        self.curvature = 0.1 * seen + 1 / variance

    def _split(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """The table of weights [rows, K] and the transitions [K, K] of a point."""
        table = point[: self.n_weights].reshape(-1, self.n_tags)
        transition = point[self.n_weights :].reshape(self.n_tags, self.n_tags)
        return table, torch.where(self.allowed, transition, FORBIDDEN)

    def _scores(self, table: Tensor) -> Tensor:
        return torch.nn.functional.embedding_bag(self.rows, table, mode="sum", padding_idx=0)

    def fit_weights(self, steps: int) -> Tensor:
        """Fit the CRF to the annotations as they count now; returns the loss per text."""
        n_tokens = len(self.rows)
        weight = self.share.index_select(0, self.annotation)  # [L]
        target = torch.zeros(n_tokens * self.n_tags, dtype=torch.float64, device=weight.device)
        target.index_add_(0, self.token * self.n_tags + self.given, weight)
        target = target.reshape(n_tokens, self.n_tags)
        pairs = torch.zeros(self.n_tags**2, dtype=torch.float64, device=weight.device)
        pairs = pairs.index_add_(0, self.pair, weight).reshape(self.n_tags, self.n_tags)

        def loss(point: Tensor) -> tuple[Tensor, Tensor]:
            table, transition = self._split(point)
            scores = self._scores(table)
            found = forward_backward(
                self.layout, scores, transition, transition[self.tag_set.outside]
            )
            explained = (target * scores).sum() + (pairs * transition).sum()
            expected = found.transitions.clone()
            expected[self.tag_set.outside] += found.starts
            error = found.posterior - target
            by_row = torch.zeros_like(table)
            for column in self.rows.T:
                by_row.index_add_(0, column, error)
            by_row[0] = 0.0  # what is not there has no weight
            of_pairs = torch.where(self.allowed, expected - pairs, 0.0)
            gradient = torch.cat([by_row.flatten(), of_pairs.flatten()]) + point / self.variance
            value = found.log_likelihood - explained + (point @ point) / (2 * self.variance)
            return value, gradient

        self.point, value = lbfgs(loss, self.point, steps=steps, curvature=self.curvature)
        return value / self.n_texts

    def weigh_annotations(self) -> Tensor:
        """Find how likely each annotation is the one to follow; returns how reliabilities move."""
        table, transition = self._split(self.point)
        scores = self._scores(table)
        of_tag = scores[self.token, self.given] + transition.flatten()[self.pair]
        logs = torch.zeros_like(self.share).index_add_(0, self.annotation, of_tag)
        logs += self.reliability.log().index_select(0, self.worker)
        top = torch.full((self.n_texts,), -torch.inf, dtype=logs.dtype, device=logs.device)
        top = top.scatter_reduce(0, self.text, logs, "amax")
        likely = (logs - top.index_select(0, self.text)).exp()
        total = torch.zeros_like(top).index_add_(0, self.text, likely)
        self.share = likely / total.index_select(0, self.text)
        followed = torch.zeros_like(self.n_annotations).index_add_(0, self.worker, self.share)
        before = self.reliability
        self.reliability = (followed + PRIOR) / (self.n_annotations + 2 * PRIOR)
        return (self.reliability - before).abs().max()

    def estimate(self) -> SequenceEstimate:
        """Tag all texts with the CRF as it is."""
        from crowdcore.engine.texts.tagger import apply_to_texts

        table, transition = self._split(self.point)
        with torch.no_grad():
            self.net.weight.copy_(table)
            self.net.transition.copy_(transition)
            self.net.start.copy_(transition[self.tag_set.outside])
        scores = apply_to_texts(self.net, self.features, self.offsets).double()
        posterior, truth = self.net.beliefs(self.offsets, scores)
        notes: tuple[str, ...] = ()
        if self.n_partial:
            notes = (f"{self.n_partial:,} annotations of a part of a text were not learnt from.",)
        network = TrainedNetwork.from_state(
            {"kind": CRF, "shape": [N_FEATURES], "outputs": self.n_tags, "buckets": self.buckets},
            self.net.state_dict(),
            mean=np.zeros(N_FEATURES),
            scale=np.ones(N_FEATURES),
            classes=self.labels.data.classes,
            method="crf_ma",
        )
        return SequenceEstimate(
            posterior=posterior,
            truth=truth,
            worker_scores={"reliability": self.reliability},
            artefacts=[network],
            notes=notes,
        )
