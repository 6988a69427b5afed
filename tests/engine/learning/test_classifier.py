"""Classifiers leave the house and come back the same; nothing in their file is executed."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.data import CrowdData, DataError
from crowdcore.engine.learning import networks
from crowdcore.engine.learning.classifier import FILE, Classifier
from crowdcore.reading import read_labels
from crowdcore.results.result import Result
from tests.reading.test_feature_columns import LABELS, csv, texts
from tests.workspace.samples import made_result

TABLE = csv("text,age", [f"{one},{place}" for place, one in enumerate(texts())])


def left_by(data: CrowdData, **settings: Any) -> Result:
    """A result whose method has left a net with random weights."""
    assert data.features is not None
    shape = data.features.shape[1:]
    with torch.random.fork_rng():
        torch.manual_seed(3)
        description = networks.describe(
            shape, data.n_classes, hidden=(5,), channels=(2,), **settings
        )
        state = networks.build(description).state_dict()
    across = (0,) if len(shape) == 1 else (0, 2, 3)
    network = TrainedNetwork.from_state(
        description,
        {name: value.numpy() for name, value in state.items()},
        mean=data.features.mean(across, keepdims=True)[0],
        scale=data.features.std(across, keepdims=True)[0] + 1,
        classes=data.classes,
        method="mv",
    )
    return made_result(data).with_artefacts(network)


def of_table() -> CrowdData:
    return read_labels(LABELS, features=TABLE)


def of_pictures() -> CrowdData:
    values = np.random.default_rng(0).random((40, 3, 8, 8), np.float32)
    return replace(of_table(), features=values, feature_names=(), recipe=None)


def classifier(make: Callable[[], CrowdData] = of_table) -> Classifier:
    found = Classifier.from_result(left_by(make()))
    assert found is not None
    return found


def test_a_result_without_a_classifier_has_none() -> None:
    assert Classifier.from_result(made_result(of_table())) is None


@pytest.mark.parametrize("make", [of_table, of_pictures])
def test_a_classifier_comes_back_and_says_exactly_the_same(
    make: Callable[[], CrowdData], tmp_path: Path
) -> None:
    data, here = make(), classifier(make)
    here.save(tmp_path / FILE)
    back = Classifier.load(tmp_path / FILE)
    assert data.features is not None
    there = back.predict(data.features)
    assert np.array_equal(there, here.predict(data.features))
    assert there.shape == (40, 2)
    assert there.sum(1) == pytest.approx(1)
    assert there.std() > 0.001
    assert (back.classes, back.shape) == (data.classes, data.features.shape[1:])
    assert back.recipe == data.recipe
    assert back.provenance == json.loads(json.dumps(here.provenance))
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_many_items_are_classified_in_chunks_of_which_none_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = of_table()
    assert data.features is not None
    whole = classifier().predict(data.features)
    monkeypatch.setattr("crowdcore.engine.learning.classifier.ITEMS_PER_CHUNK", 7)
    assert classifier().predict(data.features) == pytest.approx(whole, abs=1e-7)
    assert classifier().predict(data.features[:0]).shape == (0, 2)


def test_probabilities_are_those_of_the_net_on_standardised_features() -> None:
    data, found = of_table(), classifier()
    assert data.features is not None
    network = found.network
    net = networks.build(network.description["net"])
    net.load_state_dict({name: torch.tensor(one) for name, one in network.parameters.items()})
    net.eval()
    x = torch.tensor((data.features - network.mean) / network.scale)
    with torch.no_grad():
        expected = net(x).softmax(1).numpy()
    assert found.predict(data.features) == pytest.approx(expected, abs=1e-6)


def test_other_programs_find_plain_weights_and_json_in_the_file(tmp_path: Path) -> None:
    classifier().save(tmp_path / FILE)
    with zipfile.ZipFile(tmp_path / FILE) as archive:
        facts = json.loads(archive.read("classifier.json"))
        state = torch.load(io.BytesIO(archive.read("classifier.pt")), weights_only=True)
    assert facts["description"]["classes"] == ["a", "b"]
    assert facts["provenance"]["method"] == "mv"
    assert set(state) == set(classifier().network.parameters)


@pytest.mark.parametrize(
    ("features", "says"),
    [
        (np.zeros((2, 3), np.float32), r"learnt from \d+ numbers per item.* have 3 numbers"),
        (np.zeros((2, 3, 8, 8), np.float32), "have 3 × 8 × 8 numbers"),
        (np.zeros(5, np.float32), "have no numbers"),
    ],
)
def test_features_of_another_shape_are_a_sentence(features: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        classifier().predict(features)


def test_a_feature_that_is_missing_is_a_sentence() -> None:
    values = np.array(of_table().features)
    values[4, 0] = np.nan
    with pytest.raises(DataError, match=r"not a finite number \(row 5\)"):
        classifier().predict(values)


def changed(tmp_path: Path, name: str, content: bytes | None) -> bytes:
    """A classifier's file with one part replaced, or gone."""
    classifier().save(tmp_path / FILE)
    sink = io.BytesIO()
    with zipfile.ZipFile(tmp_path / FILE) as old, zipfile.ZipFile(sink, "w") as new:
        for part in old.namelist():
            if part != name:
                new.writestr(part, old.read(part))
            elif content is not None:
                new.writestr(part, content)
    return sink.getvalue()


class Evil:
    """Does something when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("was-here"),))


def pickled(value: object) -> bytes:
    sink = io.BytesIO()
    torch.save(value, sink)
    return sink.getvalue()


def scaling(size: int) -> bytes:
    sink = io.BytesIO()
    np.savez(sink, mean=np.zeros(size), scale=np.ones(size))
    return sink.getvalue()


def objects() -> bytes:
    sink = io.BytesIO()
    np.savez(sink, mean=np.array([Evil()], dtype=object), scale=np.ones(1))
    return sink.getvalue()


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("classifier.pt", pickled({"head.bias": Evil()})),
        ("classifier.pt", pickle.dumps({"head.bias": Evil()})),
        ("arrays.npz", objects()),
    ],
    ids=["torch", "pickle", "numpy"],
)
def test_code_in_a_file_is_refused_and_never_runs(
    part: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = changed(tmp_path, part, content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="not a classifier"):
        Classifier.load(file)
    assert not (tmp_path / "was-here").exists()
    pickle.loads(pickle.dumps(Evil()))
    assert (tmp_path / "was-here").exists()  # it would have been seen


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("classifier.pt", None),
        ("classifier.json", None),
        ("arrays.npz", None),
        ("classifier.pt", b"no weights"),
        ("classifier.pt", pickled({"head.bias": torch.zeros(2)})),
        ("classifier.pt", pickled([1, 2])),
        ("arrays.npz", scaling(3)),
        ("classifier.json", b"{}"),
        ("classifier.json", b"[]"),
        ("classifier.json", b"\xff"),
    ],
)
def test_a_file_with_a_part_missing_or_wrong_is_a_sentence(
    part: str, content: bytes | None, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"not a classifier.*classifier\.zip of a run"):
        Classifier.load(changed(tmp_path, part, content))


def test_a_net_that_does_not_fit_its_classes_is_refused(tmp_path: Path) -> None:
    classifier().save(tmp_path / FILE)
    with zipfile.ZipFile(tmp_path / FILE) as archive:
        facts = json.loads(archive.read("classifier.json"))
    facts["description"]["classes"].append("c")
    with pytest.raises(DataError, match="not a classifier"):
        Classifier.load(changed(tmp_path, "classifier.json", json.dumps(facts).encode()))


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 broken", b"item,label\n", b"PK\x05\x06" + b"\0" * 18]
)
def test_any_other_file_is_a_sentence(content: bytes) -> None:
    with pytest.raises(DataError, match="not a classifier"):
        Classifier.load(content)


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        Classifier.load(tmp_path / FILE)
