"""Learn, on simulated crowds, how often truths are right that look so sure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdcore.atomic import atomic
from crowdcore.bench.pathological_crowds import draw_crowd
from crowdcore.confidence import constants
from crowdcore.confidence.accuracy import LEVEL, MAX_SCALES, TAIL, crowd_interval
from crowdcore.confidence.features import (
    CROWD_FEATURES,
    ITEM_FEATURES,
    Votes,
    crowd_features,
    item_features,
    log_odds,
)
from crowdcore.confidence.mapping import ANY_METHOD
from crowdcore.data import CrowdData, Floats
from crowdcore.registry import fit
from crowdcore.results.result import Result

POOL = "auto"
SINGLE_METHODS = ("mv", "wawa", "zc", "ibcc")
"""Fitted beside the pool and its members, so that they have maps of their own."""

ITEMS_PER_CROWD = 40
"""Items of each crowd that the map is learnt from, so that all crowds weigh the same."""

MAX_ITEMS = 400
"""Items of each crowd that its numbers are taken from."""

PROTOCOL = (
    "Bias is the mean confidence less the accuracy, coverage how often the 90% interval holds the "
    "accuracy of a crowd, both on {fresh} simulated crowds that had no say in the constants."
)

MODULE = Path(constants.__file__)


@dataclass(frozen=True, kw_only=True, eq=False)
class Observed:
    """One method's truths on one crowd.

    Parameters
    ----------
    features
        What `item_features` returns, of some items.
    right
        Which of their truths are right.
    own
        The method's own confidences of them.
    accuracy, n_items
        The share of all truths that is right, and how many there are.
    """

    features: Floats
    right: Floats
    own: Floats
    accuracy: float
    n_items: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """What methods did on simulated crowds, by their ids."""

    crowds: list[CrowdData]
    observed: dict[str, list[Observed]]


Interval = dict[str, tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What is learnt.

    Parameters
    ----------
    maps
        Intercept and weights of the item features by method.
    intervals
        By method the means and scales of the crowd features, and the rows of three quantiles.
    """

    maps: dict[str, tuple[float, ...]]
    intervals: dict[str, Interval]


@dataclass(frozen=True, kw_only=True)
class MapCheck:
    """How honest the confidences of a method are on crowds that had no say in the map.

    Parameters
    ----------
    method
        Its id.
    own_bias, bias
        Mean confidence less accuracy, of the method itself and mapped.
    coverage, half_width
        How often the interval held the accuracy, and half its mean width.
    """

    method: str
    own_bias: float
    bias: float
    coverage: float
    half_width: float


def simulate_outcomes(
    n_crowds: int, seed: int, on_done: Callable[[str], None] = lambda _: None
) -> Outcomes:
    """Draw crowds and fit the pool, its members and some more methods.

    Parameters
    ----------
    n_crowds, seed
        How many crowds, and from which seed.
    on_done
        Called after each crowd.

    Returns
    -------
    Outcomes
        What the map and the interval are learnt from.
    """
    crowds: list[CrowdData] = []
    observed: dict[str, list[Observed]] = {}
    for number in range(n_crowds):
        rng = np.random.default_rng([seed, number])
        data = draw_crowd(rng).data
        votes, some = Votes.from_data(data), rng.permutation(data.n_items)[:MAX_ITEMS]
        for result in _results(data):
            outcome = _observe(result, votes, some)
            observed.setdefault(result.provenance.method, []).append(outcome)
        crowds.append(data)
        on_done(f"crowd {number + 1}")
    return Outcomes(crowds=crowds, observed=observed)


def _results(data: CrowdData) -> Iterator[Result]:
    pool = fit(data, POOL, device="cpu", calibrate="off")
    yield pool
    yield from pool.members
    yield from (fit(data, name, device="cpu") for name in SINGLE_METHODS)


def _observe(result: Result, votes: Votes, some: np.ndarray) -> Observed:
    assert result.data.gold is not None  # simulated crowds have it
    right = (result.truth == result.data.gold).astype(np.float64)
    return Observed(
        features=item_features(result, votes, result.confidence)[some],
        right=right[some],
        own=result.confidence[some],
        accuracy=float(right.mean()),
        n_items=len(right),
    )


def learn(outcomes: Outcomes) -> Constants:
    """Fit the map and the interval of every method, and of methods that have none.

    Parameters
    ----------
    outcomes
        What methods did on simulated crowds.

    Returns
    -------
    Constants
        By the id of the method, and for methods that have none.
    """
    groups = {method: [(method, each) for each in seen] for method, seen in _seen(outcomes)}
    singles = [pair for method, pairs in groups.items() if method != POOL for pair in pairs]
    maps, intervals = {}, {}
    for method, pairs in [*groups.items(), (ANY_METHOD, singles)]:
        seen = [each for _, each in pairs]
        maps[method] = _fit_map(seen)
        crowds = outcomes.crowds * (len(seen) // len(outcomes.crowds))
        intervals[method] = _fit_interval(seen, crowds, maps[method])
    return Constants(maps=maps, intervals=intervals)


def _seen(outcomes: Outcomes) -> list[tuple[str, list[Observed]]]:
    return sorted(outcomes.observed.items())


def _fit_map(seen: Sequence[Observed]) -> tuple[float, ...]:
    from sklearn.linear_model import LogisticRegression

    features = np.concatenate([each.features[:ITEMS_PER_CROWD] for each in seen])
    right = np.concatenate([each.right[:ITEMS_PER_CROWD] for each in seen])
    model = LogisticRegression(C=100.0, max_iter=1000).fit(features, right)
    return tuple(np.round([*model.intercept_, *model.coef_[0]], 3).tolist())


def _mapped(features: Floats, weights: Sequence[float]) -> Floats:
    return np.asarray(1 / (1 + np.exp(-(weights[0] + features @ np.array(weights[1:])))))


def _crowd_rows(
    seen: Sequence[Observed], crowds: Sequence[CrowdData], weights: Sequence[float]
) -> Floats:
    """The crowd features [C, 8], with the mean and spread of the confidences of some items."""
    rows, votes = [], {}
    for each, data in zip(seen, crowds, strict=True):
        if id(data) not in votes:
            votes[id(data)] = Votes.from_data(data)
        sure = _mapped(each.features, weights)
        # Some of the items stand for all of them.
        spread_out = np.resize(sure, data.n_items)
        rows.append(crowd_features(data, votes[id(data)], spread_out))
    return np.array(rows)


def _fit_interval(
    seen: Sequence[Observed], crowds: Sequence[CrowdData], weights: Sequence[float]
) -> Interval:
    from sklearn.linear_model import QuantileRegressor

    rows = _crowd_rows(seen, crowds, weights)
    means, scales = np.round(rows.mean(0), 3), np.round(rows.std(0), 3)
    scaled = np.clip((rows - means) / scales, -MAX_SCALES, MAX_SCALES)
    right = np.array([each.accuracy * each.n_items for each in seen])
    logit = log_odds((right + 0.5) / (np.array([each.n_items for each in seen]) + 1))
    fitted: Interval = {"means": tuple(means.tolist()), "scales": tuple(scales.tolist())}
    for name, quantile in (("low", TAIL), ("middle", 0.5), ("high", 1 - TAIL)):
        model = QuantileRegressor(quantile=quantile, alpha=0.0).fit(scaled, logit)
        fitted[name] = tuple(np.round([model.intercept_, *model.coef_], 3).tolist())
    return fitted


def check(
    learnt: Constants, n_crowds: int, seed: int, on_done: Callable[[str], None] = lambda _: None
) -> list[MapCheck]:
    """Compare constants with fresh simulated crowds.

    Parameters
    ----------
    learnt
        The constants.
    n_crowds, seed
        How many crowds, and from which seed.
    on_done
        Called after each crowd.

    Returns
    -------
    list of MapCheck
        One per method.
    """
    outcomes, checks = simulate_outcomes(n_crowds, seed, on_done), []
    for method, seen in _seen(outcomes):
        weights = learnt.maps[method]
        rows = _crowd_rows(seen, outcomes.crowds, weights)
        limits = np.array([crowd_interval(row, learnt.intervals[method]) for row in rows])
        accuracy = np.array([each.accuracy for each in seen])
        checks.append(
            MapCheck(
                method=method,
                own_bias=float(np.mean([each.own.mean() - each.right.mean() for each in seen])),
                bias=float(
                    np.mean(
                        [
                            _mapped(each.features, weights).mean() - each.right.mean()
                            for each in seen
                        ]
                    )
                ),
                coverage=float(((limits[:, 0] <= accuracy) & (accuracy <= limits[:, 1])).mean()),
                half_width=float(np.diff(limits, axis=1).mean() / 2),
            )
        )
    return checks


def write_module(learnt: Constants, *, n_crowds: int, seed: int, path: Path = MODULE) -> None:
    """Write the constants as a module.

    Parameters
    ----------
    learnt
        What `learn` returns.
    n_crowds, seed
        What they were learnt on.
    path
        Where; the module of this installation by default.
    """
    lines = [
        f'"""Written by `crowdcore bench confidence --crowds {n_crowds} --seed {seed} --write`."""',
        "",
        "MAPS: dict[str, tuple[float, ...]] = {",
        *(f'    "{method}": {_numbers(values)},' for method, values in learnt.maps.items()),
        "}",
        '"""Intercept and weights by method:',
        f"{', '.join(ITEM_FEATURES[:4])},",
        f'{", ".join(ITEM_FEATURES[4:])}."""',
        "",
        "INTERVALS: dict[str, dict[str, tuple[float, ...]]] = {",
    ]
    for method, rows in learnt.intervals.items():
        lines.append(f'    "{method}": {{')
        lines += [f'        "{name}": {_numbers(values)},' for name, values in rows.items()]
        lines.append("    },")
    lines += [
        "}",
        '"""Means and scales of numbers of a crowd, and rows (intercept first) of the quantiles of',
        f"the logit of the accuracy that hold {LEVEL:.0%} of the crowds:",
        f"{', '.join(CROWD_FEATURES[:4])},",
        f'{", ".join(CROWD_FEATURES[4:])}."""',
        "",
    ]
    with atomic(path) as scratch:
        scratch.write_text("\n".join(lines), encoding="utf-8")


def _numbers(values: Sequence[float]) -> str:
    return f"({', '.join(str(round(value, 3)) for value in values)})"
