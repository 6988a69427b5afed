"""UnionNet (2022): a classifier that explains all workers' labels as one long answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

ANSWERS_PER_CHUNK = 4_000_000
"""Possible answers (label x worker x class) that are scored together."""


class UnionConfig(ClassifierConfig):
    """Settings of UnionNet."""

    batch: int = Field(128, ge=1, le=1_000_000, description="Labels per step.")
    variant: Literal["a", "b"] = Field(
        "a",
        description="One softmax over all answers of all workers (a), or one distribution over "
        "them per class (b).",
    )
    start: Literal["votes", "identity"] = Field(
        "votes",
        description="Start from workers as the votes show them, or from equally trusted ones.",
    )


@method(
    title="All workers as a union (UnionNet)",
    year=2022,
    paper="Wei et al., doi:10.1109/TNNLS.2022.3168696",
    config=UnionConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def unionnet(labels: Labels, cfg: UnionConfig, run: Run) -> ClassEstimate:
    """Train a classifier through one matrix from the classes to all answers of all workers."""
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.splits import hold_out_groups
    from crowdcore.methods.classifiers._answer_scores import AnswerScores

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    observed = labels.rows
    scores = {"a": _joint, "b": _by_class}[cfg.variant]

    def build() -> Learner:
        net, answers = classifier.new_net(), AnswerScores(labels)

        def loss(rows: Tensor) -> Tensor:
            """Of a held-out label, only the class given counts, not who gave it."""
            worker, given = (
                codes.index_select(0, rows) for codes in (observed.worker, observed.given)
            )
            logs = net(classifier.features(observed.item.index_select(0, rows))).log_softmax(1)
            logits, total = scores(answers.table, logs, worker, net.training)
            if not net.training:
                return cross_entropy(logits, given)
            return (total - logits.gather(1, given.unsqueeze(1)).squeeze(1)).mean()

        def each_epoch(rows: Tensor) -> None:
            if cfg.start == "votes":
                answers.initialise(observed.item.index_select(0, rows))

        module = nn.ModuleDict({"net": net, "answers": answers})
        return Learner(module=module, loss=loss, each_epoch=each_epoch)

    item_of_row = labels.data.item[observed.order]
    split = hold_out_groups(labels, item_of_row, cfg.held_out, run)
    net = classifier.training.learn(split, build).module.get_submodule("net")
    assert isinstance(net, Net)
    return classifier.estimate(net, method="unionnet")


def _joint(table: Tensor, logs: Tensor, worker: Tensor, with_total: bool) -> tuple[Tensor, Tensor]:
    """UnionNet-A: logits [n, K] of a worker's answers; the log total [n] of all, if asked for."""
    from torch import cat, einsum, split
    from torch.utils.checkpoint import checkpoint

    shares, rows = logs.exp(), table.flatten(0, 1)
    logits = einsum("nlk,nk->nl", table.index_select(0, worker), shares)
    if not with_total:
        return logits, logits.new_zeros(len(logits))
    # Only some are scored at a time, and scored again for the gradients.
    chunks = split(shares, max(1, ANSWERS_PER_CHUNK // len(rows)))
    totals = [checkpoint(_log_total, rows, chunk, use_reentrant=False) for chunk in chunks]
    return logits, cat(totals)


def _log_total(rows: Tensor, shares: Tensor) -> Tensor:
    return (shares @ rows.T).logsumexp(1)


def _by_class(table: Tensor, logs: Tensor, worker: Tensor, _: bool) -> tuple[Tensor, Tensor]:
    """UnionNet-B: log probabilities [n, K] of a worker's answers; all of everybody's make 1."""
    answers = table.flatten(0, 1).log_softmax(0).reshape(table.shape)
    log_answers = (answers.index_select(0, worker) + logs.unsqueeze(1)).logsumexp(2)
    return log_answers, log_answers.new_zeros(len(log_answers))
