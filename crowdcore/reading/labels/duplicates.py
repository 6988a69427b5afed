"""Workers who labelled one item twice: exact duplicates and contradictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.reading.findings import MAX_EXAMPLES, Finding, make_finding
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.coded_labels import CodedLabels
from crowdcore.reading.parsing.table import Table

_MAX_LABELS_PER_EXAMPLE = 4
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
    is_copy: NDArray[np.bool_]  # [R] the same label of the same pair was there before
    contradicts: NDArray[np.bool_]  # [R] the pair has several labels

    @property
    def is_last(self) -> NDArray[np.bool_]:
        """Whether it is the last label of its pair."""
        return np.roll(self.is_first, -1)

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """Whether it is the first label of its pair."""
        mask = np.zeros(len(self.at), bool)
        mask[self.starts] = True
        return mask


def settle_repeats(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Apply the policies for duplicates and contradictions.

    Parameters
    ----------
    table
        The table that the labels come from.
    labels
        The labels; their time, where there is one, says which came last.
    cleaning
        The policies.

    Returns
    -------
    CodedLabels
        What is left.
    list of Finding
        What was found and done.
    """
    repeats = _find(labels)
    dropped = np.zeros(len(repeats.at), bool)
    # Where a pair contradicts itself, the policy for contradictions decides.
    copies = repeats.is_copy & (~repeats.contradicts | (cleaning.contradictions == "all"))
    if cleaning.contradictions == "drop":
        dropped = repeats.contradicts
    elif cleaning.contradictions in ("first", "last"):
        kept = repeats.is_first if cleaning.contradictions == "first" else repeats.is_last
        dropped = repeats.contradicts & ~kept
    findings = [
        _duplicates(table, labels, np.sort(repeats.at[copies]), cleaning),
        _contradictions(table, labels, repeats, cleaning, n_dropped=int(dropped.sum())),
    ]
    if cleaning.exact_duplicates == "drop":
        dropped = dropped | copies
    keep = np.ones(len(labels.row), bool)
    keep[repeats.at[dropped]] = False
    return labels.only(keep), findings


def _find(labels: CodedLabels) -> _Repeats:
    key = labels.item.astype(np.int64) * len(labels.workers) + labels.worker
    ordered = np.sort(key)
    repeated_keys = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    if not len(repeated_keys):
        none, no_flags = np.empty(0, np.int64), np.empty(0, bool)
        return _Repeats(at=none, starts=none, is_copy=no_flags, contradicts=no_flags)
    slot = np.searchsorted(repeated_keys, key)
    slot[slot == len(repeated_keys)] = 0
    at = np.flatnonzero(repeated_keys[slot] == key)
    pair, label = slot[at], labels.label[at]
    # lexsort is stable, so labels of one time stay in the order of the file.
    when = labels.row[at] if labels.time is None else np.nan_to_num(labels.time[at], nan=-np.inf)
    order = np.lexsort((when, pair))
    at, pair, label = at[order], pair[order], label[order]
    starts = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]])
    sizes = np.diff(np.r_[starts, len(at)])
    pair_and_label = pair * len(labels.classes) + label
    is_copy = np.ones(len(at), bool)
    is_copy[np.unique(pair_and_label, return_index=True)[1]] = False
    several = np.logical_or.reduceat(label != np.repeat(label[starts], sizes), starts)
    return _Repeats(at=at, starts=starts, is_copy=is_copy, contradicts=np.repeat(several, sizes))


def _duplicates(
    table: Table, labels: CodedLabels, copies: NDArray[np.int64], cleaning: Cleaning
) -> Finding:
    drop = cleaning.exact_duplicates == "drop"
    return make_finding(
        "exact_duplicates",
        len(copies),
        examples=(
            f"{table.locate(labels.row[at])}: worker {labels.workers[labels.worker[at]]!r} said "
            f"{labels.classes[labels.label[at]]!r} of item {labels.items[labels.item[at]]!r}"
            for at in copies[:MAX_EXAMPLES].tolist()
        ),
        done="Each was kept once." if drop else "",
        fix=None if drop else "Keep each once.",
        option={"exact_duplicates": "keep" if drop else "drop"},
        left_out=len(copies) if drop else 0,
    )


def _contradictions(
    table: Table, labels: CodedLabels, repeats: _Repeats, cleaning: Cleaning, *, n_dropped: int
) -> Finding:
    clashing = repeats.contradicts[repeats.starts]
    ends = np.r_[repeats.starts[1:], len(repeats.at)]
    spans = zip(repeats.starts[clashing][:MAX_EXAMPLES], ends[clashing][:MAX_EXAMPLES], strict=True)
    policy = cleaning.contradictions
    order = " in the file" if labels.time is None else " by time"
    return make_finding(
        "contradictions",
        int(clashing.sum()),
        severity="warning",
        examples=(_contradiction(table, labels, repeats.at[start:end]) for start, end in spans),
        done=_POLICIES[policy].replace(" was kept", f"{order} was kept"),
        fix="Keep the last of them, or choose: all or the first." if policy == "drop" else None,
        option={"contradictions": "drop" if policy != "drop" else "last"},
        left_out=n_dropped,
    )


def _contradiction(table: Table, labels: CodedLabels, pair: NDArray[np.int64]) -> str:
    answers = ", ".join(
        f"{labels.classes[labels.label[at]]!r} ({table.locate(labels.row[at])})"
        for at in pair[:_MAX_LABELS_PER_EXAMPLE].tolist()
    )
    worker, item = labels.workers[labels.worker[pair[0]]], labels.items[labels.item[pair[0]]]
    return f"worker {worker!r} said {answers} of item {item!r}"
