"""What a manager asks of a worker: how good, how sure, and on what evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from crowdcore.data import UNKNOWN, Codes, CrowdData, Floats
from crowdcore.result import TIE, Result, wilson

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["good", "weak", "biased", "random", "one answer", "inverted", "not enough data"]

FEWEST = 5
"""Labels that can be compared with others', below which nothing is said of a worker."""

ONE_ANSWER = 0.95
"""A worker who gives one class this often may not be looking."""

BEHIND = 0.10
"""How far below the crowd's accuracy a worker is called weak."""

BELOW_CHANCE = 0.9
"""The share of blind luck below which a worker is called inverted; many labels alone do not do."""

PATTERN = 0.15
"""How much better than evenly spread errors a biased worker's errors can be undone."""


def worker_confusion(result: Result) -> Floats:
    """P(given | true) of each worker [W, true, given]: the method's, else from the posterior."""
    if result.confusion is not None:
        return result.confusion
    return crowd_shrunk(given_counts(result))


def crowd_shrunk(counts: Floats) -> Floats:
    """Confusion from counts [W, true, given], each row drawn to the crowd's by one label."""
    crowd = counts.sum(0) + np.eye(counts.shape[-1])
    crowd /= crowd.sum(1, keepdims=True)
    confusion: Floats = (counts + crowd) / (counts.sum(2, keepdims=True) + 1)
    return confusion


def spammer_score(confusion: Floats, noise: Floats | float = 0.0) -> Floats:
    """Raykar and Yu's score [W]: 0 if answers do not depend on the truth, 1 if they follow it.

    `noise` [W, K, K] is the variance of each entry; it would pass for skill and is taken off.
    """
    n_classes = confusion.shape[-1]
    if n_classes == 1:
        return np.full(len(confusion), np.nan)
    apart = (confusion - confusion.mean(1, keepdims=True)) ** 2
    excess = apart - (1 - 1 / n_classes) * noise
    score: Floats = np.clip(excess.sum((1, 2)) / (n_classes - 1), 0, 1)
    return score


def cost_quality(confusion: Floats, prior: Floats) -> Floats:
    """Score by Ipeirotis, Provost and Wang [W]: 1 - cost / a spammer's cost, after undoing bias.

    Undefined (NaN) where the truths have a single class: a spammer then costs nothing.
    """
    spam = 1 - float((prior**2).sum())
    if spam < TIE:
        return np.full(len(confusion), np.nan)
    joint = confusion * prior[:, None]  # [W, true, given]
    given = joint.sum(1, keepdims=True)
    soft = np.divide(joint, given, out=np.zeros_like(joint), where=given > 0)
    cost = (given[:, 0] * (1 - (soft**2).sum(1))).sum(1)
    quality: Floats = np.clip(1 - cost / spam, 0, 1)
    return quality


def worker_table(result: Result) -> pd.DataFrame:
    """One row a worker, in the order of the codes."""
    import pandas as pd

    data = result.data
    hits, n = _comparable_hits(result)
    accuracy = _shares_of(hits, n)
    shares = _given_shares(data)
    low, high = wilson(hits, n)
    counts = given_counts(result)
    matrix, noise = _cautious_confusion(counts, shares)
    prior = _truth_shares(result)
    gold_hits, gold_n = _gold_hits(data)
    frame = pd.DataFrame(
        {
            "worker": list(data.workers),
            "n_labels": data.labels_per_worker,
            "n_compared": n.astype(np.int64),
            "accuracy": accuracy,
            "accuracy_low": low,
            "accuracy_high": high,
            "agreement": _agreement(data),
            "spammer_score": spammer_score(matrix, noise),
            "cost_quality": cost_quality(matrix, prior),
            "gold_n": gold_n.astype(np.int64),
            "gold_accuracy": _shares_of(gold_hits, gold_n),
        }
    )
    frame["verdict"], frame["evidence"] = _verdicts(
        frame, shares, _shares_seen(counts), prior, data.classes
    )
    for name, values in result.worker_scores.items():
        frame[name] = values
    given = pd.DataFrame(shares, columns=[f"given:{name}" for name in data.classes])
    return pd.concat([frame, given], axis=1)


def given_counts(result: Result) -> Floats:
    """Soft counts [W, true, given] under the posterior."""
    data, posterior = result.data, result.posterior
    key = data.worker.astype(np.int64) * data.n_classes + data.label
    size = data.n_workers * data.n_classes
    counts = np.empty((data.n_classes, size))
    for k in range(data.n_classes):
        counts[k] = np.bincount(key, weights=posterior[data.item, k], minlength=size)
    return counts.reshape(-1, data.n_workers, data.n_classes).transpose(1, 0, 2)


def _cautious_confusion(counts: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Confusion drawn towards "answers regardless of the truth" by one label, and its variance."""
    total = counts.sum(2, keepdims=True)
    prior = np.nan_to_num(shares, nan=1 / counts.shape[-1])[:, None, :]
    confusion = (counts + prior) / (total + 1)
    return confusion, confusion * (1 - confusion) * total / (total + 1) ** 2


def _comparable_hits(result: Result) -> tuple[Floats, Floats]:
    """Labels that equal the truth, and how many could: not those on items nobody else labelled.

    Where classes are tied a hit on one of them counts in equal parts.
    """
    data = result.data
    best = result.posterior >= result.posterior.max(1, keepdims=True) - TIE
    parts = best / best.sum(1, keepdims=True)
    usable = (data.labels_per_item[data.item] > 1) & (result.truth[data.item] != UNKNOWN)
    worker = data.worker[usable]
    hit = parts[data.item[usable], data.label[usable]]
    return _sums(worker, hit, data.n_workers), _sums(worker, np.ones(len(worker)), data.n_workers)


def _gold_hits(data: CrowdData) -> tuple[Floats, Floats]:
    known = data.has_gold[data.item]
    worker = data.worker[known]
    gold = np.zeros(0) if data.gold is None else data.gold[data.item[known]]
    right = (data.label[known] == gold).astype(np.float64)
    return _sums(worker, right, data.n_workers), _sums(worker, np.ones(len(worker)), data.n_workers)


def _agreement(data: CrowdData) -> Floats:
    """Mean share of an item's other labels that equal the worker's; NaN where nobody else was."""
    others = data.labels_per_item[data.item] - 1
    shared = others > 0
    item, label, worker = data.item[shared], data.label[shared], data.worker[shared]
    same: Floats = (data.votes[item, label] - 1) / others[shared]
    total = _sums(worker, same, data.n_workers)
    return _shares_of(total, _sums(worker, np.ones(len(worker)), data.n_workers))


def _sums(worker: Codes, values: Floats, n_workers: int) -> Floats:
    """Add values [labels] up by worker [W]."""
    sums: Floats = np.bincount(worker, weights=values, minlength=n_workers).astype(np.float64)
    return sums


def _shares_of(part: Floats, whole: Floats) -> Floats:
    """Divide, with NaN where there is nothing to divide."""
    shares: Floats = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return shares


def _given_shares(data: CrowdData) -> Floats:
    """What part of each worker's labels is each class [W, K]; NaN for a worker without labels."""
    key = data.worker.astype(np.int64) * data.n_classes + data.label
    counts = np.bincount(key, minlength=data.n_workers * data.n_classes)
    with np.errstate(invalid="ignore"):
        shares: Floats = counts.reshape(-1, data.n_classes) / data.labels_per_worker[:, None]
    return shares


def _truth_shares(result: Result) -> Floats:
    labelled = result.data.labels_per_item > 0
    shares: Floats = result.posterior[labelled].mean(0)
    return shares


def _shares_seen(counts: Floats) -> Floats:
    """How common each class [W, K] is among the items that a worker labelled; 0 without labels."""
    of_class = counts.sum(2)
    total = of_class.sum(1, keepdims=True)
    shares: Floats = np.divide(of_class, total, out=np.zeros_like(of_class), where=total > 0)
    return shares


def _verdicts(
    frame: pd.DataFrame, shares: Floats, seen: Floats, prior: Floats, classes: tuple[str, ...]
) -> tuple[list[Verdict], list[str]]:
    n, accuracy = frame["n_compared"].to_numpy(), frame["accuracy"].to_numpy()
    low, high = frame["accuracy_low"].to_numpy(), frame["accuracy_high"].to_numpy()
    filled = np.nan_to_num(shares)
    chance = filled @ prior  # agreement of answers like these with truths they never saw
    crowd = float(np.nansum(accuracy * n) / max(1, n.sum()))
    top = filled.argmax(1)
    share = filled[np.arange(len(filled)), top]
    met = seen[np.arange(len(seen)), top]  # whoever saw only cats is right to say cat
    above = wilson(share * frame["n_labels"].to_numpy(), frame["n_labels"].to_numpy())[0]
    plain = np.nan_to_num(cost_quality(_even_errors(accuracy, len(classes)), prior))
    pattern = np.nan_to_num(frame["cost_quality"].to_numpy()) - plain
    verdicts: list[Verdict] = []
    evidence: list[str] = []
    for w in range(len(frame)):
        rate = f"{accuracy[w]:.0%} ({low[w]:.0%} to {high[w]:.0%}) of {n[w]:,} comparable labels"
        verdict: Verdict
        if n[w] < FEWEST or len(classes) == 1:
            verdict, sentence = "not enough data", f"Only {n[w]} labels can be compared."
            if len(classes) == 1:
                sentence = "There is only one class, so nobody can be wrong."
        elif share[w] >= ONE_ANSWER and above[w] > met[w]:
            verdict = "one answer"
            sentence = (
                f"Gave {classes[top[w]]!r} in {share[w]:.0%} of {frame['n_labels'].iat[w]:,} "
                f"labels, where it is the truth of {met[w]:.0%} of the items they saw."
            )
        elif high[w] < BELOW_CHANCE * chance[w]:
            verdict = "inverted"
            sentence = f"Right in {rate}: less often than the {chance[w]:.0%} of blind answers."
        elif low[w] <= chance[w]:
            known = high[w] < crowd
            verdict = "random" if known else "not enough data"
            sentence = f"Right in {rate}; answering blindly would give {chance[w]:.0%}."
            if not known:
                sentence += f" The interval also holds the crowd's {crowd:.0%}."
        elif high[w] < crowd and accuracy[w] < crowd - BEHIND:
            verdict = "biased" if pattern[w] > PATTERN else "weak"
            sentence = f"Right in {rate}; the crowd as a whole in {crowd:.0%}."
            if verdict == "biased":
                sentence += " The errors follow a pattern that a confusion matrix can undo."
        else:
            verdict = "good"
            sentence = f"Right in {rate}; answering blindly would give {chance[w]:.0%}."
        verdicts.append(verdict)
        evidence.append(sentence)
    return verdicts, evidence


def _even_errors(accuracy: Floats, n_classes: int) -> Floats:
    """Confusion [W, K, K] of workers with these accuracies whose errors have no pattern."""
    right = np.nan_to_num(accuracy)[:, None, None]
    off = (1 - right) / max(1, n_classes - 1)
    return np.where(np.eye(n_classes, dtype=bool), right, off)
