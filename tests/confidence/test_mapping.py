"""Probabilities by what other crowds tell: truths stay, order stays, sums stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore.artefacts.own_confidence import OwnConfidence
from crowdcore.confidence.features import kappa
from crowdcore.confidence.mapping import map_confidence, rescaled
from crowdcore.data import CrowdData
from crowdcore.registry import fit
from crowdcore.simulation.classes import simulate


def crowd(classes: int = 3, labels_per_item: int = 4) -> CrowdData:
    return simulate(
        items=120, workers=15, classes=classes, labels_per_item=labels_per_item, seed=4
    ).data


@pytest.mark.parametrize("method", ["auto", "ds", "mv", "glad"])
@pytest.mark.parametrize(("classes", "labels_per_item"), [(2, 1), (3, 4), (12, 3)])
def test_truths_stay_and_probabilities_are_distributions(
    method: str, classes: int, labels_per_item: int
) -> None:
    data = crowd(classes, labels_per_item)
    own = fit(data, method, calibrate="off")
    mapped = fit(data, method, calibrate="crowds")
    assert np.array_equal(own.truth, mapped.truth)
    assert np.array_equal(own.tied, mapped.tied)
    assert np.allclose(mapped.posterior.sum(1), 1)
    assert (mapped.posterior >= 0).all()
    clear = ~own.tied
    assert np.array_equal(mapped.posterior.argmax(1)[clear], own.truth[clear])
    kept = mapped.artefact(OwnConfidence)
    assert kept is not None
    assert np.allclose(kept.confidence, own.confidence)


def test_auto_maps_unless_told_not_to_and_other_methods_only_if_told() -> None:
    data = crowd()
    assert fit(data, "auto").artefact(OwnConfidence) is not None
    assert fit(data, "auto", calibrate="off").artefact(OwnConfidence) is None
    assert fit(data, "ds").artefact(OwnConfidence) is None


def test_a_crowd_of_one_mind_and_items_without_labels() -> None:
    one_mind = CrowdData.from_triples([(item, worker, "xy"[item == "a"]) for item in "abc"
                                       for worker in "uvw"])  # fmt: skip
    result = fit(one_mind, "auto")
    assert np.isfinite(result.posterior).all()
    assert (result.confidence < 0.999).all()
    lonely = replace(one_mind, items=(*one_mind.items, "d"))
    own, mapped = fit(lonely, "auto", calibrate="off"), fit(lonely, "auto")
    assert np.array_equal(own.posterior[-1], mapped.posterior[-1])


def test_given_gold_stays_certain() -> None:
    data = crowd()
    result = fit(data, "auto", use_gold=True)
    assert np.allclose(result.confidence[data.has_gold], 1)


def test_names_and_order_of_classes_and_workers_do_not_matter() -> None:
    data = crowd()
    turned = replace(
        data,
        label=(data.n_classes - 1 - data.label).astype(np.int32),
        worker=(data.n_workers - 1 - data.worker).astype(np.int32),
        gold=None,
    )
    first, second = fit(data, "auto"), fit(turned, "auto")
    assert np.allclose(first.posterior, second.posterior[:, ::-1], atol=1e-3)


def test_no_class_overtakes_the_truth_and_ties_stay_tied() -> None:
    posterior = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [1.0, 0.0, 0.0], [0.34, 0.33, 0.33]])
    lower = rescaled(posterior, np.full(4, 0.05))
    assert (lower.argmax(1) == 0).all()
    assert lower[0, 0] > lower[0, 1] > lower[0, 2]
    assert lower[1, 0] == pytest.approx(lower[1, 1])
    higher = rescaled(posterior, np.full(4, 0.9))
    assert higher[0].tolist() == pytest.approx([0.9, 0.06, 0.04])
    assert higher[1, 0] == pytest.approx(higher[1, 1])
    assert higher[2].tolist() == pytest.approx([0.9, 0.05, 0.05])


def test_kappa_is_one_for_full_agreement_and_near_zero_for_chance() -> None:
    assert kappa(np.array([[3, 0], [0, 3]])) == pytest.approx(1)
    rng = np.random.default_rng(0)
    votes = rng.multinomial(6, [0.5, 0.5], size=2000)
    assert abs(kappa(votes)) < 0.03
    assert kappa(np.array([[1, 0], [0, 1]])) == 0


def test_completed_labels_are_left_as_they_are() -> None:
    data = crowd()
    completed = fit(data, "auto", complete="g_mv")
    assert completed.artefact(OwnConfidence) is None
    assert map_confidence(fit(data, "ds")).provenance.notes[-1].startswith("Probabilities say")
