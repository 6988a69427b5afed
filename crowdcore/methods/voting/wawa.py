"""Wawa: workers who agree with the majority weigh more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.needs import CLASSES_OR_TOKENS, Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class WawaConfig(TruthConfig):
    """Wawa has no settings."""


@method(
    title="Worker agreement with aggregate (Wawa)",
    year=2011,
    paper="Appen, worker agreement with aggregate",
    config=WawaConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def wawa(labels: Labels, cfg: WawaConfig, run: Run) -> ClassEstimate:
    """Weigh each worker by the share of their labels that agree with the majority."""
    import torch

    best = labels.votes == labels.votes.amax(1, keepdim=True)
    # A tied majority counts in parts, so that no class is favoured by its name.
    majority = best / best.sum(1, keepdim=True)
    skill = labels.hits(majority.to(labels.dtype)) / labels.worker_counts.clamp(min=1)
    votes = labels.weighted_votes(skill)
    total = votes.sum(1, keepdim=True)
    posterior = torch.where(total > 0, votes / total.clamp(min=1e-12), labels.shares())
    return ClassEstimate(posterior=posterior, worker_scores={"skill": skill})
