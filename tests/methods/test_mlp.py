"""The network that learns from gold alone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from crowdcore.data import UNKNOWN, DataError
from crowdcore.registry import fit
from tests.crowds import easy_crowd, with_some_gold


def test_gold_items_keep_their_answer() -> None:
    data = with_some_gold(easy_crowd())
    result = fit(data, "mlp", epochs=5)
    assert data.gold is not None
    np.testing.assert_array_equal(result.truth[data.has_gold], data.gold[data.has_gold])
    assert result.provenance.used_gold


def test_a_note_says_how_much_gold_was_used_and_for_what() -> None:
    few, many = with_some_gold(easy_crowd(), 3), with_some_gold(easy_crowd(), 2)
    assert (few.n_gold, many.n_gold) == (49, 73)
    (note,) = fit(few, "mlp", epochs=2).provenance.notes
    assert note == "Learnt from 49 gold items; none were held out to choose when to stop."
    (note,) = fit(many, "mlp", epochs=2).provenance.notes
    assert note == "Learnt from 59 gold items; 14 more chose when to stop."


def test_gold_without_a_single_label_is_refused() -> None:
    data = easy_crowd()
    assert data.gold is not None
    gold = np.full(data.n_items, UNKNOWN)
    gold[0] = data.gold[0]
    with pytest.raises(DataError, match="No item with gold has a label"):
        fit(dataclasses.replace(data.only(data.item != 0), gold=gold), "mlp")


def test_a_note_tells_two_halves_from_no_held_out_gold() -> None:
    data = with_some_gold(easy_crowd(), 2)
    assert data.gold is not None
    gold = data.gold.copy()
    gold[0] = UNKNOWN
    (note,) = fit(
        dataclasses.replace(data, gold=gold), "mlp", epochs=2, held_out=0.5
    ).provenance.notes
    assert note == "Learnt from 36 gold items; 36 more chose when to stop."


def test_a_fixed_number_of_epochs_neither_converges_nor_fails_to() -> None:
    data = with_some_gold(easy_crowd())
    assert fit(data, "mlp", epochs=2).provenance.converged is None
    assert fit(data, "laa_b", pretraining=1, epochs=2).provenance.converged is None
    assert fit(data, "dewsmv", generations=2).provenance.converged is None
