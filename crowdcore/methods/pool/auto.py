"""Auto: several methods of different kinds, pooled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate, Result

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run

MEMBERS: tuple[tuple[str, int], ...] = (("hds", 1), ("ds", 1), ("hbcc", 1), ("mace", 3))
"""Members with their weights, the cheap ones first: as much for the three that model errors by
matrices, from coarse to rich, as for the one that models spamming."""

VOTES = 1
"""The weight of the votes themselves, which decide where the two kinds of members stand against
each other, both sure: without it the last digits of their probabilities would."""

LISTS = "mace"
"""The member that must list all labels; of a large completed matrix they can only be counted."""


class AutoConfig(GoldConfig):
    """Settings of the pool."""

    max_seconds: int = Field(
        600, ge=1, le=1_000_000, description="After so many seconds no further member is begun."
    )


@method(
    title="Auto (pool of methods)",
    year=2026,
    paper="logarithmic opinion pool; Genest and Zidek, doi:10.1214/ss/1177013825",
    config=AutoConfig,
)
def auto(labels: Labels, cfg: AutoConfig, run: Run) -> Estimate:
    """Run several methods, average what they say, and tell where the choice matters."""
    import torch

    from crowdcore.engine import em
    from crowdcore.engine.pooling import opinion
    from crowdcore.registry import get_method

    begun = time.perf_counter()
    results: list[Result] = []
    pool = [one for one in MEMBERS if labels.listable or one[0] != LISTS]
    for step in run.loop(len(pool), "Members"):
        name = pool[step][0]
        member, since = get_method(name), time.perf_counter()
        config, part = member.configure({"use_gold": labels.use_gold}), run.part(name)
        results.append(
            Result.checked(
                member.function(labels, config, part),
                data=labels.observed,
                method=member,
                config=config,
                run=part,
                began=since,
                used_gold=labels.use_gold,
            )
        )
        run.log(seconds=time.perf_counter() - begun)
        if time.perf_counter() - begun > cfg.max_seconds:
            break
    run.converged = all(one.provenance.converged for one in results)
    posteriors = [labels.tensor(one.posterior, labels.dtype) for one in results]
    weights = labels.tensor(np.array([VOTES, *(weight for _, weight in pool[: len(results)])]))
    voices = [labels.shares(), *posteriors]
    logs = torch.stack([opinion(one) for one in voices], 2)  # [N, K, voices]
    scores = logs @ (weights / weights.sum()).to(labels.dtype)
    posterior, _ = em.normalise(labels, scores)
    counts = em.given_counts(labels, posterior)
    truths = [one.argmax(1) for one in (posterior, *posteriors)]
    unlike = torch.stack([one != truths[0] for one in truths[1:]]).sum(0)
    agree = [[float((a == b).double().mean()) for b in truths] for a in truths[1:]]
    disputed = int((unlike > 0).sum())
    members = {
        "names": [one.provenance.method for one in results],
        "titles": [one.provenance.title for one in results],
        "weights": np.array([weight for _, weight in pool[: len(results)]]),
        "votes": VOTES,
        "skipped": [name for name, _ in pool[len(results) :]],
        "agreement": np.array(agree),  # with the pool, and with each member
    }
    return Estimate(
        posterior=posterior,
        confusion=em.rows_of(counts, 0.01),
        item_scores={"members_against": unlike},
        artefacts={"members": members},
        members=tuple(results),
        notes=tuple(_notes(labels, members, disputed)),
    )


def _notes(labels: Labels, members: dict[str, Any], disputed: int) -> list[str]:
    data, given = labels.observed, labels.labels_per_worker
    notes = [
        f"Pooled {len(members['names'])} methods: {', '.join(members['titles'])}; and the votes.",
        f"They do not all agree on {disputed:,} of {data.n_items:,} items: there the choice of a "
        "method matters."
        if disputed
        else "They agree on all items.",
    ]
    if members["skipped"]:
        notes.append(f"The time was up before {', '.join(members['skipped'])}.")
    if not labels.listable:
        notes.append(f"{LISTS} was left out: {labels.n_labels:,} labels are too many to list.")
    typical = int(np.median(given[given > 0]))
    if typical < data.n_classes**2:
        notes.append(
            f"Half of the workers have at most {typical:,} labels, fewer than the "
            f"{data.n_classes**2:,} cells of a confusion matrix: too few for the richer models to "
            "be better than the simple ones."
        )
    return notes
