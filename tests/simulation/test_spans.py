"""Simulated crowds that mark spans are what they say."""

from __future__ import annotations

import pytest

from crowdcore.annotations import annotation_order
from crowdcore.audit.spans.comparison import EDGES, INVENTED, WRONG_TYPE, compare
from crowdcore.data import DataError
from crowdcore.simulation.spans import ERRORS, simulate_spans


def test_workers_make_the_errors_of_their_character() -> None:
    crowd = simulate_spans(
        texts=300,
        workers=4,
        annotations_per_text=4,
        characters={"misses much": 1, "over-marks": 1, "wrong types": 1, "sloppy edges": 1},
        seed=2,
    )
    spans = compare(crowd.data, crowd.truth[annotation_order(crowd.data).item])
    worker = spans.order.worker[spans.given_annotation]

    def share(character: str, outcome: int) -> float:
        of_worker = spans.outcome[worker == crowd.character.index(character)]
        return float((of_worker == outcome).mean())

    missed = spans.missed[
        spans.order.worker[spans.expected_annotation] == crowd.character.index("misses much")
    ]
    assert abs(missed.mean() - ERRORS["misses much"].miss) < 0.06
    assert share("over-marks", INVENTED) > 0.5
    assert share("wrong types", WRONG_TYPE) > 0.4
    assert share("sloppy edges", EDGES) > 0.35


def test_the_same_seed_gives_the_same_crowd_and_impossible_ones_are_refused() -> None:
    first, second = (simulate_spans(texts=20, workers=5, seed=3).data for _ in range(2))
    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != simulate_spans(texts=20, workers=5, seed=4).data.fingerprint
    with pytest.raises(DataError, match="only 3 workers"):
        simulate_spans(workers=3, annotations_per_text=5)
