"""UnionNet (2022): a classifier that explains all workers' labels as one long answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run

CELLS = 4_000_000
"""Possible answers (label x worker x class) that are weighed together."""


class UnionConfig(ClassifierConfig):
    """Settings of UnionNet."""

    batch: int = Field(128, ge=1, le=1_000_000, description="Labels that make one step.")
    variant: Literal["a", "b"] = Field(
        "a",
        description="Whether one softmax goes over all answers of all workers (a), or every class "
        "has a distribution over them (b).",
    )
    start: Literal["votes", "identity"] = Field(
        "votes",
        description="Whether workers are first thought to be as good as the votes suggest, or all "
        "alike.",
    )


@method(
    title="All workers as a union (UnionNet)",
    year=2022,
    paper="Wei et al., doi:10.1109/TNNLS.2022.3168696",
    config=UnionConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def unionnet(labels: Labels, cfg: UnionConfig, run: Run) -> Estimate:
    """Train a classifier through one matrix from the classes to all that anybody may say."""
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.nets import Net
    from crowdcore.engine.noise import Answers
    from crowdcore.engine.train import Learner, Triples, hold_out

    classifier = ItemClassifier.of(labels, cfg, run)
    said = Triples.of(labels)
    scores = {"a": _joint, "b": _by_class}[cfg.variant]

    def build() -> Learner:
        net, answers = classifier.fresh(), Answers(labels)

        def loss(rows: Tensor) -> Tensor:
            """Of a held-out label, only what was said counts, not who said something."""
            worker, given = (codes.index_select(0, rows) for codes in (said.worker, said.given))
            logs = net(classifier.features(said.item.index_select(0, rows))).log_softmax(1)
            own, total = scores(answers.table, logs, worker, net.training)
            if not net.training:
                return cross_entropy(own, given)
            return (total - own.gather(1, given.unsqueeze(1)).squeeze(1)).mean()

        def each_epoch(rows: Tensor) -> None:
            if cfg.start == "votes":
                answers.begin(said.item.index_select(0, rows))

        module = nn.ModuleDict({"net": net, "answers": answers})
        return Learner(module=module, loss=loss, each_epoch=each_epoch)

    split = hold_out(labels, np.sort(labels.data.item), cfg.held_out, run)
    net = classifier.training.learn(split, build).module.get_submodule("net")
    assert isinstance(net, Net)
    return classifier.estimate(net, method="unionnet")


def _joint(table: Tensor, logs: Tensor, worker: Tensor, wanted: bool) -> tuple[Tensor, Tensor]:
    """UnionNet-A: logits [n, K] of a worker's answers; the total [n] of everybody's, if wanted."""
    from torch import cat, einsum, split
    from torch.utils.checkpoint import checkpoint

    shares, rows = logs.exp(), table.flatten(0, 1)
    own = einsum("nlk,nk->nl", table.index_select(0, worker), shares)
    if not wanted:
        return own, own.new_zeros(len(own))
    # Only some are weighed at a time, and weighed again for the gradients.
    parts = split(shares, max(1, CELLS // len(rows)))
    totals = [checkpoint(_log_total, rows, part, use_reentrant=False) for part in parts]
    return own, cat(totals)


def _log_total(rows: Tensor, shares: Tensor) -> Tensor:
    return (shares @ rows.T).logsumexp(1)


def _by_class(table: Tensor, logs: Tensor, worker: Tensor, _: bool) -> tuple[Tensor, Tensor]:
    """UnionNet-B: log probabilities [n, K] of a worker's answers; all of everybody's make 1."""
    answers = table.flatten(0, 1).log_softmax(0).reshape(table.shape)
    own = (answers.index_select(0, worker) + logs.unsqueeze(1)).logsumexp(2)
    return own, own.new_zeros(len(own))
