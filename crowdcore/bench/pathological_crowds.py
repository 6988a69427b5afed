"""Crowds as they go wrong: lures that all see, hard subtypes, schools, copying, spam, odd layouts.

All workers look at the same appearance of an item, so that errors are shared; a crowd can agree
well and still be wrong. Everything is drawn from priors, which no real truth has shaped except
for `VOTE_ACCURACY`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, CrowdData, Floats

VOTE_ACCURACY = (0.85, 0.18)
"""Centre and width of the curve by which crowds are accepted, over the accuracy of their majority
vote: it is then .80 with a spread of .12, as on 26 public sets (.79 and .12)."""

CLASSES = (2, 3, 4, 5, 6, 8, 10, 12)
CLASS_SHARES = (0.42, 0.12, 0.12, 0.12, 0.07, 0.06, 0.05, 0.04)
ITEMS = (90, 2500)
WORKERS = (4, 450)
LABELS_PER_ITEM = (2, 40)
MAX_LABELS = 25_000

ADVERSARIES, COPIERS, FIXED_NUMBER = 0.3, 0.25, 0.5
"""Shares of crowds with adversaries, with copiers, and with as many labels for every item."""

FIDELITY = 0.9
"""How often a copier hands in the answer of the worker they copy."""

MIN_WORKERS_TO_COPY = 8

SPAM_KINDS = ("uniform", "one class", "prevalence", "own mix")


@dataclass(frozen=True, kw_only=True, eq=False)
class PathologicalCrowd:
    """A crowd and what is wrong with it.

    Parameters
    ----------
    data
        The labels, with all truths as gold.
    n_islands
        Into how many parts without common workers it falls.
    n_copiers
        Workers who copy others.
    alike
        The factor on what all see: beyond 2 workers agree, right or wrong.
    """

    data: CrowdData
    n_islands: int
    n_copiers: int
    alike: float


def draw_crowd(rng: np.random.Generator) -> PathologicalCrowd:
    """Draw a crowd whose majority vote is about as accurate as those of real ones.

    Parameters
    ----------
    rng
        Draws everything.

    Returns
    -------
    PathologicalCrowd
        Two or more classes, of which all are known to the crowd.
    """
    centre, spread = VOTE_ACCURACY
    while True:
        crowd = _draw(rng)
        votes, truth = crowd.data.votes, crowd.data.gold
        assert truth is not None
        top = votes == votes.max(1, keepdims=True)
        accuracy = float((top[np.arange(len(truth)), truth] / top.sum(1)).mean())
        plausible = np.exp(-0.5 * ((accuracy - centre) / spread) ** 2)
        if rng.random() < plausible and accuracy > 1 / votes.shape[1]:
            return crowd


def _draw(rng: np.random.Generator) -> PathologicalCrowd:
    n_classes = int(rng.choice(CLASSES, p=CLASS_SHARES))
    n_items = int(_log_uniform(rng, *ITEMS))
    n_workers = int(_log_uniform(rng, *WORKERS))
    mean_labels = min(_log_uniform(rng, *LABELS_PER_ITEM), MAX_LABELS / n_items, n_workers - 1)
    prevalence = rng.dirichlet(np.full(n_classes, _log_uniform(rng, 0.8, 20)))
    truth = rng.choice(n_classes, size=n_items, p=prevalence)
    n_islands = int(rng.choice([1, 2, 3], p=[0.85, 0.1, 0.05])) if n_workers >= 3 * 6 else 1
    item, worker = _assign(rng, n_items, n_workers, max(1.5, mean_labels), n_islands)
    alike = _log_uniform(rng, 0.7, 5)
    look = _appearance(rng, truth, n_classes) * alike
    label = _answer(rng, item, worker, truth, look, prevalence, alike)
    n_copiers = _copy(rng, item, worker, label, n_workers)
    data = CrowdData(
        item=item.astype(np.int32),
        worker=worker.astype(np.int32),
        label=label.astype(np.int32),
        items=_names("i", n_items),
        workers=_names("w", n_workers),
        classes=_names("c", n_classes),
        gold=truth.astype(np.int32),
    )
    return PathologicalCrowd(data=data, n_islands=n_islands, n_copiers=n_copiers, alike=alike)


def _assign(
    rng: np.random.Generator, n_items: int, n_workers: int, mean: float, n_islands: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who labels what: by activity, perhaps page by page, perhaps on islands."""
    activity = rng.uniform(0, 1.6)
    weight = -activity * np.log(np.arange(1, n_workers + 1))
    per_page = int(rng.choice([1, 5, 20], p=[0.6, 0.25, 0.15]))
    n_pages = -(-n_items // per_page)
    wait = rng.permutation(weight) + rng.gumbel(size=(n_pages, n_workers))
    page = rng.permutation(n_items) // per_page
    if n_islands > 1:
        home = rng.integers(n_islands, size=n_workers)
        home[:n_islands] = np.arange(n_islands)
        wait[(np.arange(n_pages) % n_islands)[:, None] != home] = -np.inf
    order = np.argsort(-wait, axis=1)
    n_free = np.isfinite(wait).sum(1)
    if rng.random() < FIXED_NUMBER:  # as many for every item, as far as workers reach
        n_labels = np.full(n_items, round(mean))
    else:
        n_labels = 1 + rng.poisson(mean - 1, size=n_items)
    n_labels = np.minimum(n_labels, n_free[page]).clip(min=1)
    item = np.repeat(np.arange(n_items), n_labels)
    nth = np.arange(len(item)) - np.repeat(np.cumsum(n_labels) - n_labels, n_labels)
    return item, order[page[item], nth]


def _appearance(rng: np.random.Generator, truth: NDArray[np.int64], n_classes: int) -> Floats:
    """What everybody sees: log-odds of the classes of each item [N, K]."""
    n_items = len(truth)
    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes)))
    kind = rng.choice(["plain", "ordinal", "nested"], p=[0.6, 0.25, 0.15])
    nearness = np.ones((n_classes, n_classes))
    if kind == "ordinal":
        nearness = np.exp(1.0 - distance)
    elif kind == "nested":
        group = np.arange(n_classes) // 2
        nearness = np.where(np.equal.outer(group, group), 1.5, 0.5)
    confusion = rng.exponential(rng.uniform(0, 1), size=nearness.shape) * nearness
    np.fill_diagonal(confusion, 0)
    clear = rng.gamma(shape := _log_uniform(rng, 0.8, 6), 1 / shape, size=n_items)
    look = confusion[truth] + rng.normal(scale=rng.uniform(0, 0.8), size=(n_items, n_classes))
    rows = np.arange(n_items)
    look[rows, truth] += clear * rng.uniform(1.5, 5) * np.log2(n_classes) ** 0.5
    # A subtype of a class is taken for another class by all who look.
    n_subtypes = int(rng.integers(1, 5))
    subtype = rng.integers(n_subtypes, size=n_items)
    lure = (np.arange(n_classes)[:, None] + rng.integers(1, n_classes, (n_classes, n_subtypes))) % (
        n_classes
    )
    strength = rng.gamma(0.5, rng.uniform(0, 2.5), size=(n_classes, n_subtypes))
    look[rows, lure[truth, subtype]] += strength[truth, subtype]
    return look


def _answer(  # noqa: PLR0917  (all that a label depends on)
    rng: np.random.Generator,
    item: NDArray[np.int64],
    worker: NDArray[np.int64],
    truth: NDArray[np.int64],
    look: Floats,
    prevalence: Floats,
    alike: float,
) -> NDArray[np.int64]:
    n_workers, (n_items, n_classes) = int(worker.max()) + 1, look.shape
    sharpness = rng.lognormal(0, rng.uniform(0.1, 0.7), size=n_workers)
    own = rng.normal(scale=rng.uniform(0, 0.8), size=(n_workers, n_classes, n_classes))
    n_schools = int(rng.integers(1, 4))
    school = rng.integers(n_schools, size=n_workers)
    taught = rng.normal(scale=rng.uniform(0, 0.7), size=(n_schools, n_classes, n_classes))
    bias = rng.normal(scale=rng.uniform(0, 0.6), size=(n_workers, n_classes))
    has_favourite = rng.random(n_workers) < rng.beta(1, 12)
    bias[np.arange(n_workers), rng.integers(n_classes, size=n_workers)] += 2.5 * has_favourite
    noise = rng.gumbel(size=(len(item), n_classes))
    expert_part = rng.integers(4, size=n_items) == 0
    is_expert = rng.random(n_workers) < rng.beta(1, 6)
    sight = sharpness[worker] * np.where(is_expert[worker] & expert_part[item], 2.0, 1.0)
    scores = sight[:, None] * look[item] + noise
    scores += own[worker, truth[item]] + taught[school[worker], truth[item]] + bias[worker]
    label = scores.argmax(1)
    label = _invert(rng, worker, label, n_workers, n_classes)
    return _spam(rng, worker, label, n_workers, prevalence)


def _invert(
    rng: np.random.Generator,
    worker: NDArray[np.int64],
    label: NDArray[np.int64],
    n_workers: int,
    n_classes: int,
) -> NDArray[np.int64]:
    """Adversaries: they see as others do, and say something else."""
    adversary = rng.random(n_workers) < (rng.beta(1, 20) if rng.random() < ADVERSARIES else 0)
    shift = rng.integers(1, n_classes, size=n_workers)
    return np.where(adversary[worker], (label + shift[worker]) % n_classes, label)


def _spam(
    rng: np.random.Generator,
    worker: NDArray[np.int64],
    label: NDArray[np.int64],
    n_workers: int,
    prevalence: Floats,
) -> NDArray[np.int64]:
    """Slips of everybody, labels of spammers, and some labels of partial spammers."""
    n_classes = len(prevalence)
    share = rng.beta(1, 6)
    kind = rng.choice(SPAM_KINDS, size=n_workers)
    mix = np.full((n_workers, n_classes), 1 / n_classes)
    mix[kind == "one class"] = np.eye(n_classes)[
        rng.integers(n_classes, size=(kind == "one class").sum())
    ]
    mix[kind == "prevalence"] = prevalence
    mix[kind == "own mix"] = rng.dirichlet(np.ones(n_classes), size=(kind == "own mix").sum())
    rate = np.full(n_workers, rng.beta(1, 25))
    spammer, partial = rng.random(n_workers) < share, rng.random(n_workers) < share
    rate[partial] = rng.uniform(0.1, 0.8, size=partial.sum())
    rate[spammer] = 1.0
    bounds = mix.cumsum(1)[worker]
    drawn = (rng.random((len(worker), 1)) > bounds).sum(1).clip(max=n_classes - 1)
    return np.where(rng.random(len(worker)) < rate[worker], drawn, label)


def _copy(
    rng: np.random.Generator,
    item: NDArray[np.int64],
    worker: NDArray[np.int64],
    label: NDArray[np.int64],
    n_workers: int,
) -> int:
    """Let groups hand in one worker's answers, in place; return how many copy."""
    if rng.random() > COPIERS or n_workers < MIN_WORKERS_TO_COPY:
        return 0
    n_copiers = int(rng.integers(1, max(2, n_workers // 5)))
    model = np.full(n_workers, UNKNOWN)
    copiers = rng.choice(n_workers, size=n_copiers, replace=False)
    others = np.setdiff1d(np.arange(n_workers), copiers)
    model[copiers] = rng.choice(others[: max(1, n_copiers // 3)], size=n_copiers)
    code = item * n_workers + worker
    order = np.argsort(code)
    wanted = item * n_workers + model[worker]
    index = np.searchsorted(code[order], wanted).clip(max=len(code) - 1)
    source = order[index]
    copies = (model[worker] >= 0) & (code[source] == wanted) & (rng.random(len(item)) < FIDELITY)
    label[copies] = label[source[copies]]
    return n_copiers


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _names(prefix: str, n: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(n))
