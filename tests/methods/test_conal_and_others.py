"""CoNAL, Max-MIG, CrowdAR and UnionNet: their losses, their shapes, and classes that stay put."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.engine.labels import Labels
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.methods.classifiers import crowdar, max_mig, unionnet
from crowdcore.methods.classifiers._answer_scores import MIN_FREQUENCY, AnswerScores
from crowdcore.methods.classifiers.conal._common_noise import CommonNoise
from crowdcore.methods.classifiers.crowdar._reliability import Reliability
from crowdcore.methods.classifiers.max_mig._bags import LabelsByItem
from crowdcore.registry import fit, get_method
from crowdcore.results.result import Result
from tests.crowds import easy_crowd
from tests.featured import featured_crowd, labelled_part

OURS = ["conal", "crowdar", "max_mig", "unionnet"]
CPU = torch.device("cpu")
LABELLED = 200
SMALL = {"hidden": 8, "epochs": 20, "rate": 0.01}


def distributions(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).log_softmax(-1)


@cache
def result_of(name: str, **extra: Any) -> Result:
    settings = {**get_method(name).quick, **SMALL, **extra}
    return fit(labelled_part(featured_crowd(), LABELLED).data, name, **settings)


def test_information_is_the_same_as_with_all_pairs_listed() -> None:
    h, g = distributions(5, 3), distributions(2, 5, 3)[1]
    m = [[float((h[i].exp() * g[j].exp() / (1 / 3)).sum()) for j in range(5)] for i in range(5)]
    same = np.mean([np.log(m[i][i]) for i in range(5)])
    apart = np.mean([m[i][j] for i in range(5) for j in range(5) if i != j])
    assert float(max_mig._loss(h, g)) == pytest.approx(-1 - same + apart, abs=1e-5)


def test_information_of_one_item_is_finite() -> None:
    assert torch.isfinite(max_mig._loss(distributions(1, 3), distributions(1, 3)))


def test_labels_of_any_items_are_gathered_and_summed_as_by_a_loop() -> None:
    data = easy_crowd()
    labels = Labels(data, CPU)
    table = torch.randn(labels.n_workers * labels.n_classes, 2)
    keys = data.worker * data.n_classes + data.label
    for items in ([7], [140, 3, 77], list(range(data.n_items))):
        found = LabelsByItem.from_labels(labels).gather(torch.tensor(items)).sums(table)
        naive = torch.stack([table[torch.tensor(keys[data.item == item])].sum(0) for item in items])
        torch.testing.assert_close(found, naive)


def test_the_aggregator_begins_with_the_votes_on_what_is_learnt_from() -> None:
    data = easy_crowd()
    answers = AnswerScores(Labels(data, CPU))
    items = np.arange(50)
    answers.initialise(torch.tensor(items))
    shares = data.votes / data.votes.sum(1, keepdims=True)
    counts = np.zeros((data.n_workers, data.n_classes, data.n_classes))
    for item, worker, label in zip(data.item, data.worker, data.label, strict=True):
        counts[worker, :, label] += shares[item] * (item in items)
    rows = counts / counts.sum(2, keepdims=True)
    start = np.log(rows + MIN_FREQUENCY).transpose(0, 2, 1)
    np.testing.assert_allclose(answers.table.detach().numpy(), start, atol=1e-5)
    answers.initialise(torch.arange(100))
    np.testing.assert_allclose(answers.table.detach().numpy(), start, atol=1e-5)


def test_common_noise_mixes_two_matrices_by_the_gate() -> None:
    noise = CommonNoise(4, 3, 2, directions=5)
    torch.nn.init.normal_(noise.individual)
    x, shares = torch.randn(6, 4), distributions(6, 2).exp()
    worker = torch.tensor([0, 1, 2, 2, 1, 0])
    logits = noise(shares, x, worker)
    for n in range(6):
        item, who = noise.item(x[n]), noise.worker.weight[worker[n]]
        gate = torch.sigmoid(item @ who / item.norm() / who.norm())
        individual = shares[n] @ noise.individual[worker[n]]
        naive = gate * shares[n] @ noise.common + (1 - gate) * individual
        torch.testing.assert_close(logits[n], naive)
    distances = [(matrix - noise.common).square().sum().sqrt() for matrix in noise.individual]
    torch.testing.assert_close(noise.distance(), torch.stack(distances).sum())


def test_common_noise_that_is_nowhere_different_has_gradients() -> None:
    noise = CommonNoise(4, 3, 2, directions=5)
    noise.distance().backward()  # type: ignore[no-untyped-call]
    assert noise.individual.grad is not None
    assert torch.isfinite(noise.individual.grad).all()


def test_trust_softens_labels_as_written_out() -> None:
    logits, shares = distributions(4, 3), distributions(4, 3).exp()
    trust, given = torch.tensor([-1.0, 0.0, 2.0, 0.5]), torch.tensor([0, 2, 1, 1])
    total = 0.0
    for n in range(4):
        r, q = float(torch.sigmoid(trust[n])), logits[n].softmax(0).numpy()
        target = (1 - r) / 3 + r * np.eye(3)[given[n]]
        right = int(shares[n].argmax()) == int(given[n])
        judged = -np.log(r if right else 1 - r)
        total += -0.9 * float((target * np.log(q)).sum()) + 0.1 * judged
    found = crowdar._loss(logits, shares, trust, given, 0.1)
    assert float(found) == pytest.approx(total / 4, abs=1e-5)


def test_expertise_never_makes_a_worker_less_reliable() -> None:
    reliability = Reliability(4, 2, 3)
    torch.nn.init.constant_(reliability.weight, -1.0)
    torch.nn.init.constant_(reliability.expertise.weight[1], 5.0)
    hidden, shares = torch.randn(1, 4).repeat(2, 1), torch.full((2, 3), 1 / 3)
    worse, better = reliability(hidden, shares, torch.tensor([0, 1])).tolist()
    assert better >= worse
    assert (reliability.weight >= 0).all()


@pytest.mark.parametrize("answers", [1, 4_000_000])
def test_a_union_is_one_softmax_over_all_answers(
    answers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unionnet, "ANSWERS_PER_CHUNK", answers)
    table, logs = torch.randn(4, 3, 3), distributions(5, 3)
    worker = torch.tensor([0, 3, 1, 1, 2])
    own, total = unionnet._joint(table, logs, worker, True)
    everything = (logs.exp() @ table.reshape(12, 3).T).log_softmax(1).reshape(5, 4, 3)
    found = own - total.unsqueeze(1)
    torch.testing.assert_close(found, everything[torch.arange(5), worker])


def test_by_class_the_answers_of_all_workers_make_one_distribution() -> None:
    table, logs = torch.randn(4, 3, 3), distributions(5, 3)
    mixed = logs.exp() @ table.reshape(12, 3).softmax(0).T
    for worker in range(4):
        own, total = unionnet._by_class(table, logs, torch.full((5,), worker), True)
        torch.testing.assert_close(own.exp(), mixed.reshape(5, 4, 3)[:, worker])
        assert not total.any()


def test_one_row_keeps_its_shape() -> None:
    one, worker = distributions(1, 3), torch.tensor([1])
    assert CommonNoise(4, 2, 3, 5)(one.exp(), torch.randn(1, 4), worker).shape == (1, 3)
    assert Reliability(4, 2, 3)(torch.randn(1, 4), one.exp(), worker).shape == (1,)
    for scores in (unionnet._joint, unionnet._by_class):
        own, total = scores(torch.randn(2, 3, 3), one, worker, True)
        assert own.shape == (1, 3)
        assert total.shape == (1,)


@pytest.mark.parametrize("name", OURS)
def test_a_last_batch_of_one_row_is_learnt_from(name: str) -> None:
    data = easy_crowd()
    rows = data.n_items if name == "max_mig" else data.n_labels
    settings = {**get_method(name).quick, "epochs": 1, "batch": rows - 1}
    assert np.isfinite(fit(data, name, **settings).posterior).all()


@pytest.mark.parametrize("name", [*OURS, "b", "identity"])
def test_classes_keep_their_identity_beyond_the_labels(name: str) -> None:
    extra = {"b": {"variant": "b"}, "identity": {"start": "identity"}}.get(name, {})
    result = result_of("unionnet" if extra else name, **extra)
    right = (result.truth == featured_crowd().truth)[LABELLED:].mean()
    assert right > 0.7


@pytest.mark.parametrize("name", OURS)
def test_the_classifier_that_is_left_says_what_the_method_said(name: str) -> None:
    result = result_of(name)
    classifier, alone = Classifier.from_result(result), result.artefact(FeaturePosterior)
    assert classifier is not None
    assert result.data.features is not None
    said = result.posterior if alone is None else alone.probabilities
    told = classifier.predict(result.data.features)
    np.testing.assert_allclose(told, said, atol=1e-5)
    np.testing.assert_allclose(told[LABELLED:], result.posterior[LABELLED:], atol=1e-5)
    assert (alone is not None) == (name == "max_mig")


@pytest.mark.parametrize("name", OURS)
def test_gold_changes_nothing(name: str) -> None:
    data = result_of(name).data
    wrong = dataclasses.replace(data, gold=np.zeros(data.n_items, np.int32))
    settings = {**get_method(name).quick, **SMALL}
    np.testing.assert_array_equal(fit(wrong, name, **settings).posterior, result_of(name).posterior)


def test_both_views_are_joined_or_reported_apart() -> None:
    both, one, other = (
        result_of("max_mig", answer=answer).posterior
        for answer in ("both", "classifier", "aggregator")
    )
    joined = one * other
    np.testing.assert_allclose(both, joined / joined.sum(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(other[LABELLED:], 1 / 3)


def test_random_workers_are_less_reliable() -> None:
    reliability = result_of("crowdar").worker_scores["reliability"]
    random = np.array(featured_crowd().character) == "random"
    assert reliability[~random].mean() > reliability[random].mean()
