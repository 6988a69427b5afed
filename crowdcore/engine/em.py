"""One E step and one M step, shared by every method with a confusion matrix per worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from crowdcore.engine.squarem import Squarem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from crowdcore.engine.labels import Labels

MIN_PROBABILITY = 1e-10
"""The smallest probability whose logarithm is taken."""

TIE_TOLERANCE = 1e-9
"""Two probabilities that differ by less are drawn for; float noise must not decide."""

RELATIVE_TOLERANCE = 1e-5
"""The share of a number by which `numpy.allclose` lets it move anyway."""

MAX_LOG_SPREAD = 46.0
"""How far logs may be from each other, and those of totals from 0, for single precision."""

ROWS_PER_CHUNK = 32_768
"""Rows of a table that are worked on at a time, so that they stay next to the processor."""

MAX_EXACT_FLOAT32 = 2**24
"""Up to this, whole numbers add up exactly in single precision."""

MAX_RESTART_NUMBERS = 16_000_000
"""Numbers in one table of a batch of restarts: 64 MB in float32, a few held at once."""

DEFAULT_ACCURACY = 0.7
"""How often every worker is thought to be right when nothing is known (Zheng et al. 2017)."""


def initial_posterior(labels: Labels, source: Literal["votes", "quality"]) -> Tensor:
    """Return the posterior that a fit begins from.

    Parameters
    ----------
    labels : Labels
        The labels; an earlier result that they bring takes the place of both sources.
    source : {"votes", "quality"}
        Vote shares, or an E step in which every worker has the `DEFAULT_ACCURACY`.

    Returns
    -------
    Tensor [N, K]
    """
    if labels.warm_start is not None:
        return labels.warm_start.clone()  # the first step takes over its memory
    if source == "votes":
        # By the sums of an E step, which are needed anyhow; `labels.votes` would be one more.
        return labels.shares(labels.weighted_votes(torch.ones_like(labels.worker_counts)))
    size, device = (labels.n_workers,), labels.device
    accuracy = torch.full(size, DEFAULT_ACCURACY, dtype=labels.dtype, device=device)
    prior = torch.full((labels.n_classes,), 1 / labels.n_classes, device=device)
    return e_step(labels, prior, one_coin_confusion(accuracy, labels.n_classes))[0]


def e_step(
    labels: Labels, prior: Tensor, confusion: Tensor, buffer: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Infer the items' classes from the workers' confusion matrices.

    Parameters
    ----------
    labels : Labels
        The labels; gold is held where they say so.
    prior : Tensor [K]
        Share of the items in each class.
    confusion : Tensor [W, true, given]
        The workers' confusion matrices.
    buffer : Tensor [N, K], optional
        The posterior before, where nobody needs it any more: its memory is used again.

    Returns
    -------
    posterior : Tensor [N, K]
    log_likelihood : Tensor
        Of all labels, in float64.
    """
    logs = prior.clamp(min=MIN_PROBABILITY).log(), confusion.clamp(min=MIN_PROBABILITY).log()
    return e_step_from_logs(labels, *logs, buffer)


def e_step_from_logs(
    labels: Labels, log_prior: Tensor, log_confusion: Tensor, buffer: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """As `e_step`, from logarithms, which need not be those of distributions."""
    return normalise(labels, _item_log_likelihood(labels, log_confusion, buffer), log_prior)


def log_scores(labels: Labels, prior: Tensor, confusion: Tensor) -> Tensor:
    """Return the joint log-probability of each class and the item's labels [N, K]."""
    scores = _item_log_likelihood(labels, confusion.clamp(min=MIN_PROBABILITY).log())
    log_prior = prior.clamp(min=MIN_PROBABILITY).log().to(labels.dtype)
    for rows in _chunks(scores):
        rows.add_(rows.new_ones(len(rows), 1) @ log_prior.unsqueeze(0))  # faster than one short row
    return labels.clamp(scores, other=-torch.inf)


def _item_log_likelihood(
    labels: Labels, log_confusion: Tensor, buffer: Tensor | None = None
) -> Tensor:
    """Log-likelihood of each item's labels under each class [N, K]."""
    table = log_confusion.transpose(1, 2).reshape(-1, labels.n_classes)
    return labels.sum_over_items(table.to(labels.dtype), buffer)


def normalise(
    labels: Labels, scores: Tensor, log_prior: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Turn log scores into distributions, in place unless gold is used.

    Parameters
    ----------
    labels : Labels
        Gold, where they use it, leaves its class alone on its items.
    scores : Tensor [N, K]
        Unnormalised log-probabilities; overwritten.
    log_prior : Tensor [K], optional
        Added to the scores first, while a chunk is at hand.

    Returns
    -------
    posterior : Tensor [N, K]
    log_total : Tensor
        The logs of the rows' totals, added up in float64 over the items of all parts.
    """
    scores = labels.clamp(scores, other=-torch.inf)
    logs = scores.new_zeros(scores.shape[1]) if log_prior is None else log_prior.to(scores.dtype)
    ratios, commonest, top = (logs.unsqueeze(1) - logs).exp_(), logs.argmax(), logs.max().double()
    # On a GPU a look at numbers waits for all of them; the longer way takes less.
    plain = scores.device.type == "cpu" and float(top - logs.min()) < MAX_LOG_SPREAD
    totals = []
    for rows in _chunks(scores):
        total = _normalise_plain(rows, ratios, int(commonest)) if plain else None
        totals.append(_normalise_shifted(rows, logs) if total is None else total + len(rows) * top)
    return scores, labels.parts.sum(_total(totals, scores))


def _total(sums: list[Tensor], like: Tensor) -> Tensor:
    """The sum of numbers in float64; 0 for a part without items."""
    none = torch.zeros((), dtype=torch.float64, device=like.device)
    return torch.stack(sums).sum() if len(like) else none


def _normalise_plain(scores: Tensor, prior_ratios: Tensor, commonest: int) -> Tensor | None:
    """Make distributions of rows, in place, and add up the logs of their totals; None if too far.

    A product adds up short rows fastest. Each column of `prior_ratios` gives every row's total,
    over the prior of the column's class; `commonest` is the class with the largest prior.
    """
    weights = scores.exp()
    totals = weights @ prior_ratios
    logs = totals.select(1, commonest).log()
    lowest, highest = logs.aminmax()
    if lowest.item() < -MAX_LOG_SPREAD or not highest.item() < MAX_LOG_SPREAD:
        return None
    torch.div(weights, totals, out=scores)
    return logs.sum(dtype=torch.float64)


def _normalise_shifted(scores: Tensor, log_prior: Tensor) -> Tensor:
    """As `_normalise_plain`, whatever the scores: rows are shifted by their largest first."""
    scores += log_prior
    top = scores.amax(1, keepdim=True)
    total = scores.sub_(top).exp_() @ torch.ones_like(log_prior).unsqueeze(1)
    scores /= total
    return (top + total.log()).sum(dtype=torch.float64)


def _chunks(rows: Tensor) -> Iterable[Tensor]:
    """Chunks of a table that stay in the processor's cache; a GPU takes it whole."""
    if not len(rows):  # a part without items
        return ()
    return torch.split(rows, ROWS_PER_CHUNK if rows.device.type == "cpu" else len(rows))


def given_counts(labels: Labels, posterior: Tensor) -> Tensor:
    """Count softly what each worker gave when the truth was so.

    Parameters
    ----------
    labels : Labels
        The labels.
    posterior : Tensor [N, K]
        Probabilities of the items' classes.

    Returns
    -------
    Tensor [W, true, given]
    """
    size = (labels.n_workers, labels.n_classes, labels.n_classes)
    return labels.sum_over_keys(posterior).reshape(size).transpose(1, 2)


def class_totals(labels: Labels, posterior: Tensor) -> Tensor:
    """Count softly the items with labels in each class [K], of all parts, in float64."""
    # Torch adds columns in cascades, so float32 is exact enough within a chunk.
    sums = [rows.sum(0) for rows in _chunks(posterior)] or [posterior.sum(0)]
    total = torch.stack(sums).sum(0, dtype=torch.float64)
    unlabelled = posterior.index_select(0, labels.unlabelled).sum(0, dtype=torch.float64)
    return labels.parts.sum(total - unlabelled)


class Tally:
    """What an M step counts; after a warm start the counts are extrapolated by SQUAREM.

    Parameters
    ----------
    labels : Labels
        The labels that are counted.
    extrapolate : bool
        Whether to extrapolate from any start.
    """

    def __init__(self, labels: Labels, *, extrapolate: bool = False) -> None:
        self.labels = labels
        self._squarem = Squarem(enabled=extrapolate or labels.warm_start is not None)

    @property
    def extrapolated(self) -> bool:
        """Whether the last counts were extrapolated: what came of them is no sign of the end."""
        return self._squarem.extrapolated

    def count(self, posterior: Tensor, value: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Count softly what workers gave, and how common classes are.

        Parameters
        ----------
        posterior : Tensor [N, K]
            Probabilities of the items' classes.
        value : Tensor, optional
            The log-likelihood, or a bound of it, that the last counts led to.

        Returns
        -------
        counts : Tensor [W, true, given]
        totals : Tensor [K]
            Items with labels in each class.
        """
        kept = self.labels.kept
        if kept is not None and (earlier := kept.take()) is not None:
            return earlier  # of a run that was broken off: it goes on from here
        counts, totals = given_counts(self.labels, posterior), class_totals(self.labels, posterior)
        if kept is not None:
            kept.put(counts, totals)
        if not self._squarem.enabled:
            return counts, totals
        point = self._squarem.next(torch.cat([counts.reshape(-1).double(), totals]), value)
        sizes = [counts.numel(), totals.numel()]
        next_counts, next_totals = torch.split(point.clamp(min=0), sizes)
        return next_counts.reshape(counts.shape), next_totals


def class_prior(labels: Labels, posterior: Tensor) -> Tensor:
    """Return the mean posterior [K] of the items that have labels."""
    total = class_totals(labels, posterior)
    return total / total.sum()


def normalise_rows(counts: Tensor, smoothing: float) -> Tensor:
    """Turn counts into distributions over the last axis.

    Parameters
    ----------
    counts : Tensor [..., K]
        Soft counts.
    smoothing : float
        Added to each count.

    Returns
    -------
    Tensor [..., K]
        Rows with nothing in them are uniform.
    """
    counts = counts + smoothing
    total = counts.sum(-1, keepdim=True)
    shares = counts / total.clamp(min=MIN_PROBABILITY)
    return torch.where(total > MIN_PROBABILITY, shares, 1 / counts.shape[-1])


def one_coin_confusion(accuracy: Tensor, n_classes: int) -> Tensor:
    """Return confusion matrices [W, K, K] whose errors are spread evenly.

    Parameters
    ----------
    accuracy : Tensor [W] or [W, K]
        How often each worker is right, in each class.
    n_classes : int
        Number of classes K.
    """
    diagonal = accuracy if accuracy.dim() > 1 else accuracy.unsqueeze(1).expand(-1, n_classes)
    off_diagonal = (1 - diagonal) / max(1, n_classes - 1)
    eye = torch.eye(n_classes, dtype=accuracy.dtype, device=accuracy.device)
    errors = off_diagonal.unsqueeze(2) * (1 - eye)
    return errors + diagonal.unsqueeze(2) * eye


def hard_assign(
    labels: Labels, scores: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Put everything on the best class of each row, in place.

    Parameters
    ----------
    labels : Labels
        The labels, which say how ties are drawn.
    scores : Tensor [N, K]
        Overwritten.
    generator : torch.Generator
        Draws ties; scores that differ by no more than float noise are tied. Its state gives the
        seed of a step.

    Returns
    -------
    decisions : Tensor [N, K]
        One-hot rows.
    total : Tensor
        The sum of the best scores of all parts, in float64.
    """
    totals = []
    for block, draws in labels.blocks(scores, generator):
        totals += [_hard_assign(rows, draws) for rows in _chunks(block)]
    return scores, labels.parts.sum(_total(totals, scores))


def _hard_assign(rows: Tensor, generator: torch.Generator) -> Tensor:
    ones = rows.new_ones(rows.shape[1], 1)
    top = rows.amax(1)
    threshold = top - (TIE_TOLERANCE + 8 * torch.finfo(rows.dtype).eps * top.abs())
    torch.ge(rows, threshold.unsqueeze(1) @ ones.T, out=rows)
    exact = rows.dtype if rows.numel() < MAX_EXACT_FLOAT32 else torch.float64
    if rows.sum(dtype=exact) > len(rows):
        tied = ((rows @ ones).squeeze(1) > 1).nonzero().squeeze(1)
        best = rows.index_select(0, tied)
        draw = torch.rand(best.shape, generator=generator, device=rows.device)
        winner = (draw * best).argmax(1, keepdim=True)
        rows.index_copy_(0, tied, torch.zeros_like(best).scatter_(1, winner, 1.0))
    return top.sum(dtype=torch.float64)


def max_change(labels: Labels, before: Tensor, after: Tensor) -> Tensor:
    """Return the largest change of a probability in any part, as `numpy.allclose` sees it."""
    if not len(before):
        return labels.parts.max(before.new_zeros(()))
    changes = [
        ((new - old).abs_() - RELATIVE_TOLERANCE * old.abs()).amax()
        for old, new in zip(_chunks(before), _chunks(after), strict=True)
    ]
    return labels.parts.max(torch.stack(changes).amax())


def draw_classes(posterior: Tensor, generator: torch.Generator | None) -> Tensor:
    """Draw a class for each row of a posterior [N, K], as one-hot rows."""
    size = (len(posterior), 1)
    draw = torch.rand(size, generator=generator, dtype=posterior.dtype, device=posterior.device)
    # 1 - draw is never 0, so that a class of probability 0 is never drawn.
    passed = posterior.cumsum(1) < 1 - draw
    drawn = passed.sum(1, keepdim=True).clamp_(max=posterior.shape[1] - 1)
    return torch.zeros_like(posterior).scatter_(1, drawn, 1.0)


def restart_batches(total: int, numbers_each: int) -> list[int]:
    """Return how many restarts to run together, batch after batch.

    Parameters
    ----------
    total : int
        Number of restarts.
    numbers_each : int
        Numbers that each keeps in its largest table.
    """
    together = max(1, min(total, MAX_RESTART_NUMBERS // max(1, numbers_each)))
    n_full, n_last = divmod(total, together)
    return [together] * n_full + [n_last] * (n_last > 0)


def affordable_restarts(wanted: int, work_each: int, max_work: int) -> int:
    """Return how many of the wanted restarts fit into a budget of work; at least one."""
    return max(1, min(wanted, max_work // max(1, work_each)))
