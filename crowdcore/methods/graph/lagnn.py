"""LAGNN: votes that travel over a graph of like-minded workers, weighed by a little gold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.data import DataError
from crowdcore.method import TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.labels import Labels
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
        description="Link workers by how often they agree, or by how alike their quality is.",
    )
    layers: int = Field(3, ge=1, le=10, description="Steps that a vote travels over the graph.")
    epochs: int = Field(50, ge=1, le=10_000, description="Passes over what is learnt from.")
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")


MOST_WEIGHTS = 50_000_000
"""Most weights, layers × classes × workers squared; in training about 2.3 GB."""

AT_ONCE = 4_000_000
"""Numbers [K, items, W] of all layers that are in memory together; more items go in turn."""

NO_OVERLAP = 0.5
"""The agreement of two workers who never met."""


@method(
    title="Label aggregation with a worker graph (LAGNN)",
    year=2024,
    paper="Ying et al., A little truth injection but a big reward, TPAMI",
    config=WorkerGraphConfig,
    quick={"teacher": "consensus", "epochs": 10},
)
def lagnn(labels: Labels, cfg: WorkerGraphConfig, run: Run) -> Estimate:
    """Pass votes between similar workers, with weights learnt from gold or from the consensus."""
    import torch
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.teacher import find_teacher, hold_at_gold

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

    size = max(1, AT_ONCE // (classes * workers * (cfg.layers + 1)))
    taught = _blocks(labels, teacher.items, size)
    answers = torch.split(labels.tensor(teacher.answers), size)
    optimiser = torch.optim.Adam(weights, lr=cfg.rate)
    for _ in run.loop(cfg.epochs, "Epochs"):
        optimiser.zero_grad()
        total = torch.zeros((), dtype=labels.dtype, device=labels.device)
        # One step an epoch: the gradients of all blocks are added up first.
        for block, answer in zip(taught, answers, strict=True):
            found = scores(_votes(labels, block)).unsqueeze(0)  # classes come second
            cost = cross_entropy(found, answer.unsqueeze(0), reduction="sum")
            loss = cost / len(teacher.items)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
            run.check()
        optimiser.step()
        run.log(loss=total)
    run.converged = None  # so many epochs, whatever comes of them
    with torch.no_grad():
        blocks = _blocks(labels, np.arange(labels.n_items), size)
        posterior = torch.cat([scores(_votes(labels, one)).softmax(0) for one in blocks], 1).T
        weight = _weight_of_a_vote(weights, graph)
    return Estimate(
        posterior=hold_at_gold(labels, posterior) if teacher.is_gold else posterior,
        used_gold=teacher.is_gold,
        worker_scores={"weight": weight},
        notes=(teacher.note,),
    )


def _refuse_huge(n_weights: int, workers: int) -> None:
    if n_weights > MOST_WEIGHTS:
        raise DataError(
            f"LAGNN has a weight for every two workers, in every class and layer: {n_weights:,} "
            f"with {workers:,} workers; it takes at most {MOST_WEIGHTS:,}",
            fix="Use fewer layers, or wawa or ds, which look at one worker at a time.",
        )


def _similarity(labels: Labels, graph: str) -> Tensor:
    """How alike every two workers are [W, W], 0 to 1; everyone is like themselves."""
    from crowdcore.engine import pairs, votes

    if graph == "quality":
        quality = votes.agreement(labels, votes.winners(labels, labels.votes))
        return 1 - (quality.unsqueeze(1) - quality).abs()
    found = pairs.compare(labels.data)
    alike = np.full((labels.n_workers, labels.n_workers), NO_OVERLAP)
    alike[found.one, found.other] = found.agreement
    np.fill_diagonal(alike, 1.0)
    return labels.tensor(alike, labels.dtype)


def _normalised(alike: Tensor) -> Tensor:
    """D^-1/2 A D^-1/2; with all weights at 1, scores are then about the numbers of votes."""
    scale = alike.sum(1).rsqrt()
    return scale.unsqueeze(1) * alike * scale


def _blocks(labels: Labels, items: NDArray[np.int64], size: int) -> list[tuple[Tensor, int]]:
    """For each block of items: the places [K, B, W] of their votes, and how many items it has."""
    data = labels.data
    row = np.full(data.n_items, -1)
    row[items] = np.arange(len(items))
    mine = row[data.item]
    order = np.argsort(mine, kind="stable")
    order = order[np.searchsorted(mine[order], 0) :]
    starts = np.arange(0, len(items), size)
    ends = np.searchsorted(mine[order], starts[1:])
    found = []
    for start, part in zip(starts, np.split(order, ends), strict=True):
        rows = min(size, len(items) - int(start))
        place = (data.label[part].astype(np.int64) * rows + mine[part] - start) * data.n_workers
        found.append((labels.tensor(place + data.worker[part]), rows))
    return found


def _votes(labels: Labels, block: tuple[Tensor, int]) -> Tensor:
    """The one-hot votes [K, B, W] of a block of items."""
    place, rows = block
    flat = place.new_zeros(labels.n_classes * rows * labels.n_workers, dtype=labels.dtype)
    flat.index_add_(0, place, flat.new_ones(len(place)))
    return flat.reshape(labels.n_classes, rows, labels.n_workers)


def _weight_of_a_vote(weights: list[Tensor], graph: Tensor) -> Tensor:
    """What a worker's vote adds to its class [W], on average over classes, if no ReLU cuts in."""
    reach = weights[0].new_ones((len(weights[0]), 1, len(graph)))  # [K, 1, W]
    for weight in reversed(weights):
        reach = reach @ (weight * graph)
    return reach.squeeze(1).mean(0)
