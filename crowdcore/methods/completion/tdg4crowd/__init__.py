"""TDG4Crowd (2023): labels drawn from autoencoders' embeddings of workers and items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from crowdcore.artefacts.completion import VALUES_PER_CHUNK, Filled
from crowdcore.config import LearningConfig
from crowdcore.method import method

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.engine.learning.item_features import ItemFeatures
    from crowdcore.engine.learning.training import Learner
    from crowdcore.methods.completion.tdg4crowd._autoencoders import (
        Autoencoder,
        LabelGenerator,
        NormalEmbedding,
    )
    from crowdcore.run import Run

WORKER_UNITS, ITEM_UNITS = 20, 100
"""Units in the hidden layers of the two autoencoders."""


class GeneratedConfig(LearningConfig):
    """Settings of TDG4Crowd."""

    epochs: int = Field(
        300, ge=1, le=20_000, description="Maximum number of passes over the labels."
    )
    batch: int = Field(128, ge=1, le=1_000_000, description="Rows per step.")
    pretraining: int = Field(
        20, ge=0, le=20_000, description="Passes over workers and items before labels are learnt."
    )
    worker_size: int = Field(8, ge=1, le=512, description="Size of a worker's embedding.")
    item_size: int = Field(50, ge=1, le=512, description="Size of an item's embedding.")
    hidden: int = Field(
        16, ge=1, le=4096, description="Hidden units between the two embeddings and a label."
    )
    kl: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="Weight of the divergence of embeddings from a standard normal before labels "
        "are learnt; 1 is what the likelihood asks for.",
    )


@method(
    title="Generated from embeddings (TDG4Crowd)",
    year=2023,
    paper="Fang et al., IJCAI 2023, TDG4Crowd: test data generation for evaluation of aggregation",
    config=GeneratedConfig,
    role="complete",
    quick={"epochs": 30, "pretraining": 2, "batch": 32, "rate": 0.01, "held_out": 0.0},
)
def tdg4crowd(labels: Labels, cfg: GeneratedConfig, run: Run) -> Filled:
    """Embed workers and items with autoencoders, and draw labels from the embeddings."""
    import torch

    items, generator = _train(labels, cfg, run)
    chosen = np.flatnonzero(labels.data.labels_per_worker)
    rows, note = items.described_items(labels)
    label = np.full((labels.n_items, labels.n_workers), -1, np.int16)
    probability = np.zeros(label.shape, np.float16)
    step = max(1, VALUES_PER_CHUNK // (len(chosen) * (cfg.worker_size + cfg.item_size)))
    with torch.no_grad():
        workers = generator.workers(labels.tensor(chosen))
        for begin in range(0, len(rows), step):
            run.check()
            chunk = rows[begin : begin + step]
            x = items.x.index_select(0, labels.tensor(chunk)).flatten(1)
            drawn, drawn_probability = _draw_labels(generator, workers, generator.items(x))
            label[np.ix_(chunk, chosen)] = drawn
            probability[np.ix_(chunk, chosen)] = drawn_probability
    return Filled(label=label, probability=probability, notes=(*items.notes, *note))


def _train(labels: Labels, cfg: GeneratedConfig, run: Run) -> tuple[ItemFeatures, LabelGenerator]:
    """Train the autoencoders, then everything to predict the labels that workers gave."""
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.learning.item_features import features_per_training
    from crowdcore.engine.learning.training import Learner, Training
    from crowdcore.engine.splits import hold_out_groups
    from crowdcore.methods.completion.tdg4crowd._autoencoders import LabelGenerator

    observed = labels.rows
    split = hold_out_groups(labels, np.arange(labels.n_labels), cfg.held_out, run)
    views = features_per_training(labels, split, cfg, run)

    def build() -> Learner:
        x = (views.pop(0) if len(views) > 1 else views[0]).x.flatten(1)
        workers, items = _pretrain(labels, x, cfg, run)
        model = LabelGenerator(workers, items, cfg.hidden, labels.n_classes).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            worker = observed.worker.index_select(0, rows)
            item = observed.item.index_select(0, rows)
            logits = model(model.workers(worker), model.items(x.index_select(0, item)))
            return cross_entropy(logits, observed.given.index_select(0, rows))

        return Learner(module=model, loss=loss)

    model = Training(labels=labels, run=run, cfg=cfg).learn(split, build).module
    assert isinstance(model, LabelGenerator)
    return views[0], model


def _pretrain(
    labels: Labels, x: Tensor, cfg: GeneratedConfig, run: Run
) -> tuple[Autoencoder, Autoencoder]:
    """Train the autoencoders of the workers, and of the items' features."""
    from crowdcore.engine.learning.training import Learner, Training
    from crowdcore.engine.splits import Split
    from crowdcore.methods.completion.tdg4crowd._autoencoders import (
        code_autoencoder,
        vector_autoencoder,
    )

    settings = cfg.model_copy(update={"epochs": cfg.pretraining})
    training = Training(labels=labels, run=run, cfg=settings)

    def trained(net: Autoencoder, inputs: Tensor, name: str) -> Autoencoder:
        net.to(labels.device)
        rows = labels.tensor(np.arange(len(inputs)))
        learner = Learner(module=net, loss=net.loss_on(inputs, cfg.kl))
        training.learn(Split(train=rows, held_out=rows[:0]), lambda: learner, name)
        return net

    all_workers = labels.tensor(np.arange(labels.n_workers))
    workers = code_autoencoder(labels.n_workers, WORKER_UNITS, cfg.worker_size)
    items = vector_autoencoder(x.shape[1], ITEM_UNITS, cfg.item_size)
    return trained(workers, all_workers, "Workers"), trained(items, x, "Items")


def _draw_labels(
    generator: LabelGenerator, workers: NormalEmbedding, items: NormalEmbedding
) -> tuple[NDArray[Any], NDArray[Any]]:
    """One label for each item and worker [n, W], and its probability; every cell is drawn anew."""
    import torch

    shape = (len(items.mean), len(workers.mean))
    item, worker = (
        index.flatten().to(items.mean.device)
        for index in torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    )
    shares = generator(workers.select(worker), items.select(item)).softmax(1)
    draw = torch.rand(len(shares), 1, device=shares.device)
    # The number of classes whose shares are passed; a draw just below 1 must not pass all.
    label = (draw >= shares.cumsum(1)[:, :-1]).sum(1, keepdim=True)
    probability = shares.gather(1, label).reshape(shape).clamp(max=1)
    return label.reshape(shape).cpu().numpy(), probability.cpu().numpy()
