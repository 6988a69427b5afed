"""TDG4Crowd (2023): labels drawn from what autoencoders know of workers and of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from crowdcore.artefacts.completion import AT_ONCE, Filled
from crowdcore.method import LearningConfig, method

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.items import Items
    from crowdcore.engine.train import Learner
    from crowdcore.engine.variational import Autoencoder, Description, Generator
    from crowdcore.labels import Labels
    from crowdcore.run import Run

WORKER_UNITS, ITEM_UNITS = 20, 100
"""Units in the hidden layers of the two autoencoders."""


class GeneratedConfig(LearningConfig):
    """Settings of TDG4Crowd."""

    epochs: int = Field(300, ge=1, le=20_000, description="Most passes over the labels.")
    batch: int = Field(128, ge=1, le=1_000_000, description="Rows that make one step.")
    pretraining: int = Field(
        20, ge=0, le=20_000, description="Passes over workers and items before labels are learnt."
    )
    worker_size: int = Field(8, ge=1, le=512, description="Numbers that describe a worker.")
    item_size: int = Field(50, ge=1, le=512, description="Numbers that describe an item.")
    hidden: int = Field(
        16, ge=1, le=4096, description="Units between the two descriptions and a label."
    )
    kl: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="How strongly descriptions are drawn towards chance before labels are learnt; "
        "1 is what the likelihood asks for.",
    )


@method(
    title="Generated from descriptions (TDG4Crowd)",
    year=2023,
    paper="Fang et al., IJCAI 2023, TDG4Crowd: test data generation for evaluation of aggregation",
    config=GeneratedConfig,
    role="complete",
    quick={"epochs": 30, "pretraining": 2, "batch": 32, "rate": 0.01, "held_out": 0.0},
)
def tdg4crowd(labels: Labels, cfg: GeneratedConfig, run: Run) -> Filled:
    """Describe workers and items with autoencoders, and draw labels from their descriptions."""
    import torch

    items, generator = _train(labels, cfg, run)
    chosen = np.flatnonzero(labels.data.labels_per_worker)
    rows, note = items.told(labels)
    label = np.full((labels.n_items, labels.n_workers), -1, np.int16)
    probability = np.zeros(label.shape, np.float16)
    step = max(1, AT_ONCE // (len(chosen) * (cfg.worker_size + cfg.item_size)))
    with torch.no_grad():
        workers = generator.workers(labels.tensor(chosen))
        for at in range(0, len(rows), step):
            run.check()
            part = rows[at : at + step]
            found = generator.items(items.x.index_select(0, labels.tensor(part)).flatten(1))
            drawn, sure = _drawn(generator, workers, found)
            label[np.ix_(part, chosen)] = drawn
            probability[np.ix_(part, chosen)] = sure
    return Filled(label=label, probability=probability, notes=(*items.notes, *note))


def _train(labels: Labels, cfg: GeneratedConfig, run: Run) -> tuple[Items, Generator]:
    """Train the autoencoders, then all of it to foretell the labels that workers gave."""
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.items import views_of
    from crowdcore.engine.train import Learner, Training, Triples, hold_out
    from crowdcore.engine.variational import Generator

    said = Triples.of(labels)
    split = hold_out(labels, np.arange(labels.n_labels), cfg.held_out, run)
    views = views_of(labels, split, cfg, run)

    def build() -> Learner:
        x = (views.pop(0) if len(views) > 1 else views[0]).x.flatten(1)
        workers, items = _autoencoders(labels, x, cfg, run)
        model = Generator(workers, items, cfg.hidden, labels.n_classes).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            worker, item = (one.index_select(0, rows) for one in (said.worker, said.item))
            logits = model(model.workers(worker), model.items(x.index_select(0, item)))
            return cross_entropy(logits, said.given.index_select(0, rows))

        return Learner(module=model, loss=loss)

    model = Training(labels=labels, run=run, cfg=cfg).learn(split, build).module
    assert isinstance(model, Generator)
    return views[0], model


def _autoencoders(
    labels: Labels, x: Tensor, cfg: GeneratedConfig, run: Run
) -> tuple[Autoencoder, Autoencoder]:
    """Learn to describe the workers, and the items by their features."""
    from crowdcore.engine.train import Learner, Split, Training
    from crowdcore.engine.variational import of_names, of_numbers

    settings = cfg.model_copy(update={"epochs": cfg.pretraining})
    training = Training(labels=labels, run=run, cfg=settings)

    def learnt(net: Autoencoder, things: Tensor, name: str) -> Autoencoder:
        net.to(labels.device)
        rows = labels.tensor(np.arange(len(things)))
        learner = Learner(module=net, loss=net.cost_of(things, cfg.kl))
        training.learn(Split(learn=rows, watch=rows[:0]), lambda: learner, name)
        return net

    everyone = labels.tensor(np.arange(labels.n_workers))
    names = of_names(labels.n_workers, WORKER_UNITS, cfg.worker_size)
    features = of_numbers(x.shape[1], ITEM_UNITS, cfg.item_size)
    return learnt(names, everyone, "Workers"), learnt(features, x, "Items")


def _drawn(
    generator: Generator, workers: Description, items: Description
) -> tuple[NDArray[Any], NDArray[Any]]:
    """One label for each item and worker [n, W], and its probability; every cell is drawn anew."""
    import torch

    shape = (len(items.mean), len(workers.mean))
    item, worker = (
        one.flatten().to(items.mean.device)
        for one in torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    )
    shares = generator(workers.of(worker), items.of(item)).softmax(1)
    draw = torch.rand(len(shares), 1, device=shares.device)
    # The number of classes whose shares are passed; a draw just below 1 must not pass all.
    label = (draw >= shares.cumsum(1)[:, :-1]).sum(1, keepdim=True)
    sure = shares.gather(1, label)
    return label.reshape(shape).cpu().numpy(), sure.reshape(shape).clamp(max=1).cpu().numpy()
