from __future__ import annotations

import torch

from crowdcore.methods.completion.tllc._centroids import Centroids


def two_classes() -> Centroids:
    """A worker with class 0 around 0, class 1 around 4, class 2 once, and never class 3."""
    embedded = torch.tensor([[-1.0], [1.0], [3.0], [5.0], [10.0]])
    code = torch.tensor([0, 0, 1, 1, 2])
    return Centroids.from_embedding(embedded, torch.zeros(5, dtype=torch.long), code, (1, 4))


def test_centres_and_radii_are_means() -> None:
    centroids = two_classes()
    torch.testing.assert_close(centroids.centre[0, :3, 0], torch.tensor([0.0, 4.0, 10.0]))
    torch.testing.assert_close(centroids.radius[0, :2], torch.ones(2))
    assert centroids.is_given.tolist() == [[True, True, True, False]]
    # Without itself, the centre of a class of two is the other item, at a distance of 2.
    torch.testing.assert_close(centroids.spread, torch.tensor([4.0]))


def test_the_three_readings_of_the_condition() -> None:
    centroids = two_classes()
    points = torch.tensor([[[0.5], [2.1], [4.9], [10.0], [30.0]]])
    within, probability = centroids.classify(points, "nearest within")
    assert within.tolist() == [[0, -1, 1, -1, -1]]  # a class with one item fills nothing
    assert ((probability > 0) & (probability <= 1)).all()
    assert centroids.classify(points, "nearest")[0].tolist() == [[0, 1, 1, 2, 2]]
    assert centroids.classify(points, "first within")[0].tolist() == [[0, -1, 1, -1, -1]]


def test_the_first_class_that_is_within_need_not_be_the_nearest() -> None:
    embedded = torch.tensor([[-5.0], [5.0], [3.0], [4.0]])
    centroids = Centroids.from_embedding(
        embedded, torch.zeros(4, dtype=torch.long), torch.tensor([0, 0, 1, 1]), (1, 2)
    )
    points = torch.tensor([[[3.5]]])
    assert centroids.classify(points, "first within")[0].item() == 0
    label, probability = centroids.classify(points, "nearest within")
    assert label.item() == 1
    assert probability.item() > 0.5


def test_a_worker_without_labels_fills_nothing() -> None:
    none = torch.zeros(0, dtype=torch.long)
    centroids = Centroids.from_embedding(torch.zeros(0, 2), none, none, (1, 3))
    label, probability = centroids.classify(torch.zeros(1, 4, 2), "nearest")
    assert (label == -1).all()
    assert (probability == 0).all()
