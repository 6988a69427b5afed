from __future__ import annotations

import torch

from crowdcore.engine.centroids import Centroids


def two_classes() -> Centroids:
    """A worker with class 0 around 0, class 1 around 4, class 2 once, and never class 3."""
    placed = torch.tensor([[-1.0], [1.0], [3.0], [5.0], [10.0]])
    code = torch.tensor([0, 0, 1, 1, 2])
    return Centroids.of(placed, torch.zeros(5, dtype=torch.long), code, (1, 4))


def test_centres_and_radii_are_means() -> None:
    found = two_classes()
    torch.testing.assert_close(found.centre[0, :3, 0], torch.tensor([0.0, 4.0, 10.0]))
    torch.testing.assert_close(found.radius[0, :2], torch.ones(2))
    assert found.known.tolist() == [[True, True, True, False]]
    # Without itself, the centre of a class of two is the other item, at a distance of 2.
    torch.testing.assert_close(found.spread, torch.tensor([4.0]))


def test_the_three_readings_of_the_condition() -> None:
    found = two_classes()
    at = torch.tensor([[[0.5], [2.1], [4.9], [10.0], [30.0]]])
    within, sure = found.fill(at, "nearest within")
    assert within.tolist() == [[0, -1, 1, -1, -1]]  # a class with one item fills nothing
    assert ((sure > 0) & (sure <= 1)).all()
    assert found.fill(at, "nearest")[0].tolist() == [[0, 1, 1, 2, 2]]
    assert found.fill(at, "first within")[0].tolist() == [[0, -1, 1, -1, -1]]


def test_the_first_class_that_is_within_need_not_be_the_nearest() -> None:
    placed = torch.tensor([[-5.0], [5.0], [3.0], [4.0]])
    found = Centroids.of(
        placed, torch.zeros(4, dtype=torch.long), torch.tensor([0, 0, 1, 1]), (1, 2)
    )
    at = torch.tensor([[[3.5]]])
    assert found.fill(at, "first within")[0].item() == 0
    label, sure = found.fill(at, "nearest within")
    assert label.item() == 1
    assert sure.item() > 0.5


def test_a_worker_without_labels_fills_nothing() -> None:
    none = torch.zeros(0, dtype=torch.long)
    found = Centroids.of(torch.zeros(0, 2), none, none, (1, 3))
    label, sure = found.fill(torch.zeros(1, 4, 2), "nearest")
    assert (label == -1).all()
    assert (sure == 0).all()
