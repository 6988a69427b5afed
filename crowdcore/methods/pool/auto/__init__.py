"""Auto: several methods of different kinds, pooled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.artefacts.candidates import Candidates
from crowdcore.artefacts.own_confidence import OwnConfidence
from crowdcore.artefacts.pool_members import PoolMembers
from crowdcore.class_result import ClassEstimate, ClassResult
from crowdcore.config import GoldConfig
from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.distributions import as_array, likeliest_classes
from crowdcore.method import method
from crowdcore.methods.pool.auto import _choosing
from crowdcore.result import Result
from crowdcore.wording import percent

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.artefacts.artefact import Artefact
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

MEMBERS: tuple[tuple[str, int], ...] = (("hds", 1), ("ds", 1), ("hbcc", 1), ("mace", 3))
"""Members with their weights, the cheap ones first: as much for the three that model errors by
matrices, from coarse to rich, as for the one that models spamming."""

VOTES_WEIGHT = 1
"""The weight of the votes themselves, which decide where the two kinds of members stand against
each other, both sure: without it the last digits of their probabilities would."""

MIN_OTHER_PROBABILITY = 0.01
"""No member can veto a class: all other classes together have at least this probability."""

NEEDS_LISTED_LABELS = "mace"
"""The member that must list all labels; of a large completed matrix they can only be counted."""


class AutoConfig(GoldConfig):
    """Settings of the pool."""

    calibrate: Literal["off", "crowds", "labels", "gold"] = Field(
        "crowds",
        description="Let probabilities say how often truths like these were right among simulated "
        "crowds; or leave them as the pool has them, or fit them to labels that were held out, or "
        "to gold. The truths stay.",
    )
    choose: Literal["off", "ask", "gold"] = Field(
        "off",
        description="Fit further methods too, so that questions can be asked (ask), or let known "
        "answers, from ten on, tell which to trust (gold). These then stand, and no longer score "
        "the result.",
    )
    max_seconds: int = Field(
        600, ge=1, le=1_000_000, description="Seconds after which no further member is started."
    )


@method(
    title="Auto (pool of methods)",
    year=2026,
    paper="logarithmic opinion pool; Genest and Zidek, doi:10.1214/ss/1177013825",
    config=AutoConfig,
    leaves=[PoolMembers, Candidates, OwnConfidence],
    quick={"choose": "ask"},
    excuses={
        "fake_cuda": "It reads back how far its members agree; they are tested themselves.",
    },
)
def auto(labels: Labels, cfg: AutoConfig, run: Run) -> ClassEstimate:
    """Pool the posteriors of several methods, and report where they disagree."""
    from crowdcore.engine import em

    start = time.perf_counter()
    if (
        cfg.choose == "gold" and labels.use_gold
    ):  # answers that a member knows cannot tell how good it is
        labels = labels.with_data(labels.data)

    def fit_member(name: str, params: dict[str, object]) -> ClassResult:
        return _fit_member(labels, name, params, run.part(name))

    results: list[ClassResult] = []
    pool = [
        (name, weight) for name, weight in MEMBERS if labels.listable or name != NEEDS_LISTED_LABELS
    ]
    for step in run.loop(len(pool), "Members"):
        results.append(fit_member(pool[step][0], {"use_gold": labels.use_gold}))
        run.log(seconds=time.perf_counter() - start)
        if time.perf_counter() - start > cfg.max_seconds:
            break
    run.converged = all(result.provenance.converged for result in results)
    member_weights = [weight for _, weight in pool[: len(results)]]
    scores = log_opinion(labels.shares()) * VOTES_WEIGHT
    for result, weight in zip(results, member_weights, strict=True):
        posterior = labels.tensor(result.posterior, labels.dtype)
        scores.add_(log_opinion(posterior), alpha=weight)
    scores /= VOTES_WEIGHT + sum(member_weights)
    posterior, _ = em.normalise(labels, scores)
    truth, _ = likeliest_classes(as_array(posterior, np.float64))
    n_disputed = int(np.any([result.truth != truth for result in results], axis=0).sum())
    artefacts: list[Artefact] = []
    chosen_notes: list[str] = []
    has_chosen = False
    if cfg.choose != "off":
        further, left_out = _choosing.fit_candidates(
            labels, run, fit_member, stop_at=start + cfg.max_seconds
        )
        chosen, candidates, chosen_notes = _choose(
            labels.observed,
            posterior,
            [*results, *further],
            left_out=left_out,
            use_answers=cfg.choose == "gold",
        )
        artefacts.append(candidates)
        if has_chosen := bool(len(candidates.answered)):
            posterior = labels.tensor(chosen, labels.dtype)
            truth, _ = likeliest_classes(chosen)
    truths = [truth, *(result.truth for result in results)]
    members_against = np.sum([each != truth for each in truths[1:]], axis=0)
    agreement = [[float(np.mean(a == b)) for b in truths] for a in truths[1:]]
    if has_chosen:  # the known answers stand
        posterior = _with_answers(labels, posterior, candidates.answered)
    counts = em.given_counts(labels, posterior)
    members = PoolMembers(
        names=[result.provenance.method for result in results],
        titles=[result.provenance.title for result in results],
        weights=np.array(member_weights),
        votes=VOTES_WEIGHT,
        skipped=[name for name, _ in pool[len(results) :]],
        agreement=np.array(agreement),
    )
    return ClassEstimate(
        posterior=posterior,
        confusion=em.normalise_rows(counts, 0.01),
        item_scores={"members_against": members_against},
        artefacts=[members, *artefacts],
        members=tuple(results),
        used_gold=has_chosen,
        notes=(*_notes(labels, members, n_disputed), *chosen_notes),
    )


def _fit_member(labels: Labels, name: str, params: dict[str, object], run: Run) -> ClassResult:
    from crowdcore.registry import get_method

    member, start = get_method(name), time.perf_counter()
    config = member.configure(params)
    result = Result.checked(
        member.function(labels, config, run),
        data=labels.observed,
        method=member,
        config=config,
        run=run,
        began=start,
        used_gold=labels.use_gold,
    )
    assert isinstance(result, ClassResult)  # members work on classes
    return result


def _with_answers(labels: Labels, posterior: Tensor, answered: NDArray[np.integer]) -> Tensor:
    gold = labels.observed.gold
    assert gold is not None  # or nothing would be answered
    certain = np.eye(labels.n_classes)[gold[answered]]
    return posterior.index_copy(0, labels.tensor(answered), labels.tensor(certain, labels.dtype))


def _choose(
    data: CrowdData,
    posterior: Tensor,
    fitted: list[ClassResult],
    *,
    left_out: list[str],
    use_answers: bool,
) -> tuple[Floats, Candidates, list[str]]:
    """Let known answers weigh the pool and single methods; the items that are known stand."""
    others = [
        result
        for result in fitted
        if result.provenance.method in (*_choosing.OF_THE_POOL, *_choosing.FURTHER)
    ]
    gold = np.full(data.n_items, UNKNOWN)
    if use_answers and data.gold is not None:
        gold = data.gold
    own = as_array(posterior, np.float64)
    chosen, candidates, notes = _choosing.choose(
        names=["auto", *(result.provenance.method for result in others)],
        titles=["the pool", *(result.provenance.title for result in others)],
        posteriors=[own, *(result.posterior for result in others)],
        truths=np.stack([likeliest_classes(own)[0], *(result.truth for result in others)]),
        gold=gold,
        left_out=left_out,
    )
    return chosen, candidates, notes


def _notes(labels: Labels, members: PoolMembers, n_disputed: int) -> list[str]:
    data, labels_per_worker = labels.observed, labels.labels_per_worker
    notes = [
        f"Pooled {len(members.names)} methods: {', '.join(members.titles)}; and the votes.",
        f"They disagree on {n_disputed:,} of {data.n_items:,} items: there the choice of a method "
        "matters."
        if n_disputed
        else "They agree on all items.",
    ]
    if n_disputed:
        notes.append(
            f"A few answers asked where methods disagree tell which to trust; that can change up "
            f"to {percent(n_disputed / data.n_items)} of the truths. See Answer a few, or "
            "crowdcore ask."
        )
    if members.skipped:
        notes.append(f"Time ran out before {', '.join(members.skipped)} could start.")
    if not labels.listable:
        notes.append(
            f"{NEEDS_LISTED_LABELS} was left out: {labels.n_labels:,} labels are too many to list."
        )
    median = int(np.median(labels_per_worker[labels_per_worker > 0]))
    if median < data.n_classes**2:
        notes.append(
            f"Half of the workers have at most {median:,} labels, fewer than the "
            f"{data.n_classes**2:,} cells of a confusion matrix: too few for the richer models to "
            "be better than the simple ones."
        )
    return notes


def log_opinion(posterior: Tensor) -> Tensor:
    """What a member adds to the pool, in logarithms [N, K]."""
    return posterior.clamp(min=MIN_OTHER_PROBABILITY / max(1, posterior.shape[1] - 1)).log()
