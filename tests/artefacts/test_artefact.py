"""Artefacts turn into arrays and JSON and back, also those that were stored before the classes."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from crowdcore.artefacts.adverse_workers import AdverseWorkers
from crowdcore.artefacts.artefact import Array, Artefact
from crowdcore.artefacts.attention import AttentionMap
from crowdcore.artefacts.communities import Communities
from crowdcore.artefacts.completion import Completion
from crowdcore.artefacts.confusion_interval import ConfusionInterval
from crowdcore.artefacts.embedding import Embedding
from crowdcore.artefacts.epoch_truths import EpochTruths
from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.artefacts.pool_members import PoolMembers
from crowdcore.artefacts.spam_habits import SpamHabits
from crowdcore.artefacts.spectral import SpectralSpace
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.data import CrowdData
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.errors import ResultError
from crowdcore.results.result import Result
from crowdcore.workspace.result_files import read_result, write_result
from tests.left_behind import left_behind
from tests.workspace.samples import ROOT, made_result, small_data

STORED = Path(__file__).with_name("stored_by_0.1.0.zip")
"""Folders that the workspace wrote before artefacts had classes, one per method."""

KINDS: dict[str, list[type[Artefact]]] = {
    "auto": [PoolMembers],
    "bcc": [ConfusionInterval],
    "cbcc": [Communities],
    "hgnn": [AttentionMap, Embedding, EpochTruths],
    "mace": [SpamHabits],
    "max_mig": [FeaturePosterior, TrainedNetwork],
    "mmlc_owf": [SpectralSpace],
    "tllc": [Completion, LabelEmbeddings, AdverseWorkers],
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Everything(Artefact):
    """An artefact with every sort of field."""

    name: ClassVar[str] = "everything"
    data: CrowdData
    array: Array
    named: dict[str, Array]
    facts: Any = None
    missing: Array | None = None


def everything(**changed: Any) -> Everything:
    values: dict[str, Any] = {
        "data": small_data(),
        "array": torch.arange(3.0, requires_grad=True),
        "named": {"layer.0": torch.ones(2), "layer.1": np.zeros(1)},
        "facts": ("a", [1, 2.5, None, {"b": True}]),
    }
    return Everything(**{**values, **changed})


def test_fields_become_arrays_and_json_and_come_back() -> None:
    stored = everything().as_stored()
    assert list(stored) == ["array", "named/layer.0", "named/layer.1", "facts"]
    assert stored["facts"] == ["a", [1, 2.5, None, {"b": True}]]
    data = small_data()
    again = Everything.from_stored(stored, data)
    assert again.data is data
    assert again.missing is None
    np.testing.assert_array_equal(again.array, [0, 1, 2])
    assert isinstance(again.array, np.ndarray)
    assert list(again.named) == ["layer.0", "layer.1"]
    np.testing.assert_array_equal(again.named["layer.0"], [1, 1])


def test_a_result_keeps_what_it_is_given_and_gives_it_back(tmp_path: Path) -> None:
    result = made_result(small_data()).with_artefacts(everything())
    write_result(result, tmp_path)
    again = read_result(tmp_path, result.data)
    assert left_behind(again, Everything).as_stored().keys() == everything().as_stored().keys()
    assert again.artefact(Communities) is None


@pytest.mark.parametrize(
    "value", [object(), np.array([object()]), {"x": (1, 2)}, {1: "x"}, np.float64(1), {2}]
)
def test_a_field_that_would_need_pickle_is_refused(value: object) -> None:
    with pytest.raises(ResultError, match="everything: 'facts'"):
        everything(facts=value).as_stored()


def crowd(*, features: bool) -> CrowdData:
    """The crowd that the stored results are of."""
    item, worker = (codes.ravel() for codes in np.indices((12, 5)))
    truth = np.arange(12) % 2
    label = np.where((item + worker) % 5 == 0, 1 - truth[item], truth[item])
    kept = (item + 2 * worker) % 4 != 0
    table = np.stack([truth, np.arange(12)], 1).astype(np.float32)
    return CrowdData(
        item=item[kept],
        worker=worker[kept],
        label=label[kept],
        items=tuple(f"i{number}" for number in range(12)),
        workers=tuple("abcde"),
        classes=("no", "yes"),
        features=table if features else None,
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(folder)
    return folder


def stored_result(stored: Path, method: str) -> Result:
    return read_result(stored / method, crowd(features=method in ("max_mig", "tllc")))


@pytest.mark.parametrize("method", KINDS)
def test_stored_results_open_and_every_key_of_theirs_is_read(stored: Path, method: str) -> None:
    result = stored_result(stored, method)
    assert result.provenance.data == result.data.fingerprint
    assert set(result.artefacts) == {kind.name for kind in KINDS[method]}
    for kind in KINDS[method]:
        before, again = result.artefacts[kind.name], left_behind(result, kind).as_stored()
        assert set(again) == set(before)
        for key, value in before.items():
            np.testing.assert_array_equal(again[key], value)


def test_what_was_stored_is_still_of_use(stored: Path) -> None:
    data = crowd(features=True)
    attention = left_behind(stored_result(stored, "hgnn"), AttentionMap)
    np.testing.assert_allclose(attention.rows("workers", [0, 4]).sum(1), 1)
    np.testing.assert_allclose(attention.rows("items", [3]).sum(), 1)
    completion = left_behind(stored_result(stored, "tllc"), Completion)
    assert completion.data.n_labels + completion.n_filled == completion.listed().n_labels
    communities = stored_result(stored, "cbcc")
    shares = [one.share for one in left_behind(communities, Communities).with_members(communities)]
    assert sum(shares) == pytest.approx(1)
    joined = stored_result(stored, "max_mig")
    classifier, alone = Classifier.from_result(joined), left_behind(joined, FeaturePosterior)
    assert classifier is not None
    assert data.features is not None
    np.testing.assert_allclose(
        classifier.predict(data.features), alone.probabilities, rtol=1e-4, atol=1e-4
    )


def test_a_pool_of_the_first_versions_has_no_weights() -> None:
    first: dict[str, Any] = {"names": ["ds"], "titles": ["Dawid-Skene"], "skipped": []}
    members = PoolMembers.from_stored(first | {"agreement": np.ones((1, 2))}, small_data())
    assert members.names == ["ds"]
    assert members.weights is None
    assert members.votes is None


@pytest.mark.parametrize("package", ["crowdcore", "dashboard"])
def test_artefacts_are_read_by_class_and_never_by_key(package: str) -> None:
    by_key = re.compile(r"\.artefacts(\[|\.get\()")
    readers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / package).rglob("*.py")
        if by_key.search(path.read_text(encoding="utf-8"))
    }
    assert readers <= {"crowdcore/results/result.py"}
