"""Workers who know or spam: their trust and habits, from the labels that they probably knew.

Columns S are starts side by side; a key is worker * K + given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from crowdcore.engine import dirichlet, em
from crowdcore.engine.squarem import Squarem

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.given_classes import GivenClasses
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

MIN_COUNT = 1e-10
"""Added to counts that are not smoothed, whose logarithm is taken."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownSpamCounts:
    """How many labels were known and spammed."""

    both: Tensor  # [W, 2, S] known, spammed
    spam: Tensor  # [W, K, S] spammed, by class


@dataclass(frozen=True, kw_only=True, eq=False)
class SpamModel:
    """The workers' trust and habits, and the logs that the E step needs."""

    trust: Tensor  # [W, S]
    habit: Tensor  # [W * K, S]
    log_known: Tensor  # [W * K, S]
    log_spam: Tensor  # [W * K, S]
    bound_term: Tensor  # [S] what the E step's total lacks to be a bound on the evidence


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedStarts:
    """Starts that have converged; every table has one column per start."""

    bound: Tensor  # [1, S]
    given: Tensor  # [C, S]
    unseen: Tensor  # [N, S]
    prior: Tensor  # [K, S]
    trust: Tensor  # [W, S]
    habit: Tensor  # [W * K, S]

    def best(self, lead: float) -> FittedStarts:
        """The start with the highest bound; all but the first must lead by so much."""
        is_random = torch.arange(self.bound.shape[1], device=self.bound.device).clamp(max=1)
        winner = (self.bound - lead * is_random).argmax(1)
        tables = {name: table.index_select(1, winner) for name, table in vars(self).items()}
        return FittedStarts(**tables)

    @staticmethod
    def concatenate(batches: list[FittedStarts]) -> FittedStarts:
        """Put batches of starts side by side."""
        names = vars(batches[0])
        return FittedStarts(
            **{name: torch.cat([vars(batch)[name] for batch in batches], 1) for name in names}
        )


def count(labels: Labels, key_counts: Tensor, n_known: Tensor) -> KnownSpamCounts:
    """Count known and spammed labels, from how many of each key were known [W * K, S]."""
    size = (labels.n_workers, labels.n_classes, n_known.shape[1])
    spam = (key_counts.unsqueeze(1) - n_known).clamp_(min=0).reshape(size)
    both = torch.stack([n_known.reshape(size).sum(1), spam.sum(1)], 1)
    return KnownSpamCounts(both=both, spam=spam)


def maximum_likelihood(counts: KnownSpamCounts, smoothing: float) -> SpamModel:
    """Shares of the counts, after some smoothing."""
    both = counts.both + max(MIN_COUNT, smoothing)
    spam = counts.spam + max(MIN_COUNT, smoothing / counts.spam.shape[1])
    trust, habit = both / both.sum(1, keepdim=True), spam / spam.sum(1, keepdim=True)
    return _model(trust, habit, trust.log(), habit.log(), both.new_zeros(both.shape[2]))


def variational(counts: KnownSpamCounts, trust_prior: float, habit_prior: float) -> SpamModel:
    """Means and expected logs under the Beta and Dirichlet that the counts lead to."""
    both, spam = counts.both + trust_prior, counts.spam + habit_prior
    log_both, log_habit = dirichlet.expected_log(both, 1), dirichlet.expected_log(spam, 1)
    term = dirichlet.log_evidence(both.new_full((), trust_prior), counts.both, 1).sum(0)
    term = term + dirichlet.log_evidence(both.new_full((), habit_prior), counts.spam, 1).sum(0)
    term = term - (counts.both * log_both).sum((0, 1)) - (counts.spam * log_habit).sum((0, 1))
    trust, habit = both / both.sum(1, keepdim=True), spam / spam.sum(1, keepdim=True)
    return _model(trust, habit, log_both, log_habit, term)


def _model(
    both: Tensor, habit: Tensor, log_both: Tensor, log_habit: Tensor, bound_term: Tensor
) -> SpamModel:
    columns = habit.shape[2]
    log_known = log_both.select(1, 0).unsqueeze(1).expand_as(habit)
    log_spam = log_both.select(1, 1).unsqueeze(1) + log_habit
    return SpamModel(
        trust=both.select(1, 0),
        habit=habit.reshape(-1, columns),
        log_known=log_known.reshape(-1, columns),
        log_spam=log_spam.reshape(-1, columns),
        bound_term=bound_term.double(),
    )


def warm_start(
    cells: GivenClasses, right: Tensor, m_step: Callable[[KnownSpamCounts], SpamModel], steps: int
) -> Tensor:
    """The probability [W * K, 1] that a right label was known, if so many [W * K, 1] are right.

    This is what an earlier posterior says about the workers; no look at the labels is needed.
    """
    knew = right / cells.key_counts.clamp(min=1).unsqueeze(1)
    for _ in range(steps):
        model = m_step(count(cells.labels, cells.key_counts, right * knew))
        knew = (model.log_known - model.log_spam).sigmoid()
    return knew


def fit_starts(
    cells: GivenClasses,
    knew: Tensor,
    run: Run,
    *,
    m_step: Callable[[KnownSpamCounts], SpamModel],
    class_prior: bool,
    max_iter: int,
    tol: float,
) -> FittedStarts:
    """Iterate starts side by side until none gains more than `tol` per label.

    `knew` [W * K, S] is the probability that a label which is right was known, not a lucky spam.
    """
    labels, key_counts, n_starts = cells.labels, cells.key_counts.unsqueeze(1), knew.shape[1]
    start = em.initial_posterior(labels, "votes")
    right = cells.sum_by_key(cells.from_table(start).unsqueeze(1).repeat(1, n_starts))
    totals = em.class_totals(labels, start).unsqueeze(1).repeat(1, n_starts)
    last_bound = totals.new_zeros(n_starts)
    squarem = Squarem(enabled=labels.warm_start is not None)
    for _ in run.loop(max_iter, "Starts"):
        model = m_step(count(labels, cells.key_counts, right * knew))
        odds = torch.logaddexp(model.log_known, model.log_spam) - model.log_spam
        log_prior = dirichlet.expected_log(1 + totals, 0)
        prior = log_prior.exp() if class_prior else torch.ones_like(totals)
        scores = cells.sum_by_cell(odds)
        given, unseen, log_total = cells.normalise(scores, prior if class_prior else None)
        bound = log_total + model.bound_term + (key_counts * model.log_spam).sum(0).double()
        if class_prior:
            bound += dirichlet.log_evidence(totals.new_ones(()), totals, 0)
            bound -= (totals * log_prior).sum(0)
        change, last_bound = (bound - last_bound).abs() / labels.n_labels, bound
        run.log(bound=bound.amax() / labels.n_labels)
        if run.settled(change.amax(), tol) and not squarem.extrapolated:
            break
        # A start that has converged stays, however long the others take.
        moving = change >= (0.0 if squarem.enabled else tol)
        knew = torch.where(moving, (model.log_known - model.log_spam).sigmoid_(), knew)
        right = torch.where(moving, cells.sum_by_key(given), right)
        if class_prior:
            totals = torch.where(moving, cells.class_totals(given, unseen, prior), totals)
        if squarem.enabled:  # there is one start
            point = torch.cat([right, knew, totals]).double().squeeze(1)
            point = squarem.next(point, bound.sum()).clamp(min=0).unsqueeze(1)
            right, knew, totals = torch.split(point, [len(right), len(knew), len(totals)])
            right, knew = right.to(given.dtype), knew.clamp(max=1).to(given.dtype)
    return FittedStarts(
        bound=last_bound.unsqueeze(0),
        given=given,
        unseen=unseen,
        prior=prior,
        trust=model.trust,
        habit=model.habit,
    )


def fit_neutral_start(
    labels: Labels,
    run: Run,
    *,
    m_step: Callable[[KnownSpamCounts], SpamModel],
    class_prior: bool,
    max_iter: int,
    tol: float,
) -> tuple[Tensor, SpamModel]:
    """Iterate the neutral start alone, by the sums that confusion matrices use.

    With few classes this is faster than `fit_starts` with one column, and ends at the same point.

    Returns
    -------
    posterior : Tensor [N, K]
    model : SpamModel
    """
    size = (labels.n_workers, labels.n_classes, labels.n_classes)
    posterior, key_counts = em.initial_posterior(labels, "votes"), None
    eye = torch.eye(labels.n_classes, dtype=labels.dtype, device=labels.device)
    totals = em.class_totals(labels, posterior)
    knew = torch.full((), 0.5, dtype=labels.dtype, device=labels.device)
    last_bound = totals.new_zeros(())
    for _ in run.loop(max_iter, "Starts"):
        given = labels.sum_over_keys(posterior).reshape(size)  # [W, given, true]
        if key_counts is None:
            key_counts = given.sum(2).reshape(-1)
        right = given.diagonal(dim1=1, dim2=2).reshape(-1, 1)
        model = m_step(count(labels, key_counts, right * knew))
        odds = torch.logaddexp(model.log_known, model.log_spam) - model.log_spam
        log_prior = dirichlet.expected_log(1 + totals) if class_prior else torch.zeros_like(totals)
        log_confusion = odds.reshape(size[:2]).unsqueeze(1) * eye  # errors have log-odds 0
        posterior, log_total = em.e_step_from_logs(labels, log_prior, log_confusion, posterior)
        bound = log_total + (key_counts @ model.log_spam.squeeze(1)).double() + model.bound_term[0]
        if class_prior:
            bound += dirichlet.log_evidence(totals.new_ones(()), totals) - totals @ log_prior
            totals = em.class_totals(labels, posterior)
        knew = (model.log_known - model.log_spam).sigmoid_()
        change, last_bound = (bound - last_bound).abs() / labels.n_labels, bound
        run.log(bound=bound / labels.n_labels)
        if run.settled(change, tol):
            break
    return posterior, model
