"""What a classifier of items learns from, and what it leaves behind."""

from __future__ import annotations

import numpy as np
import torch

from crowdcore.artefacts.artefact import pick
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.data import CrowdData
from crowdcore.engine.labels import Labels
from crowdcore.engine.learning.item_classifier import ItemClassifier
from crowdcore.run import Run
from tests.crowds import easy_crowd
from tests.featured import featured_crowd, labelled_part

CPU = torch.device("cpu")


def classifier_of(data: CrowdData, **settings: float) -> ItemClassifier:
    torch.manual_seed(0)
    quick = {"epochs": 20, "rate": 0.01, "held_out": 0.0, "dropout": 0.0, **settings}
    cfg = ClassifierConfig(**quick)  # type: ignore[arg-type]
    return ItemClassifier.from_labels(Labels(data, CPU), cfg, Run())


def test_answers_are_learnt_and_carry_over_to_other_items() -> None:
    crowd = featured_crowd()
    classifier = classifier_of(crowd.data)
    taught = np.arange(0, 300, 2)
    net = classifier.learn_answers(taught, crowd.truth[taught])
    predicted = classifier.log_probabilities(net).argmax(1).numpy()
    assert (predicted == crowd.truth)[1::2].mean() > 0.8


def test_nothing_hidden_makes_a_linear_net() -> None:
    assert classifier_of(featured_crowd().data, hidden=0).description["kind"] == "linear"


def test_items_without_labels_are_uniform_only_where_features_are_missing() -> None:
    for data in (labelled_part(featured_crowd(), 200).data, easy_crowd().only(_first_half())):
        classifier = classifier_of(data)
        estimate = classifier.estimate(classifier.new_net(), method="x")
        unlabelled = data.labels_per_item == 0
        assert unlabelled.any()
        uniform = np.allclose(np.asarray(estimate.posterior)[unlabelled], 1 / data.n_classes)
        assert uniform == (data.features is None)
        assert (pick(estimate.artefacts, TrainedNetwork) is None) == (data.features is None)


def _first_half() -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    data = easy_crowd()
    half: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.asarray(data.item) < data.n_items // 2
    return half
