from __future__ import annotations

import torch

from crowdcore.methods.completion.tllc import _siamese as siamese
from crowdcore.methods.completion.tllc._siamese import PairTask, RowsByClass
from crowdcore.run import Run

CPU = torch.device("cpu")


def rows_of(counts: list[list[int]]) -> tuple[RowsByClass, torch.Tensor, torch.Tensor]:
    """Rows, their owners and their classes, from how many an owner has of each class."""
    count = torch.tensor(counts)
    owner = torch.arange(len(counts)).repeat_interleave(count.sum(1))
    code = torch.arange(count.shape[1]).repeat(len(counts)).repeat_interleave(count.reshape(-1))
    return RowsByClass.from_codes(owner, code, *count.shape), owner, code


def test_pairs_stay_with_their_owner_and_are_balanced() -> None:
    torch.manual_seed(0)
    rows, owner, code = rows_of([[90, 10, 0], [0, 1, 5], [4, 0, 0]])
    first, second, differs = rows.pairs(3, 4000)
    for number in range(3):
        assert (owner[first[number]] == number).all()
        assert (owner[second[number]] == number).all()
    torch.testing.assert_close(code[first] != code[second], differs)
    share = differs.double().mean(1)
    assert (share[:2] - 0.5).abs().max() < 0.03
    assert share[2] == 0  # one class cannot differ
    # The small class begins a pair as often as the large one.
    assert abs((code[first[0]] == 1).double().mean() - 0.5) < 0.03
    # Items of the same class are two different ones where there are two.
    same = ~differs[0]
    assert (first[0][same] != second[0][same]).all()


def test_networks_that_are_trained_together_are_those_that_are_trained_alone() -> None:
    torch.manual_seed(0)
    x = torch.randn(12, 3)
    rows, _, _ = rows_of([[3, 3], [3, 3]])

    def trained(steps: list[int]) -> siamese.Weights:
        torch.manual_seed(1)
        weights = siamese.copies(siamese.new_weights(3, 5, 2, CPU), 2)
        task = PairTask(rows=rows, inputs=lambda index: x[index], steps=steps, batch=4, rate=0.05)
        siamese.train(weights, task, Run(), "Training")
        return weights

    torch.manual_seed(1)
    start = siamese.copies(siamese.new_weights(3, 5, 2, CPU), 2)
    long, short = trained([3, 1]), trained([1, 1])
    for longer, shorter, before in zip(long, short, start, strict=True):
        # The second network stopped after its only step; the first went on.
        torch.testing.assert_close(longer[1], shorter[1])
        assert not torch.equal(longer[0], shorter[0])
        assert not torch.equal(shorter[1], before[1])


def test_training_tells_classes_apart() -> None:
    torch.manual_seed(0)
    rows, _, code = rows_of([[20, 20, 20]])
    x = torch.eye(3)[code] + 0.2 * torch.randn(60, 3)
    weights = siamese.new_weights(3, 16, 3, CPU)
    task = PairTask(rows=rows, inputs=lambda at: x[at], steps=[150], batch=32, rate=0.02)
    run = Run()
    siamese.train(weights, task, run, "Training")
    distance = torch.cdist(siamese.embed(weights, x)[0], siamese.embed(weights, x)[0])
    same = code.unsqueeze(1) == code
    assert distance[same].mean() < 0.3
    assert distance[~same].mean() > 0.7
    assert [row["stage"] for row in run.history] == ["Training"] * 3
    assert torch.isfinite(distance).all()


def test_every_row_is_embedded_by_its_owners_network() -> None:
    torch.manual_seed(0)
    x, sizes = torch.randn(9, 3), torch.tensor([5, 0, 1, 3])
    weights = [torch.randn(4, 3, 6), torch.randn(4, 1, 6), torch.randn(4, 6, 2)]
    owner = torch.arange(4).repeat_interleave(sizes)
    one_by_one = torch.cat(
        [
            siamese.embed([table[code : code + 1] for table in weights], row.reshape(1, 1, -1))[0]
            for code, row in zip(owner.tolist(), x, strict=True)
        ]
    )
    for max_rows in (1, 8, 1000):
        embedded = siamese.embed_rows(weights, sizes, lambda rows: x[rows], max_rows)
        torch.testing.assert_close(embedded, one_by_one)
