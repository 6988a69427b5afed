"""LAGNN: votes that travel over a graph of like-minded workers, weighed by a little gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.data import DataError
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class WorkerGraphConfig(TruthConfig):
    """Settings of the network over workers."""

    teacher: Literal["auto", "gold", "consensus"] = Field(
        "auto",
        description="Learn from gold, from the crowd's clearest majorities, or from gold only "
        "where there is some.",
    )
    graph: Literal["agreement", "quality"] = Field(
        "agreement",
        description="Link workers by how often they agree, or by how similar their quality is.",
    )
    layers: int = Field(
        3, ge=1, le=10, description="Number of steps that a vote travels over the graph."
    )
    epochs: int = Field(
        50, ge=1, le=10_000, description="Number of passes over the items that are learnt from."
    )
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")


MAX_WEIGHTS = 50_000_000
"""Weights, layers × classes × workers squared; in training about 2.3 GB."""

NUMBERS_PER_CHUNK = 4_000_000
"""Numbers [K, items, W] of all layers that are in memory together; more items go in turn."""

DEFAULT_AGREEMENT = 0.5
"""The agreement of two workers without a common item."""


@method(
    title="Label aggregation with a worker graph (LAGNN)",
    year=2024,
    paper="Ying et al., A little truth injection but a big reward, TPAMI",
    config=WorkerGraphConfig,
    quick={"teacher": "consensus", "epochs": 10},
)
def lagnn(labels: Labels, cfg: WorkerGraphConfig, run: Run) -> ClassEstimate:
    """Pass votes between similar workers, with weights learnt from gold or from the majority."""
    import torch
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.learning.supervision import find_teacher, hold_at_gold
    from crowdcore.engine.learning.training import FullBatchLearner, FullBatchLosses, full_batch

    classes, workers = labels.n_classes, labels.n_workers
    _refuse_huge(cfg.layers * classes * workers**2, workers)
    teacher = find_teacher(labels.data, cfg.teacher)
    graph = _normalised(_similarity(labels, cfg.graph))
    ones = torch.ones((classes, workers, workers), dtype=labels.dtype, device=labels.device)
    weights = [ones.clone().requires_grad_() for _ in range(cfg.layers)]

    def scores(x: Tensor) -> Tensor:
        """Votes [K, B, W] -> scores [K, B]."""
        for weight in weights:
            x = torch.bmm(x, (weight * graph).transpose(1, 2)).relu()
        return x.sum(2)

    size = max(1, NUMBERS_PER_CHUNK // (classes * workers * (cfg.layers + 1)))
    train_chunks = _chunks(labels, teacher.items, size)
    answers = torch.split(labels.tensor(teacher.answers), size)

    def backward() -> FullBatchLosses:
        """Add up the gradients of all chunks of items."""
        total = torch.zeros((), dtype=labels.dtype, device=labels.device)
        for chunk, answer in zip(train_chunks, answers, strict=True):
            logits = scores(_votes(labels, chunk)).unsqueeze(0)  # classes come second
            cost = cross_entropy(logits, answer.unsqueeze(0), reduction="sum")
            loss = cost / len(teacher.items)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
            run.check()
        return FullBatchLosses(total)

    optimiser = torch.optim.Adam(weights, lr=cfg.rate)
    learner = FullBatchLearner(optimiser=optimiser, backward=backward)
    full_batch(run, [learner], epochs=cfg.epochs)
    with torch.no_grad():
        chunks = _chunks(labels, np.arange(labels.n_items), size)
        posterior = torch.cat([scores(_votes(labels, chunk)).softmax(0) for chunk in chunks], 1).T
        weight = _vote_weight(weights, graph)
    return ClassEstimate(
        posterior=hold_at_gold(labels, posterior) if teacher.is_gold else posterior,
        used_gold=teacher.is_gold,
        worker_scores={"weight": weight},
        notes=(teacher.note,),
    )


def _refuse_huge(n_weights: int, workers: int) -> None:
    if n_weights > MAX_WEIGHTS:
        raise DataError(
            f"LAGNN has a weight for every two workers, in every class and layer: {n_weights:,} "
            f"with {workers:,} workers; it takes at most {MAX_WEIGHTS:,}",
            fix="Use fewer layers, or wawa or ds, which look at one worker at a time.",
        )


def _similarity(labels: Labels, graph: str) -> Tensor:
    """Similarity of every two workers [W, W], 0 to 1; 1 of a worker with themselves."""
    from crowdcore.engine import votes, worker_agreement

    if graph == "quality":
        quality = votes.agreement(labels, votes.winners(labels, labels.votes))
        return 1 - (quality.unsqueeze(1) - quality).abs()
    pairs = worker_agreement.compare_workers(labels.data)
    similarity = np.full((labels.n_workers, labels.n_workers), DEFAULT_AGREEMENT)
    similarity[pairs.first, pairs.second] = pairs.agreement
    np.fill_diagonal(similarity, 1.0)
    return labels.tensor(similarity, labels.dtype)


def _normalised(similarity: Tensor) -> Tensor:
    """D^-1/2 A D^-1/2; with all weights at 1, scores are then about the numbers of votes."""
    scale = similarity.sum(1).rsqrt()
    return scale.unsqueeze(1) * similarity * scale


def _chunks(labels: Labels, items: NDArray[np.int64], size: int) -> list[tuple[Tensor, int]]:
    """For each chunk of B items: the flat index into [K, B, W] of their votes, and B."""
    data = labels.data
    row_of_item = np.full(data.n_items, -1)
    row_of_item[items] = np.arange(len(items))
    row = row_of_item[data.item]
    order = np.argsort(row, kind="stable")
    order = order[np.searchsorted(row[order], 0) :]
    starts = np.arange(0, len(items), size)
    ends = np.searchsorted(row[order], starts[1:])
    chunks = []
    for start, votes in zip(starts, np.split(order, ends), strict=True):
        n_rows = min(size, len(items) - int(start))
        class_row = data.label[votes].astype(np.int64) * n_rows + row[votes] - start
        index = class_row * data.n_workers + data.worker[votes]
        chunks.append((labels.tensor(index), n_rows))
    return chunks


def _votes(labels: Labels, chunk: tuple[Tensor, int]) -> Tensor:
    """The one-hot votes [K, B, W] of a chunk of items."""
    index, n_rows = chunk
    flat = index.new_zeros(labels.n_classes * n_rows * labels.n_workers, dtype=labels.dtype)
    flat.index_add_(0, index, flat.new_ones(len(index)))
    return flat.reshape(labels.n_classes, n_rows, labels.n_workers)


def _vote_weight(weights: list[Tensor], graph: Tensor) -> Tensor:
    """What a worker's vote adds to its class [W], on average over classes, if no ReLU cuts in."""
    product = weights[0].new_ones((len(weights[0]), 1, len(graph)))  # [K, 1, W]
    for weight in reversed(weights):
        product = product @ (weight * graph)
    return product.squeeze(1).mean(0)
