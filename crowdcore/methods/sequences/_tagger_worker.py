"""A tagger as one more worker: trained on other documents, so that it never echoes the truths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.config import TaggerConfig
from crowdcore.engine.labels import Labels
from crowdcore.engine.texts.text_tagger import TextTagger, documents_of
from crowdcore.engine.texts.valid_tags import likeliest_valid_tags
from crowdcore.spans import TagSet, find_spans, score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.run import Run

N_PARTS = 3
"""Parts that documents are cut into; each is tagged by a network that learnt from the others."""

SETTINGS = TaggerConfig.model_validate({"epochs": 5, "held_out": 0.0})
"""The passes were chosen by how well truths of other documents are foretold, not by gold."""

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
    tagger = TextTagger.from_labels(labels, SETTINGS, run)
    offsets, documents = tagger.offsets, documents_of(data)
    n_documents = int(documents.max()) + 1
    if n_documents < N_PARTS:
        return None, f"No tagger was trained: it takes at least {N_PARTS} documents."
    tag_set = TagSet(data.classes)
    part = np.random.default_rng(run.seed).permutation(n_documents)[documents] % N_PARTS
    part_of_token = np.repeat(part, np.diff(offsets))
    tags = np.empty(data.n_items, np.int32)
    for held_out in range(N_PARTS):
        stage = f"Tagger {held_out + 1} of {N_PARTS}"
        net = tagger.learn_tags(np.flatnonzero(part != held_out), truth, stage)
        posterior = tagger.log_probabilities(net).exp()
        valid = likeliest_valid_tags(posterior, offsets, tag_set).cpu().numpy()
        tags = np.where(part_of_token == held_out, valid, tags).astype(np.int32)
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
