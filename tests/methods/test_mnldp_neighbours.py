"""Nearest neighbours and the mixtures they make."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import minimize

from crowdcore.methods.graph.mnldp._neighbours import nearest, reconstruct


def test_nobody_is_a_neighbour_of_themselves_even_among_doubles() -> None:
    x = torch.zeros(8, 3)
    x[4:] = 1
    found = nearest(x, 3)
    assert not (found == torch.arange(8).unsqueeze(1)).any()
    assert ((found < 4) == (torch.arange(8) < 4).unsqueeze(1)).all()


def test_an_item_between_two_others_is_half_of_each() -> None:
    x = torch.tensor([[0.0, 0], [1, 0], [0.5, 0], [0.5, 9]])
    share = reconstruct(x, torch.tensor([[1, 2], [0, 2], [0, 1], [0, 1]]))
    torch.testing.assert_close(share[2].float(), torch.tensor([0.5, 0.5]), atol=1e-4, rtol=0)


def test_shares_are_as_good_as_those_of_a_general_optimiser() -> None:
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(30, 4)))
    others = nearest(x, 6)
    share = reconstruct(x, others).numpy()
    assert (share >= 0).all()
    np.testing.assert_allclose(share.sum(1), 1, atol=1e-9)
    for at in range(5):
        away = x[others[at]].numpy() - x[at].numpy()
        gram = away @ away.T
        gram += np.eye(6) * 1e-3 * np.trace(gram) / 6

        def cost(w: np.ndarray, gram: np.ndarray = gram) -> float:
            return float(w @ gram @ w)

        best = minimize(
            cost,
            np.full(6, 1 / 6),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert cost(share[at]) <= best.fun * (1 + 1e-3)
