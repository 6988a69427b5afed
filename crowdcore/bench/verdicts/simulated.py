"""Verdicts on simulated crowds, where it is known who is what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.copying import MIN_SHARED
from crowdcore.audit.judging.judgement import judge_crowd
from crowdcore.bench.papers import Table
from crowdcore.bench.verdicts.changes import share_of, stability, time_habits
from crowdcore.bench.verdicts.coverage import coverage
from crowdcore.bench.verdicts.crowds import (
    REPORTING_SEED,
    SIMULATORS,
    KnownCrowd,
    Simulator,
    crowds,
)
from crowdcore.bench.verdicts.rivals import peer_scores, rules_on_truths
from crowdcore.data import UNKNOWN

OnDone = Callable[[str], None]

OTHER_SHARES: dict[str, dict[str, float]] = {
    "none": {},
    "10 %": {"random": 0.05, "one answer": 0.05},
    "45 %": {"random": 0.20, "one answer": 0.20, "adversary": 0.05},
}
"""Shares of bad workers, beside the usual ones."""

SHARED_BINS = ((10, 19), (20, 39), (40, 79), (80, 10_000))
P_BINS = (0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.97, 1.01)
PROTOCOL = (
    "Crowds of 60 workers and 500 items; 2 or 4 classes, 3, 5 or 10 labels per item, easy or hard "
    "items, in turn. Bad are random and one-answer workers and adversaries (20 %); 5 % copy. "
    "Rules were thought out on other seeds."
)


@dataclass
class Tally:
    """One number per worker with five or more comparable labels, over crowds."""

    columns: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    expected_wrong: float = 0.0
    n_accused: int = 0

    def add(self, name: str, values: NDArray[np.generic]) -> None:
        """Append the values of a crowd."""
        self.columns.setdefault(name, []).append(np.asarray(values, np.float64))

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return np.concatenate(self.columns[name])

    def share(self, name: str, among: NDArray[np.bool_]) -> float:
        """The mean of a column over some workers."""
        return float(self[name][among].mean()) if among.any() else float("nan")


def tables(n_crowds: int, on_done: OnDone) -> list[Table]:
    """Measure verdicts on both simulators.

    Parameters
    ----------
    n_crowds
        Crowds of each kind.
    on_done
        Called with a short text after each crowd.

    Returns
    -------
    list of Table
        Accusations, probabilities, shares of bad workers, pairs, coverage, stability, time.
    """
    tallies = {name: _tally(crowds(name, n_crowds), on_done, peers=True) for name in SIMULATORS}
    return [
        _accusations(tallies),
        _at_equal_error(tallies),
        _probabilities(tallies),
        _other_shares(n_crowds, on_done),
        _pairs(n_crowds, on_done),
        _coverage(n_crowds, on_done),
        stability(n_crowds, on_done),
        time_habits(n_crowds, on_done),
    ]


def _tally(known: Iterable[KnownCrowd], on_done: OnDone, *, peers: bool = False) -> Tally:
    tally = Tally()
    for crowd in known:
        judgement = judge_crowd(crowd.data)
        judged = judgement.judged
        character = np.array(crowd.character)
        tally.add("n", judgement.comparison.n_compared[judged])
        tally.add("bad", crowd.is_bad[judged])
        tally.add("lopsided", (character == "lopsided")[judged])
        tally.add("p", judgement.types.bad[judged])
        tally.add("accused", judgement.accused.accused[judged])
        tally.add("biased", judgement.biased.accused[judged])
        tally.expected_wrong += judgement.accused.expected_wrong
        tally.n_accused += judgement.accused.n_accused
        tally.add("former", rules_on_truths(crowd.data).accused[judged])
        if peers:
            for name, scores in peer_scores(crowd.data).items():
                tally.add(name, scores[judged])
        on_done("crowd")
    return tally


def _accusations(tallies: dict[Simulator, Tally]) -> Table:
    rows: list[list[str]] = []
    columns = [(tally, rule) for tally in tallies.values() for rule in ("former", "accused")]

    def add(title: str, value: Callable[[Tally, str], str]) -> None:
        rows.append([title, *(value(tally, rule) for tally, rule in columns)])

    add("honest accused", lambda tally, rule: _percent(tally.share(rule, tally["bad"] == 0)))
    for low, high in ((5, 19), (20, 49), (50, 10_000)):
        title = f"with {low} to {high} labels" if high < 10_000 else f"with {low} or more labels"  # noqa: PLR2004

        add(title, partial(_honest_accused, low=low, high=high))
    add(
        "precision",
        lambda tally, rule: f"{tally.share('bad', tally[rule] == 1):.3f}",
    )
    add(
        "recall, 20 or more labels",
        lambda tally, rule: f"{tally.share(rule, (tally['bad'] == 1) & (tally['n'] >= 20)):.3f}",  # noqa: PLR2004
    )
    add("recall, all", lambda tally, rule: f"{tally.share(rule, tally['bad'] == 1):.3f}")
    add(
        "wrong accusations: expected / found",
        lambda tally, rule: (
            "-"
            if rule == "former"
            else f"{tally.expected_wrong:.1f} / {(tally[rule] * (1 - tally['bad'])).sum():.0f}"
        ),
    )
    add(
        "lopsided called biased, 100 or more labels",
        lambda tally, rule: (
            "-"
            if rule == "former"
            else f"{tally.share('biased', (tally['lopsided'] == 1) & (tally['n'] >= 100)):.3f}"  # noqa: PLR2004
        ),
    )
    add(
        "other honest called biased, 20 or more labels",
        lambda tally, rule: (
            "-"
            if rule == "former"
            else _percent(
                tally.share(
                    "biased",
                    (tally["lopsided"] == 0) & (tally["bad"] == 0) & (tally["n"] >= 20),  # noqa: PLR2004
                )
            )
        ),
    )
    header = [""]
    for name in tallies:
        header += [f"{name}: rules on truths", f"{name}: evidence"]
    return Table(title="Accusations", header=header, rows=rows, notes=[PROTOCOL])


def _honest_accused(tally: Tally, rule: str, *, low: int, high: int) -> str:
    among = (tally["bad"] == 0) & (tally["n"] >= low) & (tally["n"] <= high)
    return _percent(tally.share(rule, among))


def _at_equal_error(tallies: dict[Simulator, Tally]) -> Table:
    rows = []
    for name, tally in tallies.items():
        honest, bad = tally["bad"] == 0, (tally["bad"] == 1) & (tally["n"] >= 20)  # noqa: PLR2004
        for wrong in (tally.share("accused", honest), tally.share("former", honest)):
            row = [name, _percent(wrong)]
            for score in ("p", "MACE", "Raykar and Yu", "agreement with the majority"):
                values = np.nan_to_num(tally[score], nan=-np.inf)
                cut = np.quantile(values[honest], 1 - wrong, method="higher")
                row.append(f"{np.mean(values[bad] > cut):.3f}")
            rows.append(row)
    return Table(
        title="Recall with 20 or more labels, where scores accuse equally many honest workers",
        header=["simulator", "honest accused", "evidence", "MACE", "Raykar and Yu", "majority"],
        rows=rows,
    )


def _probabilities(tallies: dict[Simulator, Tally]) -> Table:
    p = np.concatenate([tally["p"] for tally in tallies.values()])
    bad = np.concatenate([tally["bad"] for tally in tallies.values()])
    rows = []
    for low, high in pairwise(P_BINS):
        inside = (p >= low) & (p < high)
        rows.append(
            [
                f"{low:.2f} to {min(high, 1):.2f}",
                f"{inside.sum():,}",
                f"{p[inside].mean():.3f}" if inside.any() else "-",
                f"{bad[inside].mean():.3f}" if inside.any() else "-",
            ]
        )
    return Table(
        title="What a probability means, both simulators together",
        header=["probability of being bad", "workers", "mean", "really bad"],
        rows=rows,
    )


def _other_shares(n_crowds: int, on_done: OnDone) -> Table:
    rows = []
    for title, shares in OTHER_SHARES.items():
        tally = _tally(
            crowds("product", n_crowds, shares=shares, first_seed=2 * REPORTING_SEED), on_done
        )
        honest, bad = tally["bad"] == 0, (tally["bad"] == 1) & (tally["n"] >= 20)  # noqa: PLR2004
        few = honest & (tally["n"] < 20)  # noqa: PLR2004
        rows.append(
            [
                title,
                *(_percent(tally.share(rule, honest)) for rule in ("former", "accused")),
                *(_percent(tally.share(rule, few)) for rule in ("former", "accused")),
                *(f"{tally.share(rule, bad):.3f}" for rule in ("former", "accused")),
                f"{tally.expected_wrong:.1f} / {(tally['accused'] * (1 - tally['bad'])).sum():.0f}",
            ]
        )
    return Table(
        title="Other shares of bad workers (the product's simulator, nobody copies)",
        header=[
            "bad workers",
            "honest accused: truths",
            "evidence",
            "with 5 to 19 labels: truths",
            "evidence",
            "recall from 20 labels: truths",
            "evidence",
            "wrong: expected / found",
        ],
        rows=rows,
    )


def _pairs(n_crowds: int, on_done: OnDone) -> Table:
    rows = []
    for name in SIMULATORS:
        shared, is_flagged, n_false, n_apart = [], [], 0, 0
        for crowd in crowds(name, n_crowds):
            pairs = judge_crowd(crowd.data).pairs
            flagged, source = pairs.flagged, crowd.copied_from
            first, second = source[pairs.worker], source[pairs.partner]
            copied = (first == pairs.partner) | (second == pairs.worker)
            copied |= (first == second) & (first != UNKNOWN)
            shared.append(pairs.shared[copied])
            is_flagged.append(flagged[copied])
            n_false += int((flagged & ~copied).sum())
            n_apart += int((~copied).sum())
            on_done("pairs")
        items, hit = np.concatenate(shared), np.concatenate(is_flagged)
        row: list[str] = [name]
        for low, high in SHARED_BINS:
            inside = (items >= low) & (items <= high)
            row.append(share_of(hit[inside]))
        many = items >= SHARED_BINS[2][0]
        rows.append([*row, share_of(hit[many]), f"{n_false} of {n_apart:,}"])
    return Table(
        title=f"Pairs of copies that are found ({MIN_SHARED} or more shared items)",
        header=[
            "simulator",
            "10 to 19 shared",
            "20 to 39",
            "40 to 79",
            "80 or more",
            "40 or more",
            "false pairs",
        ],
        rows=rows,
    )


def _coverage(n_crowds: int, on_done: OnDone) -> Table:
    rows = []
    for name in SIMULATORS:
        measured = []
        for number, crowd in enumerate(crowds(name, n_crowds)):
            measured.append(coverage(crowd.data, crowd.truth, former=True, seed=number))
            on_done("coverage")
        former, ours, error, width = (
            np.concatenate([getattr(crowd_coverage, part) for crowd_coverage in measured])
            for part in ("former_holds", "holds", "error", "width")
        )
        rows.append(
            [
                name,
                f"{len(ours):,}",
                _percent(former.mean()),
                _percent(ours.mean()),
                f"{100 * error.mean():+.1f}",
                f"{np.median(width):.2f}",
            ]
        )
    return Table(
        title="Intervals of accuracies on new items, without gold: how often 95 % ones hold",
        header=["simulator", "workers", "rules on truths", "evidence", "bias, points", "width"],
        rows=rows,
    )


def _percent(share: float, digits: int = 2) -> str:
    return f"{100 * share:.{digits}f} %"
