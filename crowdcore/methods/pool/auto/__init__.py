"""Auto: several methods of different kinds, pooled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore import questions
from crowdcore.artefacts.candidates import Candidates
from crowdcore.artefacts.feature_voice import FeatureVoice
from crowdcore.artefacts.own_confidence import OwnConfidence
from crowdcore.artefacts.pool_members import PoolMembers
from crowdcore.config import GoldConfig
from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.distributions import as_array, likeliest_classes
from crowdcore.method import method
from crowdcore.methods.pool.auto import _choosing, _features
from crowdcore.methods.pool.auto._pool import (
    MEMBERS,
    NEEDS_LISTED_LABELS,
    VOTES_WEIGHT,
    Pool,
    fit_member,
    fit_pool,
    log_opinion,
    over_parts,
)
from crowdcore.results.classes import ClassEstimate, ClassResult
from crowdcore.wording import percent

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.artefacts.artefact import Artefact
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

__all__ = ["MEMBERS", "VOTES_WEIGHT", "AutoConfig", "auto", "log_opinion"]


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
    feature_seconds: int = Field(
        300,
        ge=0,
        le=1_000_000,
        description="Seconds that methods may learn from features of the items, where there are "
        "any. They get a voice if they foretell labels that were held out; 0 leaves features out.",
    )
    max_seconds: int = Field(
        600, ge=1, le=1_000_000, description="Seconds after which no further member is started."
    )


@method(
    title="Auto (pool of methods)",
    year=2026,
    paper="logarithmic opinion pool; Genest and Zidek, doi:10.1214/ss/1177013825",
    config=AutoConfig,
    leaves=[PoolMembers, FeatureVoice, Candidates, OwnConfidence],
    quick={"choose": "ask"},
    excuses={
        "fake_cuda": "It reads back how far its members agree; they are tested themselves.",
    },
    spreads=True,
)
def auto(labels: Labels, cfg: AutoConfig, run: Run) -> ClassEstimate:
    """Pool the posteriors of several methods, and report where they disagree."""
    from crowdcore.engine import em

    start = time.perf_counter()
    if (
        cfg.choose == "gold" and labels.use_gold
    ):  # answers that a member knows cannot tell how good it is
        labels = labels.with_data(labels.data)
    pool = fit_pool(labels, run, max_seconds=cfg.max_seconds)
    heard = _features.Heard()
    if cfg.feature_seconds:
        heard = _features.listen(
            labels,
            pool,
            run,
            lambda fewer, part: fit_pool(fewer, part, max_seconds=cfg.max_seconds),
            seconds=cfg.feature_seconds,
        )
    posterior, truth = pool.posterior, pool.truth
    n_disputed = int(over_parts(labels, (pool.members_against(truth) > 0).sum()))
    artefacts: list[Artefact] = [] if heard.voice is None else [heard.voice]
    if heard.posterior is not None:
        posterior = labels.clamp(labels.tensor(heard.posterior, labels.dtype), other=0.0)
        truth, _ = likeliest_classes(as_array(posterior, np.float64))
    chosen_notes: list[str] = []
    has_chosen = False
    if cfg.choose != "off":
        further, left_out = _choosing.fit_candidates(
            labels,
            run,
            lambda name, params: fit_member(labels, name, params, run.part(name)),
            stop_at=start + cfg.max_seconds,
        )
        chosen, candidates, chosen_notes = _choose(
            labels.observed,
            posterior,
            pool,
            heard,
            further,
            left_out=left_out,
            use_answers=cfg.choose == "gold",
        )
        artefacts.append(candidates)
        if has_chosen := bool(len(candidates.answered)):
            posterior = labels.tensor(chosen, labels.dtype)
            truth, _ = likeliest_classes(chosen)
            # the known answers stand
            posterior = _with_answers(labels, posterior, candidates.answered)
    run.converged = all(result.provenance.converged for result in pool.results)
    counts = em.given_counts(labels, posterior)
    members = pool.members(labels, truth)
    item_scores = {"members_against": pool.members_against(truth)}
    if heard.voice is not None and heard.voice.changed is not None:
        item_scores["changed_by_features"] = heard.voice.changed.astype(np.float64)
    if has_chosen:
        item_scores["changed_by_answers"] = candidates.changed.astype(np.float64)
    return ClassEstimate(
        posterior=posterior,
        confusion=em.normalise_rows(counts, 0.01),
        item_scores=item_scores,
        artefacts=[members, *artefacts],
        members=tuple(pool.results),
        used_gold=has_chosen,
        notes=(*_notes(labels, members, n_disputed), *heard.notes, *chosen_notes),
    )


def _with_answers(labels: Labels, posterior: Tensor, answered: NDArray[np.integer]) -> Tensor:
    gold = labels.observed.gold
    assert gold is not None  # or nothing would be answered
    certain = np.eye(labels.n_classes)[gold[answered]]
    return posterior.index_copy(0, labels.tensor(answered), labels.tensor(certain, labels.dtype))


def _choose(
    data: CrowdData,
    posterior: Tensor,
    pool: Pool,
    heard: _features.Heard,
    further: list[ClassResult],
    *,
    left_out: list[str],
    use_answers: bool,
) -> tuple[Floats, Candidates, list[str]]:
    """Let known answers weigh the pool, learners and single methods; what is known stands."""
    own = as_array(posterior, np.float64)
    title = "the pool" if heard.posterior is None else "the pool with features"
    rivals = [("auto", title, own, likeliest_classes(own)[0])]
    if heard.posterior is not None:
        rivals.append(("labels", "the pool without features", pool.probabilities, pool.truth))
        for name, title, opinion in heard.learners:
            table = np.where(np.isnan(opinion), own, opinion)
            alone = f"{title}, by features alone"
            rivals.append((name, alone, table, likeliest_classes(table)[0]))
    rivals += [
        (result.provenance.method, result.provenance.title, result.posterior, result.truth)
        for result in (*pool.results, *further)
        if result.provenance.method in (*_choosing.OF_THE_POOL, *_choosing.FURTHER)
    ]
    names, titles, posteriors, truths = zip(*rivals, strict=True)
    gold = np.full(data.n_items, UNKNOWN)
    if use_answers and data.gold is not None:
        gold = data.gold
    return _choosing.choose(
        names=list(names),
        titles=list(titles),
        posteriors=list(posteriors),
        truths=np.stack(truths),
        gold=gold,
        left_out=left_out,
    )


def _notes(labels: Labels, members: PoolMembers, n_disputed: int) -> list[str]:
    data, labels_per_worker = labels.observed, labels.labels_per_worker
    n_items = labels.n_all_items
    notes = [
        f"Pooled {len(members.names)} methods: {', '.join(members.titles)}; and the votes.",
        f"They disagree on {n_disputed:,} of {n_items:,} items: there the choice of a method "
        "matters."
        if n_disputed
        else "They agree on all items.",
    ]
    if n_disputed:
        share = n_disputed / n_items
        notes.append(
            f"A few answers asked where methods disagree tell which to trust; that can change up "
            f"to {percent(share)} of the truths. "
            f"{questions.describe_gain(questions.GAIN_PER_DISPUTED_SHARE * share)} See Answer a "
            "few, or crowdcore ask."
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
