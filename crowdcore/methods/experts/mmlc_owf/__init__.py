"""MMLC-owf (2025): experts that imitate every worker, and the oracle worker at their centre."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from pydantic import Field

from crowdcore.artefacts.spectral import SpectralSpace
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ExpertsConfig, TruthConfig
from crowdcore.data import DataError
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.engine.learning.expert_mixture import TrainedExperts
    from crowdcore.run import Run

ITEMS_PER_CHUNK = 4096
"""Items that are classified together."""

Centre = Literal["kde", "kde_w", "mean", "mean_w", "median", "median_w"]

BANDWIDTH_FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Bandwidths to try on held-out labels, as multiples of Scott's."""


class OracleConfig(ExpertsConfig, TruthConfig):
    """Settings of MMLC-owf."""

    centre: Centre = Field(
        "kde",
        description="Position of the oracle among the workers: the peak of their density (kde), "
        "the mean or the median; with _w, workers are weighted by their labels.",
    )
    weighting: Literal["clean", "code"] = Field(
        "clean",
        description="How workers are weighted: properly, or as in the authors' code, which shrinks "
        "the vectors of those who labelled little.",
    )
    bandwidth: Literal["scott", "silverman", "held_out"] = Field(
        "scott",
        description="Bandwidth of the density: by a rule, or so that the oracle predicts held-out "
        "labels best.",
    )
    bound: bool = Field(
        False,
        description="Also fit an oracle to all gold. It is an upper bound that no method without "
        "gold reaches; the truths do not use it.",
    )


@method(
    title="Oracle worker of a mixture of experts (MMLC-owf)",
    year=2025,
    paper="Han et al., AAAI 2025, Mixture of experts based multi-task supervised learning",
    config=OracleConfig,
    quick={"epochs": 8, "rate": 0.01, "held_out": 0.0, "dropout": 0.0, "members": 2},
    leaves=[SpectralSpace, TrainedNetwork],
)
def mmlc_owf(labels: Labels, cfg: OracleConfig, run: Run) -> ClassEstimate:
    """Model every worker as a mixture of experts, and take the truths from their centre."""
    from crowdcore.engine.learning.expert_mixture import gold_bound, train_experts

    if cfg.bound and not labels.data.n_gold:
        raise DataError("There is no gold to find a bound with", fix="Add gold, or switch it off.")
    factor = 1.0
    notes = []

    def choose(experts: TrainedExperts, item: Tensor, given: Tensor) -> None:
        nonlocal factor
        if cfg.bandwidth == "held_out":
            factor = _best_factor(experts, labels, cfg, item, given)
            notes.append(
                f"The density's bandwidth is {factor:g} times that of Scott's rule: with it the "
                f"oracle predicts the {len(item):,} held-out labels best."
            )

    experts = train_experts(labels, cfg, run, stopped=choose)
    oracle = _oracles(experts, labels, cfg, factor)  # [C, M * E]
    used = oracle.select(0, get_args(Centre).index(cfg.centre))
    truth, confidence, posterior = _answers(experts, labels, cfg, run, oracle)
    best = gold_bound(experts, labels, used, cfg, run) if cfg.bound else None
    if best is not None:
        notes.append(
            f"An oracle fitted to all {labels.data.n_gold:,} gold answers is right on "
            f"{best[1]:.1%} of them: an upper bound. The truths of this result used no gold."
        )
    space = SpectralSpace(
        workers=experts.gates,
        centres=get_args(Centre),
        used=cfg.centre,
        oracle=oracle,
        truth=truth,
        confidence=confidence,
        origin=experts.items.origin,
        bound=None if best is None else best[0],
        bound_accuracy=None if best is None else best[1],
    )
    return ClassEstimate(
        posterior=posterior,
        worker_scores={"likeness": _likeness(experts, used)},
        artefacts=[space, *_network(experts, labels, used)],
        notes=(*experts.items.notes, *notes),
    )


def _oracles(experts: TrainedExperts, labels: Labels, cfg: OracleConfig, factor: float) -> Tensor:
    """The oracle's gate by each centre (eq. 8) [C, M * E]; workers without labels are left out."""
    import torch

    from crowdcore.methods.experts.mmlc_owf import _centres as centres

    with_labels = labels.tensor(np.flatnonzero(labels.data.labels_per_worker))
    gates = experts.gates.index_select(0, with_labels).double()
    share = labels.worker_counts.index_select(0, with_labels).double() / labels.n_labels
    even = torch.ones_like(share)
    rule: centres.Rule = "silverman" if cfg.bandwidth == "silverman" else "scott"

    def peak(values: Tensor, weight: Tensor) -> Tensor:
        return centres.mode(values, weight, rule, factor)

    oracles = []
    for centre in (peak, centres.mean, centres.median):  # the order of Centre
        oracles.append(centre(gates, even))
        if cfg.weighting == "clean":
            oracles.append(centre(gates, share))
        else:
            oracles.append(centre(gates * share.unsqueeze(1), even))
    return experts.scaled(torch.stack(oracles).to(experts.gates.dtype))


def _best_factor(
    experts: TrainedExperts, labels: Labels, cfg: OracleConfig, item: Tensor, given: Tensor
) -> float:
    """The multiple of Scott's bandwidth with which the oracle predicts labels best."""
    import torch

    peak = get_args(Centre).index("kde_w" if cfg.centre == "kde_w" else "kde")
    oracles = torch.stack(
        [_oracles(experts, labels, cfg, factor).select(0, peak) for factor in BANDWIDTH_FACTORS]
    )
    log_probabilities = experts.predict(item, oracles)  # [n, F, K]
    given = given.reshape(-1, 1, 1).expand(-1, len(BANDWIDTH_FACTORS), 1)
    return BANDWIDTH_FACTORS[int(log_probabilities.gather(2, given).mean(0).argmax())]


def _answers(
    experts: TrainedExperts, labels: Labels, cfg: OracleConfig, run: Run, oracle: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Truths and confidences of every oracle [C, N], and the posterior of the one that is used.

    A model that knows items only by their labels has nothing to say about items without labels.
    """
    import torch

    used = get_args(Centre).index(cfg.centre)
    chunks = []
    for items in torch.split(labels.tensor(np.arange(labels.n_items)), ITEMS_PER_CHUNK):
        run.check()
        logs = experts.predict(items, oracle)  # [n, C, K], eq. 9
        chunks.append((logs.argmax(2), logs.amax(2).exp(), logs.select(1, used).exp()))
    truth, confidence, posterior = (torch.cat(column) for column in zip(*chunks, strict=True))
    if experts.items.origin == "labels":
        uniform = 1 / labels.n_classes
        confidence = confidence.index_fill(0, labels.unlabelled, uniform)
        posterior = posterior.index_fill(0, labels.unlabelled, uniform)
    return truth.T, confidence.T, posterior


def _likeness(experts: TrainedExperts, oracle: Tensor) -> Tensor:
    """How much of each worker's blend of experts is also in the oracle's [W], 0 to 1."""
    gates = experts.gates / experts.gates.sum(1, keepdim=True).clamp(min=1e-12)
    distance = (gates - oracle / oracle.sum().clamp(min=1e-12)).abs().sum(1)
    return 1 - distance / 2


def _network(experts: TrainedExperts, labels: Labels, oracle: Tensor) -> list[TrainedNetwork]:
    """The net with the oracle's gate, for further items; none where items have no features."""
    if experts.items.origin == "labels":
        return []
    experts.mixture.gate.copy_(oracle)
    network = TrainedNetwork.from_state(
        experts.description,
        experts.net.state_dict(),
        mean=experts.items.mean,
        scale=experts.items.scale,
        classes=labels.data.classes,
        method="mmlc_owf",
    )
    return [network]
