from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from crowdcore.bench import attention_cost
from crowdcore.simulation.classes import simulate


def in_this_process(work: Callable[..., Any], *arguments: Any) -> Any:
    return work(*arguments)


def test_an_epoch_is_timed_with_both_forms_and_both_ways_to_make_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in [("SMALL", 50), ("LARGE", 100), ("EPOCHS", 2)]:
        monkeypatch.setattr(attention_cost, name, value)
    monkeypatch.setattr(attention_cost, "_in_own_process", in_this_process)
    data = simulate(items=40, workers=8, classes=2, features=0).data
    table = attention_cost.speed_table(data)
    assert [row[0] for row in table.rows[2:]] == [
        "an epoch on product, each item a node",
        "an epoch on product, like items one node",
    ]
    assert all(len(row) == len(table.header) for row in table.rows)


def test_the_dense_form_gives_the_numbers_of_the_exact_one() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(shape, generator=generator) for shape in ((9,), (9,), (9, 4)))
    copies = torch.arange(1.0, 10.0)
    exact, dense = (
        attention_cost._attention(form)(query, key, value, copies=copies)
        for form in ("exact", "dense")
    )
    torch.testing.assert_close(exact, dense)
