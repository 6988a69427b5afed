"""A tagger as one more worker: trained on other documents, so that it never echoes the truths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.engine.labels import Labels
from crowdcore.engine.tagger import tag_texts, train_tagger, word_features
from crowdcore.spans import TagSet, find_spans, score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.run import Run

N_PARTS = 3
"""Parts that documents are cut into; each is tagged by a network that learnt from the others."""

NAME = "tagger"


def with_tagger(labels: Labels, truth: NDArray[np.integer], run: Run) -> tuple[Labels | None, str]:
    """Add the tags of cross-fitted taggers as those of one more worker.

    Parameters
    ----------
    labels : Labels
        The labels of people.
    truth : array of int [N]
        The tags to learn from.
    run : Run
        Watches and cancels; gives the seed.

    Returns
    -------
    labels : Labels or None
        With one more worker, the last; None where there are too few texts.
    note : str
        What a reader of the result must know of it.
    """
    data = labels.data
    offsets = np.asarray(data.offsets, np.int64)
    documents = np.asarray(data.details.get("document", data.items), object)[offsets[:-1]]
    names, unit = np.unique(documents.astype(str), return_inverse=True)
    if len(names) < N_PARTS:
        return None, f"No tagger was trained: it takes at least {N_PARTS} documents."
    tag_set = TagSet(data.classes)
    features = word_features(data.details.get("token", data.items))
    part = np.random.default_rng(run.seed).permutation(len(names))[unit] % N_PARTS
    tags = np.empty(data.n_items, np.int32)
    for held_out in range(N_PARTS):
        net = train_tagger(
            features,
            offsets,
            truth,
            np.flatnonzero(part != held_out),
            n_tags=data.n_classes,
            run=run,
            stage=f"Tagger {held_out + 1} of {N_PARTS}",
        )
        mine = np.flatnonzero(part == held_out)
        lengths = np.diff(offsets)[mine]
        tokens = np.repeat(offsets[mine], lengths) + _within(lengths)
        own_offsets = np.concatenate([[0], np.cumsum(lengths)])
        tags[tokens] = tag_texts(net, features[tokens], own_offsets, tag_set)
    # A name that no worker has: data refuse two of one name.
    name = NAME
    while name in data.workers:
        name += "'"
    joined = replace(
        data,
        item=np.concatenate([data.item, np.arange(data.n_items, dtype=np.int32)]),
        worker=np.concatenate([data.worker, np.full(data.n_items, data.n_workers, np.int32)]),
        label=np.concatenate([data.label, tags]),
        workers=(*data.workers, name),
        time=None,
        duration=None,
        row=None,
    )
    starts = offsets[:-1]
    agreed = score(
        find_spans(tags, starts, tag_set), find_spans(truth, starts, tag_set), len(tag_set.types)
    )
    note = (
        "A tagger took part as one more worker, trained on the truths of other documents than it "
        f"tagged; {agreed.precision:.0%} of its spans are those inferred without it, of which it "
        f"finds {agreed.recall:.0%}. It is not among the workers, and no verdict rests on it."
    )
    return Labels(joined, labels.device, use_gold=labels.use_gold), note


def _within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
