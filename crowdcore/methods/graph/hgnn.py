"""HGNN (2022): a graph network over workers and items, taught by gold or by the consensus."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.method import TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.assembly import Design
    from crowdcore.engine.consensus import Consensus
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class HgnnConfig(TruthConfig):
    """Settings of HGNN."""

    teacher: Literal["auto", "gold", "consensus"] = Field(
        "auto",
        description="Learn from gold, from what other methods agree on, or from gold only where "
        "there is some.",
    )
    preset: Literal["paper", "authors"] = Field(
        "paper", description="The equations of the paper, or what its authors' code does."
    )
    layers: Literal["mp2+cor+mp2", "mp2+mp2", "mp2", "mp1+cor+mp1", "mp1+mp1", "mp1"] = Field(
        "mp2+cor+mp2",
        description="Messages along labels without (mp1) or with attention (mp2), and attention "
        "among workers and among items (cor).",
    )
    init: Literal["agreement", "random"] = Field(
        "agreement",
        description="States begin from agreement with the majority, or from new noise every time.",
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
    hidden: int = Field(30, ge=1, le=1000, description="Numbers in a state.")
    edge_size: int = Field(20, ge=1, le=1000, description="Numbers that stand for a class in mp2.")
    epochs: int = Field(300, ge=1, le=10_000, description="Most epochs.")
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")
    selection: Literal["honest", "paper"] = Field(
        "honest",
        description="Choose when to stop by answers that are held out; or learn from all of them, "
        "and keep what is said in each epoch for choosing one by test answers, as the paper did.",
    )


@method(
    title="Heterogeneous graph network (HGNN)",
    year=2022,
    paper="Wu et al., Crowdsourcing label inference with heterogeneous graph neural networks",
    config=HgnnConfig,
    quick={"teacher": "consensus", "selection": "paper", "epochs": 15, "hidden": 8},
)
def hgnn(labels: Labels, cfg: HgnnConfig, run: Run) -> Estimate:
    """Let workers and items tell each other, along labels and among themselves, what they are."""
    from crowdcore.engine.teacher import find_teacher, hold_at_gold

    if cfg.teacher == "gold" or (cfg.teacher == "auto" and labels.data.n_gold):
        teacher = find_teacher(labels.data, "gold")
        found, posterior = _learn(labels, cfg, run, teacher.items, teacher.answers)
        return replace(
            found,
            posterior=hold_at_gold(labels, posterior),
            used_gold=True,
            notes=(teacher.note, *found.notes),
        )
    others = _ask_others(labels, run)
    _, posterior = _learn(labels, cfg, run, *others.clearest())
    # Once more, from what the network believes now beside what the others said.
    items, answers = others.joined_by(posterior).clearest()
    found, posterior = _learn(labels, cfg, run, items, answers)
    note = (
        f"No gold was used: learnt from {len(items):,} of {labels.n_items:,} items, on which other "
        "methods agree and are surest; the truths are what these and the network believe together. "
        "Errors that they share are learnt too."
    )
    together = labels.tensor(others.joined_by(posterior).posterior)
    return replace(found, posterior=together, notes=(note, *found.notes))


def _ask_others(labels: Labels, run: Run) -> Consensus:
    """What the members of the pool agree on; labels that are held out say how much should teach."""
    from crowdcore.engine.consensus import Consensus, hold_out
    from crowdcore.labels import Labels as Less
    from crowdcore.registry import get_method

    pool, data = get_method("auto"), labels.data
    held = hold_out(data, run.rng)
    asked = [labels]
    if len(held):
        asked = [Less(data.only(~np.isin(np.arange(data.n_labels), held)), labels.device), labels]
    found = []
    for step in run.loop(len(asked), "Asking other methods"):
        said = pool.function(asked[step], pool.configure({}), run.part("Consensus"))
        agreed = said.item_scores["members_against"] == 0
        found.append(Consensus.of(asked[step], said.posterior, agreed))
    if len(held):
        return replace(found[-1], share=found[0].best_share(data, held))
    return found[-1]


def _learn(
    labels: Labels,
    cfg: HgnnConfig,
    run: Run,
    items: NDArray[np.int64],
    answers: NDArray[np.int64],
) -> tuple[Estimate, Tensor]:
    """Train on the answers of some items; what is made of all items, and the posterior in it."""
    import torch

    from crowdcore.engine import assembly, lessons
    from crowdcore.engine.graph import Graph

    design = _design(cfg)
    graph = Graph.of(labels, merge=design.merges, dtype=assembly.DTYPE)
    places = np.searchsorted(np.unique(labels.data.item), items)
    lesson = lessons.Lesson(
        rows=graph.node.index_select(0, labels.tensor(places)),
        answers=labels.tensor(answers),
        epochs=cfg.epochs,
        rate=cfg.rate,
    )

    make = partial(assembly.build, labels, graph, design, run.generator())
    said = None
    if cfg.selection == "paper":
        nets = [make()]
        said = lessons.learn(nets[0], lesson, run)
    else:
        nets = lessons.learn_and_stop(make, lesson, run)
    run.converged = None  # so many epochs, whatever comes of them
    with torch.no_grad():
        mean, typical, states = lessons.answer(nets)
    artefacts = assembly.left_behind(labels, graph, design, typical, states)
    if said is not None:
        each = said.index_select(1, graph.node)
        truth = said.new_zeros((cfg.epochs, labels.n_items)).index_copy(1, graph.items, each)
        artefacts["epochs"] = {"truth": truth}
    mean = mean.to(labels.dtype)
    even = mean.new_full((labels.n_items, labels.n_classes), 1 / labels.n_classes)
    posterior = even.index_copy(0, graph.items, mean.index_select(0, graph.node))
    notes = (_note(cfg, len(nets)),)
    return Estimate(posterior=posterior, artefacts=artefacts, notes=notes), posterior


def _note(cfg: HgnnConfig, n_networks: int) -> str:
    """Say what chose the epoch."""
    if cfg.selection == "paper":
        return (
            f"No epoch was chosen: these are the truths after all {cfg.epochs:,}. What was said in "
            "each epoch is kept; to choose one by test answers, as the paper did, leaks."
        )
    if n_networks > 1:
        return (
            f"The mean of {n_networks} networks: each held out a part of the answers, by which all "
            "chose when to stop. Attention and embedding are those of the one nearest to the mean."
        )
    return "One network; at most a fifth of the answers was held out to choose when to stop."


def _design(cfg: HgnnConfig) -> Design:
    """The network that was asked for."""
    from crowdcore.engine.assembly import Design

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
