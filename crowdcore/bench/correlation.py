"""What attention of every node to every node costs: all pairs exactly in O(n log n), and dense."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from unittest.mock import patch

from crowdcore.bench.measure import measured
from crowdcore.bench.papers import Table
from crowdcore.bench.processes import pool

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.data import CrowdData

Cost = dict[str, float]
Form = Literal["exact", "dense"]

SMALL, LARGE = 8_315, 1_000_000
"""Nodes: as many as the items of `product`, and as many as no n × n matrix can have."""

WIDTH, WARM, EPOCHS = 30, 100, 10

NOTES = (
    "CPU seconds of a forward and a backward pass of the layer, values being float32 of width 30, "
    "and of a training epoch; one thread, each in a process of its own. Memory is the peak of the "
    "resident set, less what was there before. Exact and dense give the same numbers; exact is "
    "O(n log n), dense makes the n × n weights.",
)


def speed_table(product: CrowdData | None) -> Table:
    """Time both forms of the layer, and a training epoch with each where `product` is at hand.

    Some of its items must have gold.
    """
    rows = [
        _row(
            f"layer, {SMALL:,} nodes",
            _alone(_layer, SMALL, "exact"),
            _alone(_layer, SMALL, "dense"),
        ),
        _row(f"layer, {LARGE:,} nodes", _alone(_layer, LARGE, "exact"), None),
    ]
    for merge in (False, True) if product is not None else ():
        exact, dense = (_alone(_epoch, product, form, merge) for form in ("exact", "dense"))
        nodes = "like items one node" if merge else "each item a node"
        rows.append(_row(f"an epoch on product, {nodes}", exact, dense))
    header = ["", "exact, s", "memory", "dense, s", "memory", "times faster"]
    return Table(title="HGNN: attention to all nodes", header=header, rows=rows, notes=NOTES)


def _alone(work: Callable[..., Cost], *arguments: Any) -> Cost:
    """Measure in a process of its own."""
    with pool(1) as processes:
        return processes.submit(work, *arguments).result()


def _layer(nodes: int, form: Form) -> Cost:
    """A forward and a backward pass of the attention alone; the first, small ones do not count."""
    import torch

    def step(n: int) -> int:
        draw = torch.Generator().manual_seed(0)
        shapes = [(n,), (n,), (n, WIDTH)]
        leaves = [torch.randn(shape, generator=draw).requires_grad_() for shape in shapes]
        _form(form)(*leaves).sum().backward()  # type: ignore[no-untyped-call]
        return 1

    step(WARM)
    return measured(lambda: step(nodes))


def _epoch(product: CrowdData, form: Form, merge: bool) -> Cost:
    """What each further epoch of a fit costs, with like items one node or not."""
    from crowdcore.engine import assembly, attention
    from crowdcore.registry import fit

    def train(epochs: int) -> int:
        fit(product, "hgnn", teacher="gold", selection="paper", epochs=epochs)
        return epochs

    forms = patch.object(attention, "full", _form(form))
    with forms, patch.object(assembly.Design, "merges", merge):
        train(1)
        short, long = (measured(partial(train, epochs)) for epochs in (1, 1 + EPOCHS))
    seconds = (long["cpu_seconds"] - short["cpu_seconds"]) / EPOCHS
    return {**long, "cpu_seconds": seconds}


def _form(form: Form) -> Callable[..., Tensor]:
    from torch.nn.functional import leaky_relu

    from crowdcore.engine import attention

    def dense(
        query: Tensor, key: Tensor, value: Tensor, slope: float = 0.0, copies: Tensor | None = None
    ) -> Tensor:
        scores = leaky_relu(query.unsqueeze(1) + key, slope)
        return (scores if copies is None else scores + copies.log()).softmax(1) @ value

    return attention.full if form == "exact" else dense


def _row(what: str, exact: Cost, dense: Cost | None) -> list[str]:
    line = [what, *_cost(exact)]
    if dense is None:
        return [*line, "-", "-", "-"]
    return [*line, *_cost(dense), f"{dense['cpu_seconds'] / exact['cpu_seconds']:.1f}"]


def _cost(cost: Cost) -> list[str]:
    return [f"{cost['cpu_seconds']:.3f}", f"{cost['bytes'] / 1e6:,.0f} MB"]
