"""The graph network: its teachers, its layers, and what it leaves behind."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from crowdcore.artefacts.attention import AttentionMap
from crowdcore.artefacts.embedding import Embedding
from crowdcore.artefacts.epoch_truths import EpochTruths
from crowdcore.data import UNKNOWN, CrowdData, DataError
from crowdcore.engine.labels import Labels
from crowdcore.methods.graph.hgnn import _build as assembly
from crowdcore.methods.graph.hgnn._build import Design, build
from crowdcore.methods.graph.hgnn._graph import Graph
from crowdcore.registry import fit, get_method
from crowdcore.results.result import Result
from tests.conformance.suites import LabelShapes
from tests.conformance.test_promises import BlindRun
from tests.crowds import draw, easy_crowd, golden_crowd, with_some_gold, with_twins
from tests.left_behind import left_behind

LAYERS = get_args(get_method("hgnn").config.model_fields["layers"].annotation)


def taught(data: CrowdData | None = None, /, **params: Any) -> Result:
    """A few epochs with gold on every third item."""
    data = with_some_gold(golden_crowd()) if data is None else data
    return fit(data, "hgnn", **{"epochs": 3, "selection": "paper", "hidden": 6, **params})


@cache
def misled_crowd() -> CrowdData:
    """Two in three workers guess, one in three knows; everybody labels most items."""
    rng = np.random.default_rng(2)
    right = np.where(np.arange(24) % 3 == 0, 0.95, 0.4)[:, None, None]
    confusion = right * np.eye(2) + (1 - right) * (1 - np.eye(2))
    return draw(confusion, rng.integers(0, 2, 200), 9, rng)


def test_gold_teaches_whom_to_believe() -> None:
    data = misled_crowd()
    assert data.gold is not None
    some = with_some_gold(data)
    result = fit(some, "hgnn", epochs=60, layers="mp2+mp2")
    other = ~some.has_gold
    majority = (fit(data, "mv").truth == data.gold)[other].mean()
    assert (result.truth == data.gold)[other].mean() > majority + 0.05
    assert "5 networks" in result.provenance.notes[1]


def test_gold_items_keep_their_answer_and_cannot_be_scored() -> None:
    data = with_some_gold(golden_crowd())
    assert data.gold is not None
    result = taught(data)
    np.testing.assert_array_equal(result.truth[data.has_gold], data.gold[data.has_gold])
    assert result.provenance.used_gold
    assert result.score() is None
    assert f"Learnt from {data.n_gold} gold items" in result.provenance.notes[0]


def test_without_gold_the_consensus_teaches_and_the_result_says_so() -> None:
    data = golden_crowd()
    bare = dataclasses.replace(data, gold=None)
    auto, asked = taught(bare), taught(data, teacher="consensus")
    np.testing.assert_array_equal(auto.posterior, asked.posterior)  # gold was never looked at
    assert not asked.provenance.used_gold
    assert asked.score() is not None
    assert auto.provenance.notes[0].startswith("No gold was used: learnt from ")


def test_gold_that_is_not_there_cannot_teach() -> None:
    with pytest.raises(DataError, match="no gold to learn from"):
        taught(dataclasses.replace(golden_crowd(), gold=None), teacher="gold")


@pytest.mark.parametrize("preset", ["paper", "authors"])
@pytest.mark.parametrize("layers", LAYERS)
def test_every_stack_of_layers_learns(layers: str, preset: str) -> None:
    data = with_some_gold(easy_crowd())
    result = taught(data, layers=layers, preset=preset, epochs=40, hidden=10)
    losses = [float(row["loss"]) for row in result.history]
    assert losses[-1] < 0.8 * losses[0]
    assert (result.artefact(AttentionMap) is None) == (layers in ("mp1", "mp1+mp1"))


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({}, "additive"),
        ({"preset": "authors"}, "dot"),
        ({"attention": "dot"}, "dot"),
        ({"preset": "authors", "attention": "additive"}, "additive"),
    ],
)
def test_the_preset_decides_how_to_attend_unless_it_is_told(
    params: dict[str, Any], kind: str
) -> None:
    found = taught(**params).artefact(AttentionMap)
    assert found is not None
    assert found.kind == kind


def all_know_all() -> CrowdData:
    """Every worker has labelled every item, so that everyone is near to everyone."""
    data = golden_crowd()
    rng = np.random.default_rng(0)
    item, worker = np.divmod(np.arange(200), 10)
    return CrowdData(
        item=item,
        worker=worker,
        label=rng.integers(0, 3, 200),
        items=data.items[:20],
        workers=tuple(f"w{w}" for w in range(10)),
        classes=data.classes,
        gold=np.where(np.arange(20) < 8, rng.integers(0, 3, 20), UNKNOWN),
    )


@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_neighbourhoods_that_hold_everyone_are_the_full_one(attention: str) -> None:
    full = taught(all_know_all(), attention=attention)
    wide: list[dict[str, Any]] = [
        {"neighbourhood": "two_hop"},
        {"neighbourhood": "uniform", "sample": 50},
    ]
    for params in wide:
        other = taught(all_know_all(), attention=attention, **params)
        np.testing.assert_allclose(other.posterior, full.posterior, atol=1e-6)


@pytest.mark.parametrize("layers", ["mp2+cor+mp2", "mp1+cor+mp1"])
@pytest.mark.parametrize("preset", ["paper", "authors"])
@pytest.mark.parametrize("neighbourhood", ["full", "two_hop"])
def test_items_with_the_same_labels_are_as_if_each_were_a_node(
    neighbourhood: str, preset: str, layers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = with_twins(with_some_gold(golden_crowd()), 6)
    monkeypatch.setattr(assembly, "DTYPE", torch.float64)
    params = {"neighbourhood": neighbourhood, "preset": preset, "layers": layers}
    merged = taught(data, **params)
    monkeypatch.setattr(Design, "merges", False)
    apart = taught(data, **params)
    np.testing.assert_allclose(merged.posterior, apart.posterior, atol=1e-10)
    for kind in (AttentionMap, Embedding):
        for name, table in left_behind(apart, kind).as_stored().items():
            if isinstance(table, np.ndarray) and table.dtype.kind == "f":
                same = left_behind(merged, kind).as_stored()[name]
                np.testing.assert_allclose(same, table, atol=1e-8)


@pytest.mark.parametrize(
    ("params", "alike"),
    [({}, True), ({"init": "random"}, False), ({"neighbourhood": "uniform", "sample": 30}, False)],
)
def test_noise_and_samples_tell_twins_apart(
    params: dict[str, Any], alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "DTYPE", torch.float64)  # they differ by little
    data = with_twins(golden_crowd(), 6)
    assert data.gold is not None
    gold = np.where(np.arange(data.n_items) % 3 == 1, data.gold, UNKNOWN)
    posterior = taught(dataclasses.replace(data, gold=gold), preset="authors", **params).posterior
    twins = [place for place in range(6) if (gold[[place, place - 7]] == UNKNOWN).all()]
    assert len(twins) > 1
    same = [np.array_equal(posterior[place], posterior[place - 7]) for place in twins]
    assert all(same) == alike


def test_single_precision_is_precise_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset in ("paper", "authors"):
        found = []
        for dtype in (torch.float32, torch.float64):
            monkeypatch.setattr(assembly, "DTYPE", dtype)
            found.append(taught(preset=preset, epochs=10).posterior)
        single, double = found
        np.testing.assert_allclose(single, double, atol=1e-4)


def test_a_sample_is_drawn_anew_and_leaves_no_map_of_nodes() -> None:
    result = taught(neighbourhood="uniform", sample=2)
    found = result.artefact(AttentionMap)
    assert found is not None
    assert not found.query
    assert np.abs(result.posterior - taught(neighbourhood="full").posterior).max() > 1e-9


def test_two_hops_are_refused_where_they_would_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crowdcore.methods.graph.hgnn._graph.MAX_PAIRS", 100)
    with pytest.raises(DataError, match="Use the neighbourhood full"):
        taught(neighbourhood="two_hop")


@pytest.mark.parametrize(("init", "changes"), [("random", True), ("agreement", False)])
def test_noise_is_new_at_every_forward_pass(init: Any, changes: bool) -> None:
    labels = Labels(golden_crowd(), torch.device("cpu"))
    design = Design(
        layers=["mp2"],
        preset="paper",
        init=init,
        neighbourhood="full",
        sample=1,
        dot=False,
        hidden=4,
        edge_size=3,
    )
    net = build(labels, Graph.from_labels(labels), design, torch.Generator().manual_seed(0))
    (first, _), (second, _) = net(), net()
    assert torch.equal(first, second) != changes


def test_noise_follows_the_seed() -> None:
    one, other = taught(init="random"), taught(init="random")
    np.testing.assert_array_equal(one.posterior, other.posterior)


def test_what_was_said_in_each_epoch_is_kept_for_the_papers_protocol() -> None:
    short, long = taught(epochs=3), taught(epochs=4)
    before, after = (left_behind(one, EpochTruths).truth for one in (short, long))
    assert after.shape == (4, short.data.n_items)
    assert after.dtype == np.int16
    np.testing.assert_array_equal(after[:3], before)
    untold = ~short.data.has_gold
    np.testing.assert_array_equal(after[3][untold], short.truth[untold])  # before the update
    assert "as the paper did, leaks" in short.provenance.notes[-1]
    assert taught(selection="honest").artefact(EpochTruths) is None


def test_attention_and_embedding_are_there_for_all_nodes() -> None:
    result = taught()
    data, found, places = result.data, result.artefact(AttentionMap), result.artefact(Embedding)
    assert found is not None
    assert places is not None
    assert places.workers.shape == (data.n_workers, 6)
    assert places.items.shape == (data.n_items, 6)
    np.testing.assert_allclose(found.rows("items", [0, 5]).sum(1), 1)
    assert found.of_worker is not None
    assert found.of_item is not None
    np.testing.assert_allclose(np.bincount(data.worker, weights=found.of_worker), 1)
    np.testing.assert_allclose(np.bincount(data.item, weights=found.of_item), 1)


def test_nodes_without_labels_change_nothing() -> None:
    data = with_some_gold(golden_crowd())
    assert data.gold is not None
    more = dataclasses.replace(
        data,
        items=(*data.items, "nobody saw it"),
        workers=(*data.workers, "idle"),
        gold=np.append(data.gold, UNKNOWN),
    )
    before, after = taught(data), taught(more)
    np.testing.assert_allclose(after.posterior[:-1], before.posterior, atol=1e-12)
    np.testing.assert_allclose(after.posterior[-1], 1 / data.n_classes)
    places = after.artefact(Embedding)
    assert places is not None
    assert not places.workers[-1].any()
    assert not places.items[-1].any()


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_no_tensor_is_left_on_the_cpu(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "backward", lambda loss: None)
    method = get_method("hgnn")
    config = method.configure({"preset": preset, "selection": "paper", "epochs": 1})
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        labels = LabelShapes(with_some_gold(golden_crowd()), torch.device("cuda"))
        estimate = method.function(labels, config, BlindRun())
    assert estimate.posterior.device.type == "cuda"
