"""Vote by span: whole spans, with first token, last token and type, stand for election."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.config import Config
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.sequences import SequenceEstimate

if TYPE_CHECKING:
    import numpy as np

    from crowdcore.annotations import AnnotationSpans
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run
    from crowdcore.spans import Spans, TagSet

FEW_ANNOTATIONS = 3
"""Texts with so few annotations need more than half of the votes, whatever the setting."""


class SpanVoteConfig(Config):
    """Settings of the vote by span."""

    share: float = Field(
        0.3,
        ge=0,
        lt=1,
        description="A span needs more than this share of its text's votes. Texts with three "
        "annotations or fewer need more than half.",
    )
    weights: Literal["equal", "quality"] = Field(
        "equal",
        description="Whether every worker counts the same, or by the squared share of their spans "
        "that were elected.",
    )
    rounds: int = Field(
        5, ge=1, le=100, description="How often weights and spans are found anew, with weights."
    )


@method(
    title="Vote by span",
    year=2019,
    paper="span election; see the card",
    config=SpanVoteConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
)
def span_vote(labels: Labels, cfg: SpanVoteConfig, run: Run) -> SequenceEstimate:
    """Elect whole spans by the share of a text's workers who marked exactly them."""
    import numpy as np
    import torch

    from crowdcore.annotations import annotation_spans
    from crowdcore.spans import TagSet, is_among, spans_to_tags

    data = labels.data
    tag_set = TagSet(data.classes)
    marked = annotation_spans(data, tag_set)
    weight = np.ones(data.n_workers)
    elected = _elect(marked, weight, tag_set, cfg.share)
    for _ in run.loop(cfg.rounds if cfg.weights == "quality" else 0, "Election"):
        n_types = len(tag_set.types)
        hits = is_among(marked.spans, elected, n_types)
        given = np.bincount(marked.worker, minlength=data.n_workers)
        right = np.bincount(marked.worker, hits, data.n_workers)
        # One elected span of two, before anything is known of a worker.
        weight = ((right + 1) / (given + 2)) ** 2
        before, elected = elected, _elect(marked, weight, tag_set, cfg.share)
        same = np.array_equal(np.sort(before.keys(n_types)), np.sort(elected.keys(n_types)))
        if run.settled(0.0 if same else 1.0, 0.5):
            break
    truth = spans_to_tags(elected, data.n_items, tag_set)
    votes = labels.weighted_votes(labels.tensor(weight))
    total = votes.sum(1, keepdim=True)
    posterior = torch.where(total > 0, votes / total.clamp(min=1e-12), 1 / data.n_classes)
    return SequenceEstimate(
        posterior=posterior,
        truth=truth,
        worker_scores={"weight": weight} if cfg.weights == "quality" else {},
    )


def _elect(marked: AnnotationSpans, weight: np.ndarray, tag_set: TagSet, share: float) -> Spans:
    """The spans with enough of their text's weight; of overlapping ones those with most."""
    import numpy as np

    n_texts = len(marked.annotations_per_text)
    order = marked.order
    text_weight = np.bincount(order.text, weight[order.worker], n_texts)
    keys = marked.spans.keys(len(tag_set.types))
    _, first, candidate = np.unique(keys, return_index=True, return_inverse=True)
    votes = np.bincount(candidate, weight[marked.worker], len(first))
    text = marked.text[first]
    got = votes / np.maximum(text_weight[text], 1e-12)
    need = np.where(marked.annotations_per_text[text] <= FEW_ANNOTATIONS, 0.5, share)
    spans = marked.spans.only(first)
    chosen = np.flatnonzero(got > need + 1e-9)
    length = (spans.end - spans.start)[chosen]
    chosen = chosen[np.lexsort((spans.start[chosen], -length, -np.round(got[chosen], 9)))]
    taken, winners = np.zeros(int(spans.end.max(initial=0)), bool), []
    for index in chosen.tolist():
        begin, end = spans.start[index], spans.end[index]
        if not taken[begin:end].any():
            taken[begin:end] = True
            winners.append(index)
    winners.sort(key=lambda index: int(spans.start[index]))
    return spans.only(np.array(winners, np.int64))
