"""Whether EBCC's evidence tells where to take it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdcore.bench.evidence_gate import GateCrowd, best_threshold, left_out_gains
from tests.bench.test_default import save
from tests.cli.calling import call


def crowd(dataset: str, surplus: float, gain: float, *, is_resampled: bool = False) -> GateCrowd:
    return GateCrowd(
        dataset=dataset,
        is_resampled=is_resampled,
        seed=0,
        surplus=surplus,
        vote=0.7,
        auto=0.7,
        ebcc=(0.7 + gain,) * 3,
    )


def test_the_threshold_lets_through_what_gains_and_nothing_else() -> None:
    crowds = [crowd("a", 60, 0.1), crowd("b", 15, -0.2), crowd("c", -5, 0.3)]
    assert 15 <= best_threshold(crowds, 0) < 60
    assert best_threshold(crowds[1:2], 0) == float("inf")


def test_a_gate_is_scored_on_sources_that_had_no_say_in_it() -> None:
    crowds = [crowd("a", 60, 0.1), crowd("b", 70, 0.1), crowd("bird", 65, -0.3)]
    own, steady = left_out_gains(crowds)[:2]
    # Without "bird" the gate is open at 60 nats, and loses there; with it, it never opens.
    assert sorted(own.gains) == pytest.approx([-0.3, 0.0, 0.0])
    assert own.n_open == 1
    shut = [*crowds, crowd("bird", -1, 0.0, is_resampled=True)]
    assert left_out_gains(shut)[1].gains == pytest.approx([0.0, 0.0, 0.0])
    assert steady.is_steady


def test_the_command_compares_ebcc_with_the_pool(tmp_path: Path) -> None:
    file = tmp_path / "gate.json"
    done = call(
        "bench", "gate", save(tmp_path, 1), "--seeds", "1", "--resampled", "1", "--json", file
    )
    assert done.exit_code == 0, done.output
    numbers = json.loads(file.read_text())
    assert [each["is_resampled"] for each in numbers["crowds"]] == [False, True]
    assert len(numbers["gains"]) == 6
