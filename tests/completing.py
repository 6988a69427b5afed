"""Results that rest on filled labels, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.completion import Completion, Filled
from crowdcore.data import CrowdData
from crowdcore.results.result import Result

FACTS = {"method": "wslc", "title": "Hand-made", "params": {}, "seed": 0, "seconds": 0.1}


def sparse_pets() -> CrowdData:
    """Five workers, six items, 14 of 30 cells labelled; only i0 to i3 have gold.

    Cats are even, dogs odd. "turned" sees it the wrong way round. i4 is tied, i5 has one label.
    """
    said = {
        "ann": {0: "cat", 1: "dog", 2: "cat", 3: "dog", 4: "cat"},
        "bob": {0: "cat", 1: "dog"},
        "cy": {1: "dog", 2: "cat", 3: "dog", 4: "dog"},
        "turned": {0: "dog", 2: "dog"},
        "new": {5: "dog"},
    }
    triples = [(f"i{i}", w, label) for w, given in said.items() for i, label in given.items()]
    gold = {"i0": "cat", "i1": "dog", "i2": "cat", "i3": "dog"}
    return CrowdData.from_triples(triples, gold=gold)


def filled(
    data: CrowdData, label: Any, probability: Any = 0.75, *, artefacts: Sequence[Artefact] = ()
) -> Completion:
    """Fill cells [N, W] with these classes; observed cells and -1 stay as they are."""
    shape = (data.n_items, data.n_workers)
    cells = np.broadcast_to(np.asarray(label, np.int16), shape)
    sure = np.broadcast_to(np.asarray(probability, np.float16), shape)
    return Completion.from_filled(
        data, Filled(label=cells, probability=sure, artefacts=artefacts), FACTS
    )


def completed(result: Result, completion: Completion) -> Result:
    """Give a result a completion, as if it had been inferred from it."""
    density = list(completion.density)
    facts = {**completion.facts, "filled": completion.n_filled, "density": density}
    return replace(
        result.with_artefacts(completion, *completion.artefacts),
        provenance=replace(result.provenance, completion=facts),
    )
