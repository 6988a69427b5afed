from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from crowdcore.audit.reliability import calibration_error, reliability
from crowdcore.calibration import tempered
from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.registry import fit
from tests.crowds import draw, golden_crowd, with_some_gold


def crowd_of_twins() -> CrowdData:
    """Each worker labels under five names, so that every method is far too sure of itself."""
    rng = np.random.default_rng(0)
    right = rng.uniform(0.55, 0.75, 12)[:, None, None]
    confusion: Floats = right * np.eye(2) + (1 - right) * (1 - np.eye(2))
    data = draw(confusion, rng.integers(0, 2, 500), 3, rng)
    copies = 5
    return CrowdData(
        item=np.tile(data.item, copies),
        worker=np.concatenate([data.worker + 12 * c for c in range(copies)]),
        label=np.tile(data.label, copies),
        items=data.items,
        workers=tuple(f"w{w}" for w in range(12 * copies)),
        classes=data.classes,
        gold=data.gold,
    )


def test_a_temperature_softens_without_changing_the_order() -> None:
    posterior = np.array([[0.9, 0.08, 0.02]])
    soft, same = tempered(posterior, 3.0), tempered(posterior, 1.0)
    np.testing.assert_allclose(same, posterior)
    assert soft[0, 0] < 0.9
    assert (np.argsort(soft) == np.argsort(posterior)).all()


def test_gold_pulls_an_overconfident_result_to_its_accuracy() -> None:
    data = crowd_of_twins()
    raw, mended = fit(data, "ds"), fit(data, "ds", calibrate="gold")
    before, after = reliability(raw), reliability(mended)
    assert before is not None
    assert after is not None
    np.testing.assert_array_equal(raw.truth, mended.truth)
    assert mended.provenance.temperature is not None
    assert mended.provenance.temperature > 2
    assert calibration_error(after) < calibration_error(before) / 2


def test_held_out_labels_soften_a_crowd_that_guesses() -> None:
    rng = np.random.default_rng(4)
    data = draw(np.full((60, 3, 3), 1 / 3), rng.integers(0, 3, 120), 4, rng)
    raw, mended = fit(data, "ds"), fit(data, "ds", calibrate="labels")
    assert mended.confidence.mean() < raw.confidence.mean() - 0.2


def test_reliability_counts_every_gold_item_once() -> None:
    bins = reliability(fit(golden_crowd(), "ds"))
    assert bins is not None
    assert bins["n"].sum() == golden_crowd().n_gold
    assert reliability(fit(dataclasses.replace(golden_crowd(), gold=None), "ds")) is None


@pytest.mark.parametrize(
    ("how", "says"), [("labels", "items have so many"), ("gold", "needs 30 items with gold")]
)
def test_too_little_to_calibrate_on_is_said(how: str, says: str) -> None:
    data = CrowdData.from_triples([("i", "a", "x"), ("i", "b", "y")])
    with pytest.raises(DataError, match=says):
        fit(data, "mv", calibrate=how)


def test_answers_that_were_told_stay_certain() -> None:
    rng = np.random.default_rng(4)
    data = draw(np.full((60, 3, 3), 1 / 3), rng.integers(0, 3, 240), 4, rng)
    data = with_some_gold(data)
    assert data.gold is not None
    mended = fit(data, "ds", use_gold=True, calibrate="labels")
    assert mended.provenance.temperature is not None
    assert mended.provenance.temperature > 1
    known = np.flatnonzero(data.has_gold)
    np.testing.assert_array_equal(mended.posterior[known, data.gold[known]], 1.0)


def test_the_order_of_the_labels_changes_no_calibration() -> None:
    data = golden_crowd()
    order = np.random.default_rng(1).permutation(data.n_labels)
    shuffled = dataclasses.replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    one, other = (fit(crowd, "ds", calibrate="labels") for crowd in (data, shuffled))
    assert one.provenance.temperature == other.provenance.temperature
    np.testing.assert_allclose(one.posterior, other.posterior, atol=1e-9)


@pytest.mark.parametrize(("n_items", "is_enough"), [(49, False), (50, True)])
def test_fifty_items_are_needed_to_hold_labels_out(n_items: int, is_enough: bool) -> None:
    rng = np.random.default_rng(1)
    data = draw(np.full((6, 2, 2), 0.5), rng.integers(0, 2, n_items), 6, rng)
    if is_enough:
        assert fit(data, "ds", calibrate="labels").provenance.temperature is not None
        return
    with pytest.raises(DataError, match="49 items have so many, 50 are needed"):
        fit(data, "ds", calibrate="labels")
