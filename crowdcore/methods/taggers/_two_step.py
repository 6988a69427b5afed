"""Truths first, then a tagger that learns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdcore.registry import fit

if TYPE_CHECKING:
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.texts.text_tagger import TextTagger


def train_on_truths(aggregator: str, tagger: TextTagger, **params: Any) -> tuple[Net, str]:
    """Train a tagger on the truths that another method infers; also returns a note about it."""
    data, run = tagger.labels.data, tagger.run
    for _ in run.loop(1, "Truths to learn"):
        result = fit(data, aggregator, run=run.part(aggregator), **params)
        run.log(labels=data.n_labels)
    note = (
        f"The tagger learnt the truths of {result.provenance.title} for the "
        f"{len(tagger.annotated):,} texts that somebody annotated; the truths here are the "
        "tagger's own."
    )
    return tagger.learn_tags(tagger.annotated, result.truth), note
