"""One E step and one M step, shared by every method with a confusion matrix a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from crowdcore.engine.leaps import Leaps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from crowdcore.labels import Labels

FLOOR = 1e-10
"""The smallest probability whose logarithm is taken."""


TIE = 1e-9
"""Two probabilities that differ by less are drawn for; float noise must not decide."""

RELATIVE = 1e-5
"""The share of a number by which `numpy.allclose` lets it move anyway."""

FARTHEST = 46.0
"""How far logs may be from each other, and those of totals from 0, for single precision."""

ROWS = 32_768
"""Rows of a table that are worked on at a time, so that they stay next to the processor."""

EXACT = 2**24
"""Up to this, whole numbers add up exactly in single precision."""

QUALITY = 0.7
"""How often every worker is thought to be right when nothing is known (Zheng et al. 2017)."""


def start(labels: Labels, how: Literal["votes", "quality"]) -> Tensor:
    """First posterior [N, K]: vote shares, or an E step with workers of one known quality.

    An earlier result, where the run was given one, takes the place of both.
    """
    if labels.warm is not None:
        return labels.warm.clone()  # the first step takes over its memory
    if how == "votes":
        # By the sums of an E step, which are needed anyhow; `labels.votes` would be one more.
        return labels.shares(labels.weighted_votes(torch.ones_like(labels.worker_counts)))
    accuracy = torch.full((labels.n_workers,), QUALITY, dtype=labels.dtype, device=labels.device)
    prior = torch.full((labels.n_classes,), 1 / labels.n_classes, device=labels.device)
    return e_step(labels, prior, one_coin(accuracy, labels.n_classes))[0]


def e_step(
    labels: Labels, prior: Tensor, confusion: Tensor, spent: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Posterior [N, K] and log-likelihood, from a prior [K] and confusion [W, true, given].

    `spent` is the posterior before, where nobody needs it any more: its memory is used again.
    """
    logs = prior.clamp(min=FLOOR).log(), confusion.clamp(min=FLOOR).log()
    return e_step_of_logs(labels, *logs, spent)


def e_step_of_logs(
    labels: Labels, log_prior: Tensor, log_confusion: Tensor, spent: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """As `e_step`, from logarithms, which need not be those of distributions."""
    return normalise(labels, _evidence(labels, log_confusion, spent), log_prior)


def log_scores(labels: Labels, prior: Tensor, confusion: Tensor) -> Tensor:
    """How well each class explains each item's labels [N, K], in logarithms."""
    scores = _evidence(labels, confusion.clamp(min=FLOOR).log())
    logs = prior.clamp(min=FLOOR).log().to(labels.dtype)
    for rows in _blocks(scores):
        rows.add_(rows.new_ones(len(rows), 1) @ logs.unsqueeze(0))  # faster than one short row
    return labels.clamp(scores, other=-torch.inf)


def _evidence(labels: Labels, log_confusion: Tensor, spent: Tensor | None = None) -> Tensor:
    """What an item's labels alone say of each class [N, K]."""
    table = log_confusion.transpose(1, 2).reshape(-1, labels.n_classes)
    return labels.sum_over_items(table.to(labels.dtype), spent)


def normalise(
    labels: Labels, scores: Tensor, log_prior: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Turn log scores [N, K] into distributions, and add up the logs of their totals.

    Gold, where it is used, leaves its class alone on its items. Works in place otherwise. A
    prior [K] is added first, while a block is at hand.
    """
    scores = labels.clamp(scores, other=-torch.inf)
    logs = scores.new_zeros(scores.shape[1]) if log_prior is None else log_prior.to(scores.dtype)
    spread, common, most = (logs.unsqueeze(1) - logs).exp_(), logs.argmax(), logs.max().double()
    # On a GPU a look at numbers waits for all of them; the longer way takes less.
    plain = scores.device.type == "cpu" and float(most - logs.min()) < FARTHEST
    totals = []
    for rows in _blocks(scores):
        total = _plain(rows, spread, int(common)) if plain else None
        totals.append(_shifted(rows, logs) if total is None else total + len(rows) * most)
    return scores, torch.stack(totals).sum()


def _plain(scores: Tensor, spread: Tensor, common: int) -> Tensor | None:
    """Make distributions of rows, in place, and add up the logs of their totals; None if too far.

    A product adds up short rows fastest. `spread` is such that each of its columns has every
    row's total, over the prior of the column's class; `common` is the class that has the largest.
    """
    weights = scores.exp()
    totals = weights @ spread
    logs = totals.select(1, common).log()
    least, most = logs.aminmax()
    if least.item() < -FARTHEST or not most.item() < FARTHEST:
        return None
    torch.div(weights, totals, out=scores)
    return logs.sum(dtype=torch.float64)


def _shifted(scores: Tensor, log_prior: Tensor) -> Tensor:
    """As `_plain`, whatever the scores: rows are shifted by their largest first."""
    scores += log_prior
    top = scores.amax(1, keepdim=True)
    total = scores.sub_(top).exp_() @ torch.ones_like(log_prior).unsqueeze(1)
    scores /= total
    return (top + total.log()).sum(dtype=torch.float64)


def _blocks(rows: Tensor) -> Iterable[Tensor]:
    """Pieces of a table that stay in the processor's cache; a GPU takes it whole."""
    return torch.split(rows, ROWS if rows.device.type == "cpu" else len(rows))


def given_counts(labels: Labels, posterior: Tensor) -> Tensor:
    """Soft counts [W, true, given] of what each worker gave when the truth was so."""
    size = (labels.n_workers, labels.n_classes, labels.n_classes)
    return labels.sum_over_keys(posterior).reshape(size).transpose(1, 2)


def class_totals(labels: Labels, posterior: Tensor) -> Tensor:
    """How many of the items that have labels belong to each class [K], in float64."""
    # Torch adds columns in cascades, so float32 is exact enough within a block.
    parts = [rows.sum(0) for rows in _blocks(posterior)]
    total = torch.stack(parts).sum(0, dtype=torch.float64)
    return total - posterior.index_select(0, labels.unlabelled).sum(0, dtype=torch.float64)


class Tally:
    """What an M step counts; after a warm start the counts leap ahead (`leaps`)."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.leaps = Leaps(on=labels.warm is not None)

    @property
    def leapt(self) -> bool:
        """Whether the last counts were leapt to: what came of them is no sign of the end."""
        return self.leaps.leapt

    def count(self, posterior: Tensor, value: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The counts [W, true, given] and the totals of the classes [K].

        `value` is the log-likelihood, or a bound of it, that the last counts led to.
        """
        counts, totals = given_counts(self.labels, posterior), class_totals(self.labels, posterior)
        if not self.leaps.on:
            return counts, totals
        point = self.leaps.next(torch.cat([counts.reshape(-1).double(), totals]), value)
        parts = torch.split(point.clamp(min=0), [counts.numel(), totals.numel()])
        return parts[0].reshape(counts.shape), parts[1]


def class_prior(labels: Labels, posterior: Tensor) -> Tensor:
    """The mean posterior [K] of the items that have labels."""
    total = class_totals(labels, posterior)
    return total / total.sum()


def rows_of(counts: Tensor, smoothing: float) -> Tensor:
    """Distributions over the last axis; rows with nothing in them become uniform."""
    counts = counts + smoothing
    total = counts.sum(-1, keepdim=True)
    return torch.where(total > FLOOR, counts / total.clamp(min=FLOOR), 1 / counts.shape[-1])


def one_coin(accuracy: Tensor, n_classes: int) -> Tensor:
    """Confusion [W, K, K] whose diagonal is `accuracy` [W] or [W, K], errors spread evenly."""
    diagonal = accuracy if accuracy.dim() > 1 else accuracy.unsqueeze(1).expand(-1, n_classes)
    off = (1 - diagonal) / max(1, n_classes - 1)
    eye = torch.eye(n_classes, dtype=accuracy.dtype, device=accuracy.device)
    spread = off.unsqueeze(2) * (1 - eye)
    return spread + diagonal.unsqueeze(2) * eye


def decide(scores: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """One-hot rows at the best class, in place, and the sum of the best scores; ties are drawn.

    Scores that differ by no more than float noise are tied.
    """
    totals = [_decide(rows, generator) for rows in _blocks(scores)]
    return scores, torch.stack(totals).sum()


def _decide(rows: Tensor, generator: torch.Generator) -> Tensor:
    ones = rows.new_ones(rows.shape[1], 1)
    top = rows.amax(1)
    least = top - (TIE + 8 * torch.finfo(rows.dtype).eps * top.abs())
    torch.ge(rows, least.unsqueeze(1) @ ones.T, out=rows)
    exact = rows.dtype if rows.numel() < EXACT else torch.float64
    if rows.sum(dtype=exact) > len(rows):
        tied = ((rows @ ones).squeeze(1) > 1).nonzero().squeeze(1)
        best = rows.index_select(0, tied)
        draw = torch.rand(best.shape, generator=generator, device=rows.device)
        winner = (draw * best).argmax(1, keepdim=True)
        rows.index_copy_(0, tied, torch.zeros_like(best).scatter_(1, winner, 1.0))
    return top.sum(dtype=torch.float64)


def largest_move(before: Tensor, after: Tensor) -> Tensor:
    """The largest change of a probability, as `numpy.allclose` sees it (less a tiny share)."""
    return ((after - before).abs_() - RELATIVE * before.abs()).amax()


def draw_classes(posterior: Tensor, generator: torch.Generator | None) -> Tensor:
    """One-hot rows, each drawn from its distribution."""
    size = (len(posterior), 1)
    draw = torch.rand(size, generator=generator, dtype=posterior.dtype, device=posterior.device)
    # 1 - draw is never 0, so that a class of probability 0 is never drawn.
    passed = posterior.cumsum(1) < 1 - draw
    drawn = passed.sum(1, keepdim=True).clamp_(max=posterior.shape[1] - 1)
    return torch.zeros_like(posterior).scatter_(1, drawn, 1.0)
