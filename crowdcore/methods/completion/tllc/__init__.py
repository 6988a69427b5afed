"""TLLC (2025): one Siamese network per worker, pretrained on what the crowd agrees on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.artefacts.adverse_workers import AdverseWorkers
from crowdcore.artefacts.completion import VALUES_PER_CHUNK, Filled
from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.config import Config
from crowdcore.method import method

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.methods.completion.tllc._centroids import Condition
    from crowdcore.methods.completion.tllc._siamese import Weights
    from crowdcore.methods.completion.tllc._transfer import SourceDomain, WorkerChunk, WorkerOrder
    from crowdcore.run import Run

MAX_NAMED_WORKERS = 5
"""Workers that a note names."""


class TransferConfig(Config):
    """Settings of TLLC."""

    epochs: int = Field(
        2, ge=1, le=1000, description="Number of passes over the pairs, in both trainings."
    )
    batch: int = Field(32, ge=1, le=65_536, description="Pairs per network and step.")
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")
    hidden: int = Field(
        64, ge=1, le=4096, description="Number of units in a network's hidden layer."
    )
    dimension: int = Field(
        0, ge=0, le=512, description="Size of an item's embedding; 0 takes the number of classes."
    )
    source_pairs: int = Field(
        25, ge=1, le=10_000, description="Pairs per item and pass in pretraining."
    )
    pairs: int = Field(
        2, ge=1, le=10_000, description="Pairs per label of a worker and pass in tuning."
    )
    condition: Literal["nearest within", "first within", "nearest"] = Field(
        "nearest within",
        description="Fill in the nearest class if it is within its mean distance, the first class "
        "that is within its mean distance, or always the nearest class.",
    )
    others: bool = Field(
        True,
        description="Add the other workers' labels of an item to its features, never the worker's "
        "own.",
    )
    robust: bool = Field(
        True,
        description="First find workers whose labels are unrelated or opposed to the others': "
        "nobody learns from them, and they are not completed.",
    )
    filtering: bool = Field(
        True, description="Pretrain only on items with a clear majority for their class."
    )
    pretraining: bool = Field(
        True, description="Pretrain; otherwise networks start from random weights."
    )
    transfer: bool = Field(
        True, description="Tune the network to each worker; otherwise all share the pretrained one."
    )
    contrast: bool = Field(
        True,
        description="Also train each network without pretraining, to show the effect of transfer.",
    )


@method(
    title="Transfer learning (TLLC)",
    year=2025,
    paper="Zhang, Jiang and Li, ICML 2025, TLLC: transfer learning-based label completion",
    config=TransferConfig,
    role="complete",
    quick={"source_pairs": 5, "hidden": 16},
    leaves=[LabelEmbeddings, AdverseWorkers],
)
def tllc(labels: Labels, cfg: TransferConfig, run: Run) -> Filled:
    """Embed items by one network per worker, and fill in the class of the nearest centroid."""
    from crowdcore.engine.adversaries import compare_with_others
    from crowdcore.engine.learning.item_features import item_features
    from crowdcore.methods.completion.tllc import _siamese as siamese
    from crowdcore.methods.completion.tllc._transfer import NetworkInput, SourceDomain, WorkerOrder

    data, items = labels.data, item_features(labels, run.seed)
    adverse = compare_with_others(data).adverse if cfg.robust else np.zeros(data.n_workers, bool)
    votes = labels.weighted_votes(labels.tensor(~adverse, labels.dtype)).float()  # [N, K]
    network_input = NetworkInput.from_features(items.x.flatten(1), votes, with_votes=cfg.others)
    width = cfg.dimension or labels.n_classes
    start = siamese.new_weights(network_input.width, cfg.hidden, width, labels.device)
    source = SourceDomain.from_votes(votes.cpu().numpy(), run.rng, filtering=cfg.filtering)
    common = siamese.copies(start, 1)
    if cfg.pretraining and source.n_classes > 1:
        pairs = cfg.epochs * cfg.source_pairs
        task = source.task(labels, network_input, pairs, batch=cfg.batch, rate=cfg.rate)
        siamese.train(common, task, run, "Pretraining")

    workers = WorkerOrder.from_labels(labels, network_input, adverse)
    completed_items, feature_notes = items.described_items(labels)
    matrix = _Matrix.empty(labels, np.flatnonzero(~adverse), completed_items)
    starts = {"with": common, "without": start} if cfg.contrast else {"with": common}
    embeddings = {name: np.empty((data.n_labels, width), np.float32) for name in starts}
    for chunk in workers.chunks(sum(table.numel() for table in start), labels.n_classes):
        for name, start_weights in starts.items():
            weights = siamese.copies(start_weights, chunk.n)
            if cfg.transfer or name == "without":
                pairs = cfg.epochs * cfg.pairs
                chunk.tune(weights, pairs, batch=cfg.batch, rate=cfg.rate, run=run)
            embedded = chunk.embed(weights)
            embeddings[name][chunk.label_index] = embedded.cpu().numpy()
            if name == "with":
                matrix.fill(chunk, weights, embedded, cfg.condition, run)
    run.converged = None
    return Filled(
        label=matrix.label,
        probability=matrix.probability,
        artefacts=[
            LabelEmbeddings(
                with_transfer=embeddings["with"], without_transfer=embeddings.get("without")
            ),
            AdverseWorkers(adverse=adverse),
        ],
        notes=(*items.notes, *feature_notes, *_notes(labels, adverse, workers, source, cfg)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Matrix:
    """The matrix that is filled in, and the workers and items that may be."""

    labels: Labels
    label: NDArray[np.int16]  # [N, W]
    probability: NDArray[np.float16]
    workers: NDArray[np.int64]
    items: NDArray[np.int64]

    @classmethod
    def empty(cls, labels: Labels, workers: NDArray[np.int64], items: NDArray[np.int64]) -> _Matrix:
        label = np.full((labels.n_items, labels.n_workers), -1, np.int16)
        probability = np.zeros(label.shape, np.float16)
        return cls(
            labels=labels, label=label, probability=probability, workers=workers, items=items
        )

    def fill(
        self, chunk: WorkerChunk, weights: Weights, embedded: Tensor, condition: Condition, run: Run
    ) -> None:
        """Fill in the labels of some workers for each item (eqs. 16-19)."""
        import torch

        from crowdcore.methods.completion.tllc import _siamese as siamese

        worker = chunk.order.worker[chunk.workers]
        completed = np.isin(worker, self.workers)
        centroids = chunk.centroids(embedded)
        step = max(1, VALUES_PER_CHUNK // (chunk.n * (weights[0].shape[2] + self.labels.n_classes)))
        for begin in range(0, len(self.items), step):
            run.check()
            rows = self.items[begin : begin + step]
            with torch.no_grad():
                x = chunk.order.network_input(self.labels.tensor(rows))
                label, probability = centroids.classify(siamese.embed(weights, x), condition)
            cells = np.ix_(rows, worker[completed])
            self.label[cells] = label.cpu().numpy()[completed].T
            self.probability[cells] = probability.cpu().numpy()[completed].T


def _notes(
    labels: Labels,
    adverse: NDArray[np.bool_],
    workers: WorkerOrder,
    source: SourceDomain,
    cfg: TransferConfig,
) -> list[str]:
    """Who was left out, and what all networks started from."""
    data, notes = labels.data, []
    if cfg.robust:
        names = ", ".join(
            data.workers[code] for code in np.flatnonzero(adverse)[:MAX_NAMED_WORKERS]
        )
        names += ", …" if adverse.sum() > MAX_NAMED_WORKERS else ""
        n_labels = int(data.labels_per_worker[adverse].sum())
        notes.append(
            f"The labels of {adverse.sum():,} of {data.n_workers:,} workers, {n_labels:,} in all, "
            "are unrelated or opposed to the others'. Nobody learnt from them, and these workers "
            f"were not completed: {names}."
            if adverse.any()
            else "No worker's labels are unrelated or opposed to the others'."
        )
    if cfg.pretraining and source.n_classes > 1:
        which = "whose majority is clear" if cfg.filtering else "with labels to learn from"
        notes.append(
            f"Networks were pretrained on {len(source.item):,} of {data.n_items:,} items {which}."
        )
    elif cfg.pretraining:
        notes.append("All majorities are of one class: the networks started from random weights.")
    untuned = (workers.n_tuning == 0) & (workers.n_labels > 0) & ~adverse[workers.worker]
    if untuned.any() and cfg.transfer:
        notes.append(
            f"{untuned.sum():,} workers gave one class only: they share the pretrained network."
        )
    return notes
