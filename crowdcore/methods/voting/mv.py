"""Majority vote: every label counts the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.data import UNKNOWN
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class MajorityVoteConfig(TruthConfig):
    """Settings of majority vote."""

    ties: Literal["lowest class", "random", "undecided"] = Field(
        "lowest class",
        description="Who wins a tie: the first of the tied classes, one drawn with the seed, "
        "or nobody (the item stays without a truth). Tied items are counted and flagged.",
    )


@method(
    title="Majority vote",
    year=1785,
    paper="Condorcet, Essai sur l'application de l'analyse",
    config=MajorityVoteConfig,
    spreads=True,
)
def mv(labels: Labels, cfg: MajorityVoteConfig, run: Run) -> ClassEstimate:
    """Give each item the class that most of its workers gave."""
    import torch

    posterior = labels.shares()
    if cfg.ties == "lowest class":  # as every result has it
        return ClassEstimate(posterior=posterior)
    best = labels.votes == labels.votes.amax(1, keepdim=True)  # [N, K]
    tied, winner = best.sum(1) > 1, best.to(torch.int8).argmax(1)
    if cfg.ties == "random":
        decisions = [
            (torch.rand(rows.shape, generator=draws, device=labels.device) * rows).argmax(1)
            for rows, draws in labels.blocks(best, run.generator())
        ]
        decision = torch.cat(decisions)
    else:
        decision = torch.full_like(winner, UNKNOWN)
    return ClassEstimate(posterior=posterior, truth=torch.where(tied, decision, winner))
