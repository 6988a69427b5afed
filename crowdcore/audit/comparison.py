"""Two results side by side: truths, verdicts and settings that differ, and which is better on gold.

It works on the tables that runs are stored as, so results of different data versions, methods and
kinds compare as long as they share items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from crowdcore.data import DataError

SIDES = ("before", "after")
"""How columns end that both results have."""

MIN_LABELS_PER_ITEM = 2
"""An item with fewer labels is thin: nobody can contradict them."""

MIN_CHANGE = 1e-3
"""How far a number must move to count as changed, as a share of the largest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RunTables:
    """What a comparison needs of one run.

    Parameters
    ----------
    truths, workers
        The tables of `Result.truths` and `Result.workers`.
    facts
        The provenance, with the names of excluded workers under `excluded`.
    gold
        The known answers by item, such as the column of a data set; None where there are none.
    """

    truths: pd.DataFrame
    workers: pd.DataFrame
    facts: Mapping[str, Any]
    gold: pd.Series[Any] | None = None


@dataclass(frozen=True, kw_only=True)
class PairedAccuracy:
    """How two results do on the same gold items.

    Parameters
    ----------
    n
        Items with gold that both results have a truth for.
    n_before, n_after
        How many of them each has right.
    gained, lost
        How many only the later, and only the earlier result has right.
    p_value
        How likely so uneven a split is if both are equally good: the exact two-sided sign test on
        `gained` and `lost` (McNemar's test).
    """

    n: int
    n_before: int
    n_after: int
    gained: int
    lost: int
    p_value: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What differs between an earlier and a later result.

    Parameters
    ----------
    n_items
        Items that both results have.
    items
        Those whose truth differs: item, truth_before, truth_after, confidence_before,
        confidence_after, labels_before, labels_after; the surest change first.
    workers
        Workers whose verdict differs: worker, verdict_before, verdict_after, accuracy_before,
        accuracy_after.
    settings
        What was run differently: name, before, after.
    only_before, only_after
        How many items only one of them has.
    labels_before, labels_after
        How many labels took part.
    thin
        Items that the later result has with fewer than `MIN_LABELS_PER_ITEM` labels, and the
        earlier one did not.
    confidence_before, confidence_after
        The mean over the items that both have; None where a kind has none.
    accuracy
        The comparison on gold; None where there is none.
    no_accuracy
        Why there is none, in a sentence.
    """

    n_items: int
    items: pd.DataFrame
    workers: pd.DataFrame
    settings: list[tuple[str, str, str]]
    only_before: int
    only_after: int
    labels_before: int
    labels_after: int
    thin: list[str] = field(default_factory=list)
    confidence_before: float | None = None
    confidence_after: float | None = None
    accuracy: PairedAccuracy | None = None
    no_accuracy: str = ""


def compare(before: RunTables, after: RunTables) -> Comparison:
    """Set two results side by side.

    Parameters
    ----------
    before, after
        The earlier and the later result.

    Returns
    -------
    Comparison
        What differs.

    Raises
    ------
    DataError
        If the results share no item.
    """
    columns = [name for name in ("truth", "confidence", "n_labels") if name in before.truths]
    left = before.truths.set_index("item")[columns]
    right = after.truths.set_index("item")[columns]
    both = _beside(left, right)
    if both.empty:
        raise DataError("The two runs have no item in common", fix="Choose runs on the same data.")
    both = both.rename(columns={f"n_labels_{side}": f"labels_{side}" for side in SIDES})
    order = [f"{name}_{side}" for name in ("truth", "confidence", "labels") for side in SIDES]
    both = both[[name for name in order if name in both]]
    differs = _differs(both["truth_before"], both["truth_after"])
    changed = both[differs].reset_index()
    if "confidence_after" in changed:
        changed = changed.sort_values("confidence_after", ascending=False, kind="stable")
    is_thin = (both["labels_after"] < MIN_LABELS_PER_ITEM) & (
        both["labels_before"] >= MIN_LABELS_PER_ITEM
    )
    accuracy, reason = _paired_accuracy(both, before, after)
    has_confidence = "confidence_after" in both
    return Comparison(
        n_items=len(both),
        items=changed.reset_index(drop=True),
        workers=_changed_verdicts(before, after),
        settings=_settings(before.facts, after.facts),
        only_before=len(left) - len(both),
        only_after=len(right) - len(both),
        labels_before=int(left["n_labels"].sum()),
        labels_after=int(right["n_labels"].sum()),
        thin=[str(name) for name in both.index[is_thin]],
        confidence_before=float(both["confidence_before"].mean()) if has_confidence else None,
        confidence_after=float(both["confidence_after"].mean()) if has_confidence else None,
        accuracy=accuracy,
        no_accuracy=reason,
    )


def _beside(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Join tables by their index; the names of columns say which is which."""
    return before.add_suffix("_before").join(after.add_suffix("_after"), how="inner")


def _differs(before: pd.Series[Any], after: pd.Series[Any]) -> pd.Series[bool]:
    """Whether two truths differ; numbers as they would be printed."""
    if _are_numbers(before) and _are_numbers(after):
        scale = float(np.nanmax(np.abs(np.concatenate([before, after])), initial=1e-12))
        same = np.isclose(before, after, rtol=0, atol=MIN_CHANGE * scale, equal_nan=True)
        return pd.Series(~same, index=before.index)
    return before.astype("object") != after.astype("object")


def _are_numbers(values: pd.Series[Any]) -> bool:
    return pd.api.types.is_float_dtype(values.dtype)


def _changed_verdicts(before: RunTables, after: RunTables) -> pd.DataFrame:
    """Workers whose verdict differs; nothing can be said of those whom a run leaves out."""
    out = {*before.facts.get("excluded", ()), *after.facts.get("excluded", ())}
    tables = [side.workers[~side.workers["worker"].isin(out)] for side in (before, after)]
    columns = [name for name in ("verdict", "accuracy") if all(name in table for table in tables)]
    both = _beside(*(table.set_index("worker")[columns] for table in tables))
    both = both[[f"{name}_{side}" for name in columns for side in SIDES]]
    verdicts = both[["verdict_before", "verdict_after"]].astype("object")
    differs = verdicts["verdict_before"] != verdicts["verdict_after"]
    return both[differs].reset_index()


def _settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What was run differently, each as texts."""
    rows = [("method", before["title"], after["title"])]
    names = [*before["params"], *(name for name in after["params"] if name not in before["params"])]
    rows += [
        (name, before["params"].get(name, "–"), after["params"].get(name, "–")) for name in names
    ]
    rows += [(name, before[name], after[name]) for name in ("seed", "device", "version")]
    asked = [(facts.get("excluded"), facts.get("decisions")) for facts in (before, after)]
    if asked[0] == asked[1]:  # else the data differ by that alone
        rows.append(("data", before["data"][:12], after["data"][:12]))
    excluded = [", ".join(facts.get("excluded", ())) or "nobody" for facts in (before, after)]
    rows.append(("left out", excluded[0], excluded[1]))
    completed = [(facts.get("completion") or {}).get("title", "–") for facts in (before, after)]
    rows.append(("labels filled in by", completed[0], completed[1]))
    return [(name, str(earlier), str(later)) for name, earlier, later in rows if earlier != later]


def _paired_accuracy(
    both: pd.DataFrame, before: RunTables, after: RunTables
) -> tuple[PairedAccuracy | None, str]:
    """Compare on gold that neither result has seen; else say why not."""
    if before.gold is None and after.gold is None:
        return None, "There is no gold to tell which of them is better."
    if before.facts["used_gold"] or after.facts["used_gold"]:
        return None, "A method that was given the gold cannot be scored by it."
    gold = after.gold if after.gold is not None else before.gold
    known = gold.reindex(both.index) if gold is not None else None
    if known is None or _are_numbers(known):
        return None, "Numbers are not right or wrong; see the scores of each run."
    has_gold = known.notna() & (known.astype("object") != "")
    n = int(has_gold.sum())
    if n == 0:
        return None, "No item that both have has gold."
    answers = known[has_gold].astype("object")
    hits = [both.loc[has_gold, f"truth_{side}"].astype("object") == answers for side in SIDES]
    gained, lost = int((~hits[0] & hits[1]).sum()), int((hits[0] & ~hits[1]).sum())
    return (
        PairedAccuracy(
            n=n,
            n_before=int(hits[0].sum()),
            n_after=int(hits[1].sum()),
            gained=gained,
            lost=lost,
            p_value=_sign_test(gained, lost),
        ),
        "",
    )


def _sign_test(gained: int, lost: int) -> float:
    from scipy.stats import binomtest

    n = gained + lost
    return 1.0 if n == 0 else float(binomtest(gained, n, 0.5).pvalue)
