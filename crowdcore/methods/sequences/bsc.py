"""Bayesian sequence combination (2019): workers' tags, a chain of true tags, and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.config import Config
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.sequences import SequenceEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.data import CrowdData
    from crowdcore.engine.labels import Labels
    from crowdcore.engine.texts.sequence_model import WorkerModel
    from crowdcore.run import Run

MIN_SPREAD = 0.35
"""Workers who differ less than this in how much they mark are too alike to learn them apart."""

MIN_MARKED = 20
"""Tokens that others must have marked where a worker looked, for the worker to count there."""


class SequenceCombinationConfig(Config):
    """Settings of Bayesian sequence combination."""

    worker_model: Literal["auto", "seq", "cm", "cv", "acc"] = Field(
        "auto",
        description="What a worker's tag depends on: the true tag and their own tag before (seq), "
        "the true tag (cm), whether it is right, by true tag (cv), whether it is right (acc). "
        "auto takes seq, but cv where workers are too alike to be told apart.",
    )
    chain: bool = Field(True, description="Let neighbouring true tags depend on each other.")
    words: bool = Field(True, description="Let a token's word say something about its tag.")
    spread: float = Field(
        10.0,
        gt=0,
        le=1000,
        description="Prior number of tags per worker and true tag that are spread over all tags. "
        "Lower it where the crowd marks far too little.",
    )
    right: float = Field(
        10.0, ge=0, le=1000, description="Prior number of further right tags per worker."
    )
    transition: float = Field(
        1.0, gt=0, le=1000, description="Prior number of each transition between true tags."
    )
    word: float = Field(1.0, gt=0, le=1000, description="Prior number of each word per true tag.")
    use_gold: bool = Field(
        False,
        description="Hold the tokens with gold at their known tag. The result can then no longer "
        "be scored on them.",
    )
    tagger: bool = Field(
        False,
        description="Train a small network on the truths of other documents, let it tag each "
        "text, and take its tags as those of one more worker. It finds more spans in larger data "
        "and takes half a minute; it is not among the people.",
    )
    max_iter: int = Field(20, ge=1, le=1000, description="Maximum number of rounds.")
    tol: float = Field(
        1e-4, ge=0, le=1, description="Stop when no token's probabilities move by more."
    )


@method(
    title="Bayesian sequence combination (BSC)",
    year=2019,
    paper="Simpson and Gurevych, doi:10.18653/v1/D19-1101",
    config=SequenceCombinationConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
    excuses={
        "fake_cuda": "The chain multiplies slices of a table in place, which shapes alone refuse.",
    },
)
def bsc(labels: Labels, cfg: SequenceCombinationConfig, run: Run) -> SequenceEstimate:
    """Learn how each worker tags, how tags follow each other and what words say, by mean field."""
    from crowdcore.engine import em

    worker_model, notes = _choose_model(labels.data, cfg.worker_model)
    posterior, truth = _infer(labels, worker_model, cfg, run)
    if cfg.tagger:
        from crowdcore.methods.sequences._tagger_worker import with_tagger

        joined, note = with_tagger(labels, truth.cpu().numpy(), run)
        notes = (*notes, note)
        if joined is not None:
            posterior, truth = _infer(joined, worker_model, cfg, run)
    counts = em.given_counts(labels, posterior.to(labels.dtype))
    return SequenceEstimate(
        posterior=posterior,
        truth=truth,
        confusion=em.normalise_rows(counts, 1 / labels.n_classes),
        notes=notes,
    )


def _infer(
    labels: Labels, worker_model: WorkerModel, cfg: SequenceCombinationConfig, run: Run
) -> tuple[Tensor, Tensor]:
    """Beliefs [N, K] and the likeliest valid tags [N] of all tokens."""
    from crowdcore.engine import em
    from crowdcore.engine.texts.sequence_model import SequenceModel, SequencePriors

    model = SequenceModel(
        labels,
        worker_model=worker_model,
        chain=cfg.chain,
        words=cfg.words,
        priors=SequencePriors(cfg.spread, cfg.right, cfg.transition, cfg.word),
    )
    start = labels.warm_start
    posterior = model.start() if start is None else start[labels.tensor(model.layout.order)]
    beliefs = None
    for _ in run.loop(cfg.max_iter, "Mean field"):
        tables = model.m_step(posterior, beliefs)
        beliefs, emission = model.e_step(tables)
        change = em.max_change(labels, posterior, beliefs.posterior)
        posterior = beliefs.posterior
        run.log(log_likelihood=beliefs.log_likelihood / labels.n_labels)
        if run.settled(change, cfg.tol):
            break
    return model.in_order(posterior), model.in_order(model.best_tags(tables, emission))


def _choose_model(
    data: CrowdData, asked: Literal["auto", "seq", "cm", "cv", "acc"]
) -> tuple[WorkerModel, tuple[str, ...]]:
    if asked != "auto":
        return asked, ()
    spread = marking_spread(data)
    if spread is None or spread >= MIN_SPREAD:
        return "seq", ()
    note = (
        "The workers are too alike to learn their habits apart (how much they mark differs by a "
        f"standard deviation of {spread:.2f} on a log scale, below {MIN_SPREAD}), so each is "
        "described by one accuracy per true tag."
    )
    return "cv", (note,)


def marking_spread(data: CrowdData) -> float | None:
    """Return how much workers differ in how much they mark, or None where too few can be compared.

    For each worker: the logarithm of the tokens that they marked, over those that the others
    marked on average of the same tokens; then the standard deviation over workers.

    Parameters
    ----------
    data
        Labels of the kind "sequences".

    Returns
    -------
    float or None
    """
    import numpy as np

    from crowdcore.spans import TagSet

    marked = (data.label != TagSet(data.classes).outside).astype(np.float64)
    n_labels = data.labels_per_item[data.item]
    n_marked = np.bincount(data.item, marked, data.n_items)[data.item]
    shared = n_labels > 1
    by_others = (n_marked - marked)[shared] / (n_labels[shared] - 1)
    worker = data.worker[shared]
    expected = np.bincount(worker, by_others, data.n_workers)
    observed = np.bincount(worker, marked[shared], data.n_workers)
    compared = expected > MIN_MARKED
    if compared.sum() < 3:  # noqa: PLR2004  (two differ always)
        return None
    return float(np.std(np.log((observed[compared] + 1) / (expected[compared] + 1))))
