"""GTIC (2016): K-means on the vote shares, each cluster named after a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class ClusteringConfig(TruthConfig):
    """Settings of GTIC."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of rounds of K-means.")
    smoothing: float = Field(
        0.0, ge=0, le=10, description="Labels added to each item and class before shares are taken."
    )
    difference: bool = Field(
        False,
        description="Use the paper's extra feature, the last class's share minus the first's. It "
        "makes the result depend on the order of the classes.",
    )


@method(
    title="Truth inference by clustering (GTIC)",
    year=2016,
    paper="doi:10.1109/TKDE.2015.2504974",
    config=ClusteringConfig,
)
def gtic(labels: Labels, cfg: ClusteringConfig, run: Run) -> ClassEstimate:
    """Cluster the items by their vote shares, and match the clusters with classes."""
    import torch

    x, start = _features(labels, cfg)
    labelled = (labels.counts > 0).to(x.dtype).unsqueeze(1)  # [N, 1]
    # A class starts at the items that have its largest share.
    largest = torch.where(labelled > 0, start, 0.0).amax(0)
    seeds = ((start >= largest - 1e-9) & (labelled > 0)).to(x.dtype)
    centres = (seeds.T @ x) / seeds.sum(0).clamp(min=1).unsqueeze(1)  # [K, D]
    # A class that nobody gave has no cluster.
    absent = labels.votes.sum(0) == 0  # [K]
    away = torch.where(absent, torch.inf, 0.0).to(x.dtype)
    member = torch.zeros_like(start)
    for _ in run.loop(cfg.max_iter, "K-means"):
        distance = _squared_distances(x, centres) + away
        before, member = member, _nearest(distance) * labelled  # [N, K]
        size = member.sum(0).unsqueeze(1)
        centres = torch.where(size > 0, (member.T @ x) / size.clamp(min=1e-12), centres)
        if run.settled((member - before).abs().sum(), 1e-6):
            break
    named = _name_clusters(member.T @ _nearest(-labels.votes), absent)  # [cluster, class]
    # Fuzzy memberships: the nearer a centre, the likelier its class.
    closeness = 1 / (_squared_distances(x, centres) + away).clamp(min=1e-12)
    posterior = (closeness / closeness.sum(1, keepdim=True)) @ named
    return ClassEstimate(posterior=torch.where(labelled > 0, posterior, 1 / labels.n_classes))


def _features(labels: Labels, cfg: ClusteringConfig) -> tuple[Tensor, Tensor]:
    """Min-max normalised features [N, D] of each item, and its shares [N, K]."""
    import torch

    counts = labels.votes + cfg.smoothing
    shares = counts / counts.sum(1, keepdim=True).clamp(min=1e-12)
    x = shares
    if cfg.difference:
        last = shares.narrow(1, labels.n_classes - 1, 1)
        x = torch.cat([shares, (last - shares.narrow(1, 0, 1)) / labels.n_classes], 1)
    labelled = (labels.counts > 0).unsqueeze(1)
    low = torch.where(labelled, x, torch.inf).amin(0)
    high = torch.where(labelled, x, -torch.inf).amax(0)
    return (x - low) / (high - low).clamp(min=1e-12), shares


def _squared_distances(x: Tensor, centres: Tensor) -> Tensor:
    """From every item to every centre [N, K], without an array [N, K, D]."""
    inner = x @ centres.T
    return (x.square().sum(1, keepdim=True) - 2 * inner + centres.square().sum(1)).clamp(min=0)


def _nearest(distance: Tensor) -> Tensor:
    """Rows with everything on the smallest entry, in equal parts where several are."""
    best = (distance <= distance.amin(1, keepdim=True) + 1e-9).to(distance.dtype)
    return best / best.sum(1, keepdim=True)


def _name_clusters(counts: Tensor, absent: Tensor) -> Tensor:
    """Match clusters with classes one to one [K, K]: the purest pair first, then the largest.

    Classes that nobody gave are matched with the clusters that they do not have.
    """
    import torch

    total = counts.sum(1, keepdim=True)
    purity = counts / total.clamp(min=1e-12) + 1e-6 * counts / counts.sum().clamp(min=1e-12)
    purity = torch.where(absent.unsqueeze(1) == absent, purity, -0.5)
    classes = len(counts)
    named = torch.zeros_like(counts)
    for _ in range(classes):
        cell = purity.argmax().reshape(1)
        row, column = cell // classes, cell % classes
        named.view(-1).index_fill_(0, cell, 1.0)
        purity = purity.index_fill(0, row, -1.0).index_fill(1, column, -1.0)
    return named
