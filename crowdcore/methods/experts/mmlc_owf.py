"""MMLC-owf (2025): experts that imitate every worker, and the oracle worker at their centre."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from pydantic import Field

from crowdcore.artefacts import classifier, spectral
from crowdcore.data import DataError
from crowdcore.method import ExpertsConfig, TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.experts import Experts
    from crowdcore.labels import Labels
    from crowdcore.run import Run

AT_ONCE = 4096
"""Items that are asked about together."""

Centre = Literal["kde", "kde_w", "mean", "mean_w", "median", "median_w"]

FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Bandwidths to try on labels that were held out, in terms of Scott's."""


class OracleConfig(ExpertsConfig, TruthConfig):
    """Settings of MMLC-owf."""

    centre: Centre = Field(
        "kde",
        description="Where among the workers the oracle is: at the peak of their density (kde), "
        "the mean or the median; with _w, a worker counts as much as they labelled.",
    )
    weighting: Literal["clean", "code"] = Field(
        "clean",
        description="How workers are weighed: truly, or as in the authors' code, which shrinks "
        "the places of those who labelled little.",
    )
    bandwidth: Literal["scott", "silverman", "held_out"] = Field(
        "scott",
        description="How smooth the density is: by a rule, or so that the oracle foretells best "
        "the labels that were held out.",
    )
    bound: bool = Field(
        False,
        description="Also fit an oracle to all gold. It is an upper bound, which no method without "
        "gold reaches; the truths do not use it.",
    )


@method(
    title="Oracle worker of a mixture of experts (MMLC-owf)",
    year=2025,
    paper="Han et al., AAAI 2025, Mixture of experts based multi-task supervised learning",
    config=OracleConfig,
    quick={"epochs": 8, "rate": 0.01, "held_out": 0.0, "dropout": 0.0, "members": 2},
)
def mmlc_owf(labels: Labels, cfg: OracleConfig, run: Run) -> Estimate:
    """Learn what each worker would say of any item, and ask the worker in their midst."""
    from crowdcore.engine.experts import bound, train_experts

    if cfg.bound and not labels.data.n_gold:
        raise DataError("There is no gold to find a bound with", fix="Add gold, or switch it off.")
    factor = 1.0
    notes = []

    def choose(experts: Experts, item: Tensor, given: Tensor) -> None:
        nonlocal factor
        if cfg.bandwidth == "held_out":
            factor = _best_factor(experts, labels, cfg, item, given)
            notes.append(
                f"The density is {factor:g} times as smooth as by Scott's rule: so the oracle "
                f"foretold best the {len(item):,} labels that were held out."
            )

    experts = train_experts(labels, cfg, run, stopped=choose)
    oracle = _oracles(experts, labels, cfg, factor)  # [C, M * E]
    used = oracle.select(0, get_args(Centre).index(cfg.centre))
    truth, confidence, posterior = _answers(experts, labels, cfg, run, oracle)
    best = bound(experts, labels, used, cfg, run) if cfg.bound else None
    if best is not None:
        notes.append(
            f"An oracle that was fitted to all {labels.data.n_gold:,} gold answers is right on "
            f"{best[1]:.1%} of them: an upper bound. The truths here have seen no gold."
        )
    space = spectral.parts(
        workers=experts.gates,
        centres=get_args(Centre),
        used=cfg.centre,
        oracle=oracle,
        truth=truth,
        confidence=confidence,
        origin=experts.items.origin,
        bound=best,
    )
    return Estimate(
        posterior=posterior,
        worker_scores={"likeness": _likeness(experts, used)},
        artefacts={spectral.NAME: space, **_classifier(experts, labels, used)},
        notes=(*experts.items.notes, *notes),
    )


def _oracles(experts: Experts, labels: Labels, cfg: OracleConfig, factor: float) -> Tensor:
    """The oracle's gate by each centre (eq. 8) [C, M * E]; workers without labels are left out."""
    import torch

    from crowdcore.engine import centres

    met = labels.tensor(np.flatnonzero(labels.data.labels_per_worker))
    gates = experts.gates.index_select(0, met).double()
    share = labels.worker_counts.index_select(0, met).double() / labels.n_labels
    even = torch.ones_like(share)
    rule: centres.Rule = "silverman" if cfg.bandwidth == "silverman" else "scott"

    def peak(values: Tensor, weight: Tensor) -> Tensor:
        return centres.mode(values, weight, rule, factor)

    found = []
    for way in (peak, centres.mean, centres.median):  # the order of Centre
        found.append(way(gates, even))
        if cfg.weighting == "clean":
            found.append(way(gates, share))
        else:
            found.append(way(gates * share.unsqueeze(1), even))
    return experts.scaled(torch.stack(found).to(experts.gates.dtype))


def _best_factor(
    experts: Experts, labels: Labels, cfg: OracleConfig, item: Tensor, given: Tensor
) -> float:
    """The bandwidth, in terms of Scott's, with which the oracle foretells labels best."""
    import torch

    peak = get_args(Centre).index("kde_w" if cfg.centre == "kde_w" else "kde")
    oracles = torch.stack([_oracles(experts, labels, cfg, one).select(0, peak) for one in FACTORS])
    foretold = experts.predict(item, oracles)  # [n, F, K]
    given = given.reshape(-1, 1, 1).expand(-1, len(FACTORS), 1)
    return FACTORS[int(foretold.gather(2, given).mean(0).argmax())]


def _answers(
    experts: Experts, labels: Labels, cfg: OracleConfig, run: Run, oracle: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Truths and confidences of every oracle [C, N], and the posterior of the one that is used.

    A model that knows items only by their labels has nothing to say of items without labels.
    """
    import torch

    used = get_args(Centre).index(cfg.centre)
    parts = []
    for items in torch.split(labels.tensor(np.arange(labels.n_items)), AT_ONCE):
        run.check()
        answers = experts.predict(items, oracle)  # [n, C, K], eq. 9
        parts.append((answers.argmax(2), answers.amax(2).exp(), answers.select(1, used).exp()))
    truth, confidence, posterior = (torch.cat(one) for one in zip(*parts, strict=True))
    if experts.items.origin == "labels":
        nothing = 1 / labels.n_classes
        confidence = confidence.index_fill(0, labels.unlabelled, nothing)
        posterior = posterior.index_fill(0, labels.unlabelled, nothing)
    return truth.T, confidence.T, posterior


def _likeness(experts: Experts, oracle: Tensor) -> Tensor:
    """How much of each worker's blend of experts is also in the oracle's [W], 0 to 1."""
    gates = experts.gates / experts.gates.sum(1, keepdim=True).clamp(min=1e-12)
    apart = (gates - oracle / oracle.sum().clamp(min=1e-12)).abs().sum(1)
    return 1 - apart / 2


def _classifier(experts: Experts, labels: Labels, oracle: Tensor) -> dict[str, Any]:
    """The net with the oracle's gate, for further items; none where items have no features."""
    if experts.items.origin == "labels":
        return {}
    experts.mixture.gate.copy_(oracle)
    kept = classifier.parts(
        net=experts.description,
        state=experts.net.state_dict(),
        mean=experts.items.mean,
        scale=experts.items.scale,
        classes=labels.data.classes,
        method="mmlc_owf",
    )
    return {classifier.NAME: kept}
