"""The pool of methods."""

from __future__ import annotations

import pytest

from crowdcore.data import CrowdData
from crowdcore.registry import fit
from crowdcore.run import Run
from tests.crowds import golden_crowd


def test_a_pool_has_converged_only_if_all_its_members_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert fit(golden_crowd(), "auto").provenance.converged
    monkeypatch.setattr(Run, "settled", lambda *_: False)  # hbcc and mace go on to their caps
    result = fit(golden_crowd(), "auto")
    assert [one.provenance.converged for one in result.members] == [True, True, False, False]
    assert not result.provenance.converged


def test_a_pool_that_agrees_on_everything_says_so() -> None:
    data = CrowdData.from_triples([(item, worker, "x") for item in "abc" for worker in "uvw"])
    assert "They agree on all items." in fit(data, "auto").provenance.notes
