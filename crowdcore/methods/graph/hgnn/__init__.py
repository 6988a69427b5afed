"""HGNN (2022): a graph network over workers and items, taught by gold or by the consensus."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.artefacts.attention import AttentionMap
from crowdcore.artefacts.embedding import Embedding
from crowdcore.artefacts.epoch_truths import EpochTruths
from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.methods.graph.hgnn._build import Design
    from crowdcore.methods.graph.hgnn._consensus import Consensus
    from crowdcore.run import Run


class HgnnConfig(TruthConfig):
    """Settings of HGNN."""

    teacher: Literal["auto", "gold", "consensus"] = Field(
        "auto",
        description="Learn from gold, from what other methods agree on, or from gold only where "
        "there is some.",
    )
    preset: Literal["paper", "authors"] = Field(
        "paper", description="Follow the equations of the paper, or its authors' code."
    )
    layers: Literal["mp2+cor+mp2", "mp2+mp2", "mp2", "mp1+cor+mp1", "mp1+mp1", "mp1"] = Field(
        "mp2+cor+mp2",
        description="Messages along labels without (mp1) or with attention (mp2), and attention "
        "among workers and among items (cor).",
    )
    init: Literal["agreement", "random"] = Field(
        "agreement",
        description="Start states from agreement with the majority, or from new noise every time.",
    )
    neighbourhood: Literal["full", "uniform", "two_hop"] = Field(
        "full",
        description="Who attends to whom in cor: all to all, all to a sample drawn every time, or "
        "those who share an item or a worker.",
    )
    sample: int = Field(
        100, ge=1, le=100_000, description='Size of the sample of the neighbourhood "uniform".'
    )
    attention: Literal["preset", "additive", "dot"] = Field(
        "preset",
        description="Scores of cor: additive (the paper's), dot products (the authors' code's), or "
        "as the preset has them.",
    )
    hidden: int = Field(30, ge=1, le=1000, description="Size of a state.")
    edge_size: int = Field(20, ge=1, le=1000, description="Size of a class embedding in mp2.")
    epochs: int = Field(300, ge=1, le=10_000, description="Maximum number of epochs.")
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")
    selection: Literal["honest", "paper"] = Field(
        "honest",
        description="Choose when to stop by held-out answers; or learn from all of them, and keep "
        "the truths of each epoch for choosing one by test answers, as the paper did.",
    )


@method(
    title="Heterogeneous graph network (HGNN)",
    year=2022,
    paper="Wu et al., Crowdsourcing label inference with heterogeneous graph neural networks",
    config=HgnnConfig,
    quick={"teacher": "consensus", "selection": "paper", "epochs": 15, "hidden": 8},
    leaves=[AttentionMap, Embedding, EpochTruths],
    excuses={
        "renaming": "The weights of every class start at random draws, which follow the codes.",
        "fake_cuda": "It reads back what other methods agree on; with gold it is tried alone.",
    },
)
def hgnn(labels: Labels, cfg: HgnnConfig, run: Run) -> ClassEstimate:
    """Train a graph network over workers and items, on gold or on what other methods agree on."""
    from crowdcore.engine.learning.supervision import find_teacher, hold_at_gold

    if cfg.teacher == "gold" or (cfg.teacher == "auto" and labels.data.n_gold):
        teacher = find_teacher(labels.data, "gold")
        estimate, posterior = _learn(labels, cfg, run, teacher.items, teacher.answers)
        return replace(
            estimate,
            posterior=hold_at_gold(labels, posterior),
            used_gold=True,
            notes=(teacher.note, *estimate.notes),
        )
    consensus = _find_consensus(labels, run)
    _, posterior = _learn(labels, cfg, run, *consensus.clearest())
    # Once more, from the network's posterior joined with the consensus.
    items, answers = consensus.joined_by(posterior).clearest()
    estimate, posterior = _learn(labels, cfg, run, items, answers)
    note = (
        f"No gold was used: learnt from {len(items):,} of {labels.n_items:,} items, on which other "
        "methods agree and are most certain; the truths join their posterior with the network's. "
        "Errors that they share are learnt too."
    )
    joined = labels.tensor(consensus.joined_by(posterior).posterior)
    return replace(estimate, posterior=joined, notes=(note, *estimate.notes))


def _find_consensus(labels: Labels, run: Run) -> Consensus:
    """What the members of the pool agree on; held-out labels say how much of it to learn."""
    from crowdcore.methods.graph.hgnn._consensus import Consensus, hold_out_labels
    from crowdcore.registry import get_method

    pool, data = get_method("auto"), labels.data
    settings = pool.configure({"feature_seconds": 0})
    held = hold_out_labels(data, run.rng)
    crowds = [labels]
    if len(held):
        kept = ~np.isin(np.arange(data.n_labels), held)
        crowds = [labels.with_data(data.only(kept)), labels]
    consensuses = []
    for step in run.loop(len(crowds), "Asking other methods"):
        pooled = pool.function(crowds[step], settings, run.part("Consensus"))
        agreed = pooled.item_scores["members_against"] == 0
        consensuses.append(Consensus.from_posterior(crowds[step], pooled.posterior, agreed))
    if len(held):
        return replace(consensuses[-1], share=consensuses[0].best_share(data, held))
    return consensuses[-1]


def _learn(
    labels: Labels,
    cfg: HgnnConfig,
    run: Run,
    items: NDArray[np.int64],
    answers: NDArray[np.int64],
) -> tuple[ClassEstimate, Tensor]:
    """Train on the answers of some items; returns the estimate and its posterior of all items."""
    import torch

    from crowdcore.methods.graph.hgnn import _build as build
    from crowdcore.methods.graph.hgnn import _training as training
    from crowdcore.methods.graph.hgnn._graph import Graph

    design = design_of(cfg)
    graph = Graph.from_labels(labels, merge=design.merges, dtype=build.DTYPE)
    labelled_index = np.searchsorted(np.unique(labels.data.item), items)
    targets = training.Targets(
        rows=graph.node.index_select(0, labels.tensor(labelled_index)),
        answers=labels.tensor(answers),
        epochs=cfg.epochs,
        rate=cfg.rate,
    )

    make = partial(build.build, labels, graph, design, run.generator())
    epoch_classes = None
    if cfg.selection == "paper":
        nets = [make()]
        epoch_classes = training.learn(nets[0], targets, run)
    else:
        nets = training.learn_and_stop(make, targets, run)
    with torch.no_grad():
        mean, typical, states = training.predict(nets)
    artefacts = build.artefacts(labels, graph, design, typical, states)
    if epoch_classes is not None:
        by_item = epoch_classes.index_select(1, graph.node)
        truth = epoch_classes.new_zeros((cfg.epochs, labels.n_items))
        artefacts.append(EpochTruths(truth=truth.index_copy(1, graph.items, by_item)))
    mean = mean.to(labels.dtype)
    uniform = mean.new_full((labels.n_items, labels.n_classes), 1 / labels.n_classes)
    posterior = uniform.index_copy(0, graph.items, mean.index_select(0, graph.node))
    notes = (_note(cfg, len(nets)),)
    return ClassEstimate(posterior=posterior, artefacts=artefacts, notes=notes), posterior


def _note(cfg: HgnnConfig, n_networks: int) -> str:
    """Say what chose the epoch."""
    if cfg.selection == "paper":
        return (
            f"No epoch was chosen: these are the truths after all {cfg.epochs:,}. The truths of "
            "each epoch are kept; to choose one by test answers, as the paper did, leaks them."
        )
    if n_networks > 1:
        return (
            f"The mean of {n_networks} networks: each held out a part of the answers, by which all "
            "chose when to stop. Attention and embedding are those of the one nearest to the mean."
        )
    return "One network; at most a fifth of the answers was held out to choose when to stop."


def design_of(cfg: HgnnConfig) -> Design:
    """Turn settings into the design of a network."""
    from crowdcore.methods.graph.hgnn._build import Design

    dot = cfg.attention == "dot" or (cfg.attention == "preset" and cfg.preset == "authors")
    return Design(
        layers=cfg.layers.split("+"),
        preset=cfg.preset,
        init=cfg.init,
        neighbourhood=cfg.neighbourhood,
        sample=cfg.sample,
        dot=dot,
        hidden=cfg.hidden,
        edge_size=cfg.edge_size,
    )
