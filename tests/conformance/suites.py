"""What the promises are tried on, for each kind of labels; a further kind is a further suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from crowdcore.data import UNKNOWN, CrowdData, Kind
from crowdcore.engine.comparisons import Comparisons
from crowdcore.engine.labels import Labels
from crowdcore.engine.ratings import Ratings
from crowdcore.method import Method
from crowdcore.reading.sequences.read import read_texts
from crowdcore.registry import methods
from crowdcore.results.result import Result
from crowdcore.results.sequences import score_tags
from crowdcore.spans import TagSet
from tests.conformance.tiny import tiny_arenas, tiny_crowds, tiny_ratings, tiny_texts
from tests.crowds import (
    GOLDEN,
    featured_crowd,
    golden_arena,
    golden_crowd,
    golden_ratings,
    unseen,
    with_some_gold,
)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Crowds of one kind, and which numbers of a result are golden."""

    golden: Callable[[Method], CrowdData]
    """The committed crowd, suited to what a method needs."""
    featured: Callable[[Method], CrowdData]
    """Items with features, on which a method leaves all that it may."""
    tiny: st.SearchStrategy[CrowdData]
    """Crowds of a few labels, among them the oddest."""
    numbers: Callable[[Result], dict[str, Any]]
    """Golden numbers: whole ones hold exactly, others to 2e-5."""
    shapes_only: type[Any]
    """The container of this kind on a device that is not there."""
    n_truths: Callable[[CrowdData], int] = lambda data: data.n_items
    """How many rows the table of truths has."""


class ShapesOnly:
    """Tensors on a device that is not there; builds of torch without CUDA refuse to copy to it."""

    device: torch.device

    def tensor(self, array: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        kind = dtype or torch.from_numpy(array.copy()).dtype
        return torch.zeros(array.shape, dtype=kind, device=self.device)


class ComparisonShapes(Comparisons):
    """Comparisons, which are solved on the host whatever the device."""


class LabelShapes(ShapesOnly, Labels):
    """Labels that exist in shape only."""


class RatingShapes(ShapesOnly, Ratings):
    """Ratings that exist in shape only."""


def suited_ratings(method: Method) -> CrowdData:
    data = golden_ratings()
    return with_some_gold(data) if method.needs.gold else dataclasses.replace(data, gold=None)


def _numbers_of_ratings(result: Result) -> dict[str, Any]:
    """The error against the truths, and the first truths with their spreads."""
    gold = golden_ratings().gold
    assert gold is not None
    error = (result.truth - gold)[unseen(result)]
    return {
        "rmse": round(float(np.sqrt((error**2).mean())), 6),
        "truth": [round(float(value), 6) for value in result.truth[:12]],
        "spread": [round(float(value), 6) for value in result.spread[:12]],
    }


def suited_classes(method: Method) -> CrowdData:
    data = golden_crowd(2 if method.needs.two_classes else 3)
    return with_some_gold(data) if method.needs.gold else data


def _featured_classes(method: Method) -> CrowdData:
    data = featured_crowd(2 if method.needs.two_classes else 3)
    return with_some_gold(data) if method.needs.gold else dataclasses.replace(data, gold=None)


def _numbers_of_classes(result: Result) -> dict[str, Any]:
    """Accuracy, ties and the first posteriors."""
    n_classes = result.data.n_classes
    gold = golden_crowd(n_classes).gold
    assert gold is not None
    judged = unseen(result)
    return {
        "correct": int((result.truth == gold)[judged].sum()),
        "of": int(judged.sum()),
        "tied": int(result.tied.sum()),
        "posterior": [[round(float(p), 6) for p in row] for row in result.posterior[:6]],
    }


def _numbers_of_rankings(result: Result) -> dict[str, Any]:
    """The first scores and spreads, and how far the order is right."""
    score = result.score()
    assert score is not None
    spread = np.nan_to_num(result.spread[:8], nan=-1.0)
    return {
        "order": [int(item) for item in result.order[:5]],
        "tau": round(float(score.figures["tau"]), 6),
        "scores": [round(float(value), 6) for value in result.truth[:8]],
        "spreads": [round(float(value), 6) for value in spread],
    }


def all_golden_texts() -> CrowdData:
    return read_texts(GOLDEN / "sequences" / "sentences.jsonl")


def texts_with_some_gold(data: CrowdData) -> CrowdData:
    """Leave gold to every third text."""
    offsets, gold = np.asarray(data.offsets), data.gold
    assert gold is not None
    text = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return dataclasses.replace(data, gold=np.where(text % 3 == 0, gold, UNKNOWN))


def golden_texts(method: Method) -> CrowdData:
    data = all_golden_texts()
    return texts_with_some_gold(data) if method.needs.gold else data


def _numbers_of_spans(result: Result) -> dict[str, Any]:
    """Spans, those that are right, and the first posteriors."""
    data = all_golden_texts()
    assert data.gold is not None
    judged = unseen(result)
    score = score_tags(
        result.truth,
        np.where(judged, data.gold, UNKNOWN),
        starts=np.asarray(data.offsets)[:-1],
        tag_set=TagSet(data.classes),
        documents=np.asarray(data.items, object),
    )
    return {
        "spans": int(score.exact.predicted),
        "correct": int(score.exact.correct),
        "posterior": [[round(float(p), 6) for p in row] for row in result.posterior[:6]],
    }


SUITES: Mapping[Kind, Suite] = {
    "classes": Suite(
        golden=suited_classes,
        featured=_featured_classes,
        tiny=tiny_crowds(),
        numbers=_numbers_of_classes,
        shapes_only=LabelShapes,
    ),
    "ratings": Suite(
        golden=suited_ratings,
        featured=suited_ratings,
        tiny=tiny_ratings(),
        numbers=_numbers_of_ratings,
        shapes_only=RatingShapes,
    ),
    "comparisons": Suite(
        golden=lambda method: golden_arena(),
        featured=lambda method: golden_arena(),
        tiny=tiny_arenas(),
        numbers=_numbers_of_rankings,
        shapes_only=ComparisonShapes,
    ),
    "sequences": Suite(
        golden=golden_texts,
        featured=golden_texts,
        tiny=tiny_texts(),
        numbers=_numbers_of_spans,
        shapes_only=LabelShapes,
        n_truths=lambda data: len(np.asarray(data.offsets)) - 1,
    ),
}

# Methods for sets are methods for classes, see tests/test_set_methods.py.
CASES = [(kind, method) for kind in SUITES for method in methods(kind=kind).values()]
"""Every method that infers truths, with each kind of labels that it works on."""


def golden_numbers(kind: Kind, method: Method) -> dict[str, Any]:
    """Compute the golden numbers of a method on the committed crowd."""
    suite = SUITES[kind]
    return suite.numbers(method.fit(suite.golden(method), **method.quick))
