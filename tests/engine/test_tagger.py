"""The tagger learns words and affixes, and gives valid tags."""

from __future__ import annotations

import numpy as np
import torch

from crowdcore.engine.tagger import tag_texts, train_tagger, word_features
from crowdcore.registry import fit
from crowdcore.run import Run
from crowdcore.simulated_spans import simulate_spans
from crowdcore.spans import TagSet, find_spans, repaired, score


def test_features_see_words_affixes_and_shapes() -> None:
    features = word_features(["London", "Londoner", "london", "12", "999"])
    assert features.shape == (5, 5)
    assert features[0, 1] == features[1, 1]  # the first three letters
    assert features[0, 4] == features[1, 4] != features[2, 4]  # the shape
    assert features[3, 4] == features[4, 4]
    assert features.min() > 0  # 0 is for gaps


def test_a_tagger_reads_texts_that_it_has_not_seen() -> None:
    data = simulate_spans(texts=400, workers=1, types=2, annotations_per_text=1, seed=1).data
    tag_set, offsets = TagSet(data.classes), np.asarray(data.offsets)
    assert data.gold is not None
    features = word_features(data.details["token"])
    torch.manual_seed(0)
    learnt = np.arange(300)
    net = train_tagger(
        features, offsets, data.gold, learnt, n_tags=len(data.classes), run=Run(), stage="Tagger"
    )
    cut = offsets[300]
    tags = tag_texts(net, features[cut:], offsets[300:] - cut, tag_set)
    starts = offsets[300:-1] - cut
    np.testing.assert_array_equal(repaired(tags, starts, tag_set), tags)
    found, gold = find_spans(tags, starts, tag_set), find_spans(data.gold[cut:], starts, tag_set)
    # Seven of ten words in spans tell their type; the others cannot be known.
    assert score(found, gold, 2).f1 > 0.35


def test_the_tagger_is_one_more_worker_but_not_among_the_people() -> None:
    data = simulate_spans(texts=120, workers=6, types=1, annotations_per_text=3, seed=2).data
    plain, joined = fit(data, "bsc"), fit(data, "bsc", tagger=True)
    assert any("one more worker" in note for note in joined.provenance.notes)
    assert joined.data.workers == data.workers
    assert list(joined.workers()["worker"]) == list(data.workers)
    assert joined.confusion.shape[0] == data.n_workers
    assert not np.array_equal(plain.posterior, joined.posterior)
    few = simulate_spans(texts=4, workers=3, types=1, annotations_per_text=3).data
    assert "No tagger was trained" in fit(few, "bsc", tagger=True).provenance.notes[-1]
