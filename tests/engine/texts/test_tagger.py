"""The tagger learns words and affixes, and gives valid tags."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from crowdcore.config import TaggerConfig
from crowdcore.engine.labels import Labels
from crowdcore.engine.texts import tagger as engine_tagger
from crowdcore.engine.texts.tagger import TokenTrunk, apply_to_texts, word_features
from crowdcore.engine.texts.text_tagger import TextTagger
from crowdcore.engine.texts.valid_tags import likeliest_valid_tags
from crowdcore.registry import fit
from crowdcore.run import Run
from crowdcore.simulation.spans import simulate_spans
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
    torch.manual_seed(0)
    cfg = TaggerConfig.model_validate({"epochs": 8, "held_out": 0.0})
    tagger = TextTagger.from_labels(Labels(data, torch.device("cpu")), cfg, Run())
    net = tagger.learn_tags(np.arange(300), data.gold)
    probabilities = tagger.log_probabilities(net).exp()
    tags = likeliest_valid_tags(probabilities, offsets, tag_set).numpy()[offsets[300] :]
    starts = offsets[300:-1] - offsets[300]
    np.testing.assert_array_equal(repaired(tags, starts, tag_set), tags)
    gold = find_spans(data.gold[offsets[300] :], starts, tag_set)
    # Seven of ten words in spans tell their type; the others cannot be known.
    assert score(find_spans(tags, starts, tag_set), gold, 2).f1 > 0.35


def test_texts_that_are_laid_end_to_end_do_not_see_each_other() -> None:
    tokens = [f"word{number}" for number in range(9)]
    features, offsets = word_features(tokens, 512), np.array([0, 4, 5, 9])
    torch.manual_seed(0)
    trunk = TokenTrunk(512, 8, 0.0)
    together = apply_to_texts(trunk, features, offsets)
    for begin, end in itertools.pairwise(offsets):
        alone = apply_to_texts(trunk, features[begin:end], np.array([0, end - begin]))
        torch.testing.assert_close(together[begin:end], alone)


def test_many_texts_are_tagged_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    features, offsets = word_features(list("abcdefghij"), 512), np.array([0, 3, 4, 9, 10])
    trunk = TokenTrunk(512, 8, 0.0)
    at_once = apply_to_texts(trunk, features, offsets)
    monkeypatch.setattr(engine_tagger, "TOKENS_PER_CHUNK", 2)
    torch.testing.assert_close(apply_to_texts(trunk, features, offsets), at_once)


def test_a_batch_has_the_labels_of_its_tokens() -> None:
    data = simulate_spans(texts=12, workers=4, types=1, annotations_per_text=3, seed=2).data
    labels = Labels(data, torch.device("cpu"))
    tagger = TextTagger.from_labels(labels, TaggerConfig.model_validate({}), Run())
    batch = tagger.batch(torch.tensor([7, 2]))
    begin, end = np.asarray(data.offsets)[[7, 8]]
    assert batch.tokens[: end - begin].tolist() == list(range(begin, end))
    item = labels.rows.item[batch.labels]
    torch.testing.assert_close(item, batch.tokens[batch.place])
    assert len(item) == data.labels_per_item[batch.tokens.numpy()].sum()


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
