"""Workers who labelled one item twice: exact duplicates and contradictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats
from crowdcore.io.cleaning import Cleaning
from crowdcore.io.health import Finding, check
from crowdcore.io.table import Table
from crowdcore.io.triples import Triples

_POLICIES = {
    "all": "",
    "first": "The first answer was kept.",
    "last": "The last answer was kept.",
    "drop": "All answers of such pairs were left out.",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Repeats:
    """The labels whose worker labelled the item more than once; pair by pair, then in order."""

    at: NDArray[np.int64]  # [R] which label
    starts: NDArray[np.int64]  # [P] where each pair begins
    again: NDArray[np.bool_]  # [R] the same label of the same pair was there before
    contradicts: NDArray[np.bool_]  # [R] the pair has several labels

    @property
    def last(self) -> NDArray[np.bool_]:
        """The last label of each pair."""
        return np.roll(self.first, -1)

    @property
    def first(self) -> NDArray[np.bool_]:
        """The first label of each pair."""
        mask = np.zeros(len(self.at), bool)
        mask[self.starts] = True
        return mask


def settle_repeats(
    table: Table, triples: Triples, cleaning: Cleaning, time: Floats | None = None
) -> tuple[Triples, list[Finding]]:
    """Apply the policies for duplicates and contradictions; `time` [rows] says what came last."""
    repeats = _find(triples, time)
    keep = np.ones(len(triples.row), bool)
    if repeats is not None:
        drop = np.zeros(len(repeats.at), bool)
        if cleaning.exact_duplicates == "drop":
            drop |= _copies(repeats, cleaning)
        if cleaning.contradictions == "drop":
            drop |= repeats.contradicts
        elif cleaning.contradictions in ("first", "last"):
            chosen = repeats.first if cleaning.contradictions == "first" else repeats.last
            drop |= repeats.contradicts & ~chosen
        keep[repeats.at[drop]] = False
    findings = [
        _duplicates(table, triples, repeats, cleaning),
        _contradictions(table, triples, repeats, cleaning, by_time=time is not None),
    ]
    return triples.only(keep), findings


def _find(triples: Triples, time: Floats | None) -> _Repeats | None:
    key = triples.item.astype(np.int64) * len(triples.workers) + triples.worker
    ordered = np.sort(key)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    if not len(twice):
        return None
    place = np.searchsorted(twice, key)
    place[place == len(twice)] = 0
    at = np.flatnonzero(twice[place] == key)
    pair, label, row = place[at], triples.label[at], triples.row[at]
    # lexsort is stable, so labels of one time stay in the order of the file.
    when = row if time is None else np.nan_to_num(time[row], nan=-np.inf)
    order = np.lexsort((when, pair))
    at, pair, label = at[order], pair[order], label[order]
    starts = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]])
    triple = pair * len(triples.labels) + label
    first_of = np.unique(triple, return_index=True)[1]
    again = np.ones(len(at), bool)
    again[first_of] = False
    several = np.logical_or.reduceat(label != np.repeat(label[starts], _sizes(starts, at)), starts)
    contradicts = np.repeat(several, _sizes(starts, at))
    return _Repeats(at=at, starts=starts, again=again, contradicts=contradicts)


def _sizes(starts: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(np.diff(np.r_[starts, len(at)]))


def _copies(repeats: _Repeats, cleaning: Cleaning) -> NDArray[np.bool_]:
    """Exact duplicates; where a pair contradicts itself its own policy decides."""
    return repeats.again & (~repeats.contradicts | (cleaning.contradictions == "all"))


def _duplicates(
    table: Table, triples: Triples, repeats: _Repeats | None, cleaning: Cleaning
) -> Finding:
    which = np.empty(0, np.int64)
    if repeats is not None:
        which = np.sort(repeats.at[_copies(repeats, cleaning)])
    drop = cleaning.exact_duplicates == "drop"
    return check(
        "exact_duplicates",
        "Labels that are there twice",
        len(which),
        examples=(
            f"{table.place(triples.row[at])}: {_spell(triples, at)}" for at in which[:5].tolist()
        ),
        done="Each was kept once." if drop else "",
        fix="Keep every copy." if drop else "Keep each once.",
        option={"exact_duplicates": "keep" if drop else "drop"},
    )


def _spell(triples: Triples, at: int) -> str:
    return (
        f"worker {triples.workers[triples.worker[at]]!r} said "
        f"{triples.labels[triples.label[at]]!r} of item {triples.items[triples.item[at]]!r}"
    )


def _contradictions(
    table: Table,
    triples: Triples,
    repeats: _Repeats | None,
    cleaning: Cleaning,
    *,
    by_time: bool,
) -> Finding:
    pairs: list[NDArray[np.int64]] = []
    count = 0
    if repeats is not None:
        clashing = repeats.contradicts[repeats.starts]
        count = int(clashing.sum())
        ends = np.r_[repeats.starts[1:], len(repeats.at)]
        spans = zip(repeats.starts[clashing][:5], ends[clashing][:5], strict=True)
        pairs = [repeats.at[start:end] for start, end in spans]
    policy = cleaning.contradictions
    order = " by time" if by_time else " in the file"
    done = _POLICIES[policy].replace(" was kept", f"{order} was kept")
    return check(
        "contradictions",
        "Workers who gave one item several labels",
        count,
        severity="warning",
        examples=(_contradiction(table, triples, pair) for pair in pairs),
        done=done,
        fix="Keep the last of them, or choose: all or the first."
        if policy == "drop"
        else "Leave all of them out, or choose which to keep: all, the first or the last.",
        option={"contradictions": "drop" if policy != "drop" else "last"},
    )


def _contradiction(table: Table, triples: Triples, pair: NDArray[np.int64]) -> str:
    said = ", ".join(
        f"{triples.labels[triples.label[at]]!r} ({table.place(triples.row[at])})"
        for at in pair[:4].tolist()
    )
    worker, item = triples.workers[triples.worker[pair[0]]], triples.items[triples.item[pair[0]]]
    return f"worker {worker!r} said {said} of item {item!r}"
