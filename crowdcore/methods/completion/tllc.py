"""TLLC (2025): one Siamese network a worker, begun from what the crowd agrees on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.artefacts.completion import AT_ONCE, Filled
from crowdcore.method import Config, method

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.centroids import Condition
    from crowdcore.engine.siamese import Weights
    from crowdcore.engine.transfer import Crew, Part, Source
    from crowdcore.labels import Labels
    from crowdcore.run import Run

NAMED = 5
"""Most workers that a note names."""


class TransferConfig(Config):
    """Settings of TLLC."""

    epochs: int = Field(2, ge=1, le=1000, description="Passes over the pairs, in both trainings.")
    batch: int = Field(32, ge=1, le=65_536, description="Pairs of a network that make one step.")
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")
    hidden: int = Field(64, ge=1, le=4096, description="Units in a network's hidden layer.")
    dimension: int = Field(
        0, ge=0, le=512, description="Numbers that place an item; 0 takes one a class."
    )
    source_pairs: int = Field(
        25, ge=1, le=10_000, description="Pairs drawn in a pass for each item that all learn from."
    )
    pairs: int = Field(
        2, ge=1, le=10_000, description="Pairs drawn in a pass for each label of a worker."
    )
    condition: Literal["nearest within", "first within", "nearest"] = Field(
        "nearest within",
        description="A label is filled in if the nearest class is within its mean distance, as "
        "the first class that is within, or always as the nearest class.",
    )
    others: bool = Field(
        True,
        description="Show the networks also what others said of an item, never the worker's own.",
    )
    robust: bool = Field(
        True,
        description="Find workers whose labels are unrelated or opposed to the others' first: "
        "nobody learns from them, and they are not completed.",
    )
    filtering: bool = Field(
        True, description="Pretrain only on items whose majority is as clear as is usual."
    )
    pretraining: bool = Field(True, description="Pretrain; without it networks begin at random.")
    transfer: bool = Field(
        True, description="Tune the network for each worker; without it all share the pretrained."
    )
    contrast: bool = Field(
        True,
        description="Also train each network without pretraining, to show what transfer does.",
    )


@method(
    title="Transfer learning (TLLC)",
    year=2025,
    paper="Zhang, Jiang and Li, ICML 2025, TLLC: transfer learning-based label completion",
    config=TransferConfig,
    role="complete",
    quick={"source_pairs": 5, "hidden": 16},
)
def tllc(labels: Labels, cfg: TransferConfig, run: Run) -> Filled:
    """Learn from the clearest items how classes lie, tune it to each worker, fill what is near."""
    from crowdcore.engine import siamese
    from crowdcore.engine.adverse import relate
    from crowdcore.engine.items import known_items
    from crowdcore.engine.transfer import Crew, Sight, Source

    data, items = labels.data, known_items(labels, run.seed)
    adverse = relate(data).adverse if cfg.robust else np.zeros(data.n_workers, bool)
    votes = labels.weighted_votes(labels.tensor(~adverse, labels.dtype)).float()  # [N, K]
    sight = Sight.of(items.x.flatten(1), votes, others=cfg.others)
    width = cfg.dimension or labels.n_classes
    start = siamese.begin(sight.width, cfg.hidden, width, labels.device)
    source = Source.of(votes.cpu().numpy(), run.rng, filtering=cfg.filtering)
    common = siamese.copies(start, 1)
    if cfg.pretraining and source.n_classes > 1:
        pairs = cfg.epochs * cfg.source_pairs
        lessons = source.lessons(labels, sight, pairs, batch=cfg.batch, rate=cfg.rate)
        siamese.train(common, lessons, run, "Pretraining")

    crew = Crew.of(labels, sight, adverse)
    rows, bare = items.told(labels)
    cells = _Cells.empty(labels, np.flatnonzero(~adverse), rows)
    beside = {"with": common, "without": start} if cfg.contrast else {"with": common}
    embeddings = {name: np.empty((data.n_labels, width), np.float32) for name in beside}
    for part in crew.parts(sum(one.numel() for one in start), labels.n_classes):
        for name, begun in beside.items():
            weights = siamese.copies(begun, part.n)
            if cfg.transfer or name == "without":
                part.tune(weights, cfg.epochs * cfg.pairs, batch=cfg.batch, rate=cfg.rate, run=run)
            placed = part.embed(weights)
            embeddings[name][part.places] = placed.cpu().numpy()
            if name == "with":
                cells.fill(part, weights, placed, cfg.condition, run)
    run.converged = None
    return Filled(
        label=cells.label,
        probability=cells.probability,
        artefacts={"embeddings": embeddings, "workers": {"adverse": adverse}},
        notes=(*items.notes, *bare, *_notes(labels, adverse, crew, source, cfg)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cells:
    """The matrix that is filled in, and what of it may be."""

    labels: Labels
    label: NDArray[np.int16]  # [N, W]
    probability: NDArray[np.float16]
    workers: NDArray[np.int64]
    items: NDArray[np.int64]

    @classmethod
    def empty(cls, labels: Labels, workers: NDArray[np.int64], items: NDArray[np.int64]) -> _Cells:
        label = np.full((labels.n_items, labels.n_workers), -1, np.int16)
        probability = np.zeros(label.shape, np.float16)
        return cls(
            labels=labels, label=label, probability=probability, workers=workers, items=items
        )

    def fill(
        self, part: Part, weights: Weights, placed: Tensor, condition: Condition, run: Run
    ) -> None:
        """Fill in what a part of the workers would say of each item (eqs. 16-19)."""
        import torch

        from crowdcore.engine import siamese

        worker = part.crew.worker[part.workers]
        chosen = np.isin(worker, self.workers)
        centroids = part.centroids(placed)
        step = max(1, AT_ONCE // (part.n * (weights[0].shape[2] + self.labels.n_classes)))
        for at in range(0, len(self.items), step):
            run.check()
            rows = self.items[at : at + step]
            with torch.no_grad():
                lie = siamese.embed(weights, part.crew.sight(self.labels.tensor(rows)))
                said, sure = centroids.fill(lie, condition)
            cells = np.ix_(rows, worker[chosen])
            self.label[cells] = said.cpu().numpy()[chosen].T
            self.probability[cells] = sure.cpu().numpy()[chosen].T


def _notes(
    labels: Labels, adverse: NDArray[np.bool_], crew: Crew, source: Source, cfg: TransferConfig
) -> list[str]:
    """Who was left out, and what all networks began from."""
    data, notes = labels.data, []
    if cfg.robust:
        names = ", ".join(data.workers[code] for code in np.flatnonzero(adverse)[:NAMED])
        names += ", …" if adverse.sum() > NAMED else ""
        given = int(data.labels_per_worker[adverse].sum())
        notes.append(
            f"{adverse.sum():,} of {data.n_workers:,} workers, with {given:,} labels, say what is "
            "unrelated or opposed to the others' labels. Nobody learnt from them, and they were "
            f"not completed: {names}."
            if adverse.any()
            else "No worker's labels are unrelated or opposed to the others'."
        )
    if cfg.pretraining and source.n_classes > 1:
        which = "whose majority is clear" if cfg.filtering else "with labels to learn from"
        notes.append(
            f"The networks began from {len(source.item):,} of {data.n_items:,} items {which}."
        )
    elif cfg.pretraining:
        notes.append("Majorities are of one class only: the networks began at random.")
    single = int(((crew.lessons == 0) & (crew.sizes > 0) & ~adverse[crew.worker]).sum())
    if single and cfg.transfer:
        notes.append(
            f"{single:,} workers gave one class only: their networks are the common one, untuned."
        )
    return notes
