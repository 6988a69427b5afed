"""What attention of every node to every node costs: all pairs exactly in O(n log n), and dense."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

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

WIDTH = 30
"""Numbers per value."""

WARM_UP_NODES = 100
"""Nodes of the first pass, which is not measured."""

EPOCHS = 10
"""Epochs over which the cost of one is averaged."""

NOTES = (
    "CPU seconds of a forward and a backward pass of the layer, values being float32 of width 30, "
    "and of a training epoch; one thread, each in a process of its own. Memory is the peak of the "
    "resident set, less what was there before. Exact and dense give the same numbers; exact is "
    "O(n log n), dense makes the n × n weights.",
)


def speed_table(product: CrowdData | None) -> Table:
    """Time both forms of the layer, and a training epoch with each.

    Parameters
    ----------
    product : CrowdData or None
        The data set `product`, with gold for some of its items; None leaves the epochs out.

    Returns
    -------
    Table
        One row per size of the layer and per way to make nodes of items.

    """
    rows = [
        _row(
            f"layer, {SMALL:,} nodes",
            _in_own_process(_layer, SMALL, "exact"),
            _in_own_process(_layer, SMALL, "dense"),
        ),
        _row(f"layer, {LARGE:,} nodes", _in_own_process(_layer, LARGE, "exact"), None),
    ]
    for merge in (False, True) if product is not None else ():
        exact, dense = (
            _in_own_process(_epoch, product, form, merge) for form in ("exact", "dense")
        )
        nodes = "like items one node" if merge else "each item a node"
        rows.append(_row(f"an epoch on product, {nodes}", exact, dense))
    header = ["", "exact, s", "memory", "dense, s", "memory", "times faster"]
    return Table(title="HGNN: attention to all nodes", header=header, rows=rows, notes=NOTES)


def _in_own_process(work: Callable[..., Cost], *arguments: Any) -> Cost:
    """Measure in a process of its own."""
    with pool(1) as processes:
        return processes.submit(work, *arguments).result()


def _layer(nodes: int, form: Form) -> Cost:
    """A forward and a backward pass of the attention alone; the first, small ones do not count."""
    import torch

    attend = _attention(form)

    def step(n: int) -> int:
        generator = torch.Generator().manual_seed(0)
        shapes = [(n,), (n,), (n, WIDTH)]
        leaves = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
        attend(*leaves).sum().backward()  # type: ignore[no-untyped-call]
        return 1

    step(WARM_UP_NODES)
    return measured(lambda: step(nodes))


def _epoch(product: CrowdData, form: Form, merge: bool) -> Cost:
    """What each further epoch of training costs, with like items one node or not."""
    import torch

    from crowdcore.engine.labels import Labels
    from crowdcore.engine.learning.supervision import find_teacher
    from crowdcore.methods.graph.hgnn import _build as build
    from crowdcore.methods.graph.hgnn import _training as training
    from crowdcore.methods.graph.hgnn import design_of
    from crowdcore.methods.graph.hgnn._graph import Graph
    from crowdcore.registry import get_method
    from crowdcore.run import Run

    config: Any = get_method("hgnn").configure({})
    labels = Labels(product, torch.device("cpu"))
    graph = Graph.from_labels(labels, merge=merge, dtype=build.DTYPE)
    teacher = find_teacher(product, "gold")
    labelled_rows = labels.tensor((product.labels_per_item > 0).cumsum() - 1)
    attend = [partial(_attention(form), copies=copies) for copies in (None, graph.copies)]

    def train(epochs: int) -> int:
        run = Run(device="cpu")
        network = build.build(labels, graph, design_of(config), run.generator(), attend=attend)
        targets = training.Targets(
            rows=graph.node.index_select(0, labelled_rows[labels.tensor(teacher.items)]),
            answers=labels.tensor(teacher.answers),
            epochs=epochs,
            rate=config.rate,
        )
        training.learn(network, targets, run)
        return epochs

    train(1)
    short, long = (measured(partial(train, epochs)) for epochs in (1, 1 + EPOCHS))
    seconds = (long["cpu_seconds"] - short["cpu_seconds"]) / EPOCHS
    return {**long, "cpu_seconds": seconds}


def _attention(form: Form) -> Callable[..., Tensor]:
    """The layer's own attention, or the one that makes the n × n weights."""
    from torch.nn.functional import leaky_relu

    from crowdcore.methods.graph.hgnn import _attention as attention

    def dense(
        query: Tensor, key: Tensor, value: Tensor, slope: float = 0.0, copies: Tensor | None = None
    ) -> Tensor:
        scores = leaky_relu(query.unsqueeze(1) + key, slope)
        return (scores if copies is None else scores + copies.log()).softmax(1) @ value

    return attention.full if form == "exact" else dense


def _row(title: str, exact: Cost, dense: Cost | None) -> list[str]:
    row = [title, *_cost(exact)]
    if dense is None:
        return [*row, "-", "-", "-"]
    return [*row, *_cost(dense), f"{dense['cpu_seconds'] / exact['cpu_seconds']:.1f}"]


def _cost(cost: Cost) -> list[str]:
    return [f"{cost['cpu_seconds']:.3f}", f"{cost['bytes'] / 1e6:,.0f} MB"]
