from __future__ import annotations

import math

import pytest
import torch

from crowdcore.methods.completion.tdg4crowd._autoencoders import (
    LabelGenerator,
    NormalEmbedding,
    code_autoencoder,
    vector_autoencoder,
)


def test_divergence_is_that_of_a_normal_from_the_standard_normal() -> None:
    wide = NormalEmbedding(torch.tensor([[0.0, 0.0], [1.0, 2.0]]), torch.zeros(2, 2))
    assert wide.divergence().tolist() == [0, 2.5]
    narrow = NormalEmbedding(torch.zeros(1, 1), torch.tensor([[math.log(0.25)]]))
    # log(1 / 0.5) + 0.25 / 2 - 1 / 2
    assert narrow.divergence().item() == pytest.approx(math.log(2) + 0.125 - 0.5)


def test_draws_have_the_mean_and_spread_of_the_embedding() -> None:
    torch.manual_seed(0)
    drawn = NormalEmbedding(
        torch.full((50_000, 1), 3.0), torch.full((50_000, 1), 2 * math.log(0.5))
    ).draw()
    assert drawn.mean().item() == pytest.approx(3, abs=0.02)
    assert drawn.std().item() == pytest.approx(0.5, abs=0.02)


def test_codes_and_vectors_can_be_reconstructed_from_their_embeddings() -> None:
    torch.manual_seed(0)
    codes, numbers = torch.arange(12), torch.randn(12, 6)
    for net, inputs in (
        (code_autoencoder(12, 32, 4), codes),
        (vector_autoencoder(6, 32, 4), numbers),
    ):
        cost, rows = net.loss_on(inputs, 0.0), torch.arange(12)
        before = cost(rows).item()
        optimiser = torch.optim.Adam(net.parameters(), 0.01)
        for _ in range(300):
            optimiser.zero_grad()
            cost(rows).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        assert cost(rows).item() < before / 3
        # An embedding that must stay near the standard normal holds less: its divergence shows.
        assert net.loss_on(inputs, 1.0)(rows) > cost(rows) + 1


def test_a_generator_draws_anew_each_time() -> None:
    torch.manual_seed(0)
    generator = LabelGenerator(code_autoencoder(3, 8, 2), vector_autoencoder(5, 8, 4), 6, 4)
    workers, items = generator.workers(torch.arange(3)), generator.items(torch.randn(3, 5))
    first, second = generator(workers, items), generator(workers, items)
    assert first.shape == (3, 4)
    assert not torch.equal(first, second)
    twice = workers.select(torch.tensor([1, 1]))
    assert torch.equal(twice.mean[0], workers.mean[1])
    assert torch.equal(twice.mean[0], twice.mean[1])
