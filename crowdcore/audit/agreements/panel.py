"""How far workers agree, by every measure that suits the kind of labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from crowdcore.audit.agreements.class_counts import ClassLabels
from crowdcore.audit.agreements.coefficient import CLASS_COLUMNS, Coefficient
from crowdcore.audit.agreements.nominal import NominalAgreement, measure_classes
from crowdcore.audit.agreements.sets import measure_sets
from crowdcore.audit.agreements.spans import measure_spans
from crowdcore.audit.comparisons.pair_answers import pair_answers
from crowdcore.audit.ratings import agreement as rating_agreement
from crowdcore.data import CrowdData, Floats, Kind
from crowdcore.wording import count, percent

MAX_STEPS = 50
"""Different ratings up to which they are steps of a scale that two workers can both choose."""

MIN_PARADOX_PERCENT, MIN_PARADOX_GAP = 0.7, 0.2
"""Agreement in percent, and AC1 over alpha, from which on their parting is explained."""

RELIABLE, TENTATIVE = 0.8, 0.667
"""Alpha from which on conclusions are safe, or may be drawn with care (Krippendorff 2004)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementPanel:
    """Measures of agreement side by side, and where agreement is missing.

    Attributes
    ----------
    kind
        What the labels are.
    unit
        What two labels are compared on, such as "item" or "pair of items".
    coefficients
        The measures, each with an interval or a note why it is not defined.
    headline
        Which of them stands for all: the position of alpha, or of what takes its place.
    n_items, n_alone, n_repeated
        What can be compared, what has labels of one worker only, and labels of a worker who had
        already labelled the item.
    by_class
        One row per class, with `CLASS_COLUMNS`; empty where there are none, which `no_classes`
        explains.
    by_item
        What has labels of two workers: item, n_labels, and `item_measure`; the most disputed
        first.
    item_measure
        "agreement", a share, or "spread", in the units of the ratings.
    paradox
        Why percent and alpha part, where they do.
    """

    kind: Kind
    unit: str
    coefficients: tuple[Coefficient, ...]
    headline: int
    n_items: int
    n_alone: int
    n_repeated: int
    by_class: pd.DataFrame
    by_item: pd.DataFrame
    item_measure: str = "agreement"
    no_classes: str = ""
    paradox: str = ""

    @property
    def main(self) -> Coefficient:
        """The measure that stands for all."""
        return self.coefficients[self.headline]

    @property
    def percent(self) -> Coefficient:
        """The plain share of agreement, without chance taken off."""
        return self.coefficients[0]

    def describe(self) -> str:
        """Say in a sentence or two how far workers agree, and what that means."""
        main = self.main
        if main.value is None:
            return main.note
        if self.percent is main or self.percent.value is None:
            sentence = f"Agreement ({main.name}) is {main.text}."
        else:
            sentence = (
                f"Two workers agree in {percent(self.percent.value)} of cases; "
                f"{main.name} is {main.text}: {_meaning(main.value)}."
            )
        return f"{sentence} {self.left_out}".strip()

    @property
    def left_out(self) -> str:
        """Say what was compared, and what could not be."""
        parts = [f"From {count(self.n_items, self.unit, _plural(self.unit))} of several workers"]
        if self.n_alone:
            parts.append(f"{self.n_alone:,} of one worker only are left out")
        if self.n_repeated:
            parts.append(
                f"{count(self.n_repeated, 'label')} of somebody who had labelled the same "
                f"{self.unit} before are not compared with their own"
            )
        return "; ".join(parts) + "."

    def to_json(self) -> dict[str, Any]:
        """Turn the numbers into plain JSON values, without the list of items."""
        return {
            "kind": self.kind,
            "unit": self.unit,
            "coefficients": [asdict(entry) for entry in self.coefficients],
            "n_items": self.n_items,
            "n_alone": self.n_alone,
            "n_repeated": self.n_repeated,
            "by_class": [
                {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124
                for row in self.by_class.to_dict("records")
            ],
            "paradox": self.paradox,
        }


def measure_agreement(data: CrowdData, *, seed: int = 0) -> AgreementPanel:
    """Measure how far workers agree, by every measure that suits the kind of labels.

    Parameters
    ----------
    data
        Labels of any kind.
    seed
        Of the resamples behind the intervals.

    Returns
    -------
    AgreementPanel
        Where nothing can be compared, the measures say so instead of a number.
    """
    if data.kind == "classes":
        return _of_classes(data, seed)
    if data.kind == "comparisons":
        return _of_comparisons(data, seed)
    if data.kind == "ratings":
        return _of_ratings(data, seed)
    if data.kind == "sets":
        return _of_sets(data, seed)
    return _of_spans(data, seed)


def _of_classes(data: CrowdData, seed: int) -> AgreementPanel:
    measured = measure_classes(_labels(data), seed=seed)
    return AgreementPanel(
        kind=data.kind,
        unit="item",
        coefficients=measured.coefficients,
        headline=1,
        n_items=measured.n_items,
        n_alone=measured.n_alone,
        n_repeated=measured.n_repeated,
        by_class=pd.DataFrame(measured.class_rows, columns=list(CLASS_COLUMNS)),
        by_item=_by_item(data.items, data.labels_per_item, measured.item_agreement),
        paradox=_paradox(measured),
    )


def _of_comparisons(data: CrowdData, seed: int) -> AgreementPanel:
    pairs = pair_answers(data)
    measured = measure_classes(_labels(pairs), seed=seed)
    return AgreementPanel(
        kind=data.kind,
        unit="pair of items",
        coefficients=measured.coefficients,
        headline=1,
        n_items=measured.n_items,
        n_alone=measured.n_alone,
        n_repeated=measured.n_repeated,
        by_class=pd.DataFrame([], columns=list(CLASS_COLUMNS)),
        by_item=_by_item(pairs.items, pairs.labels_per_item, measured.item_agreement),
        no_classes="The answer to a comparison is one of its two items, or a tie: there are no "
        "classes that could be harder than others.",
    )


def _of_ratings(data: CrowdData, seed: int) -> AgreementPanel:
    rated = rating_agreement.agreement(data, seed=seed)
    values, codes = np.unique(data.label, return_inverse=True)
    coefficients = list(rated.coefficients)
    by_class, why, n_repeated = pd.DataFrame([], columns=list(CLASS_COLUMNS)), "", 0
    if len(values) <= MAX_STEPS:
        steps = tuple(f"{value:g}" for value in values)
        measured = measure_classes(
            ClassLabels(
                item=data.item, worker=data.worker, label=codes, n_items=data.n_items, classes=steps
            ),
            seed=seed,
        )
        by_name = {entry.name: entry for entry in measured.coefficients}
        coefficients.insert(0, by_name["percent"])
        if "Gwet's AC2" in by_name:
            coefficients.append(by_name["Gwet's AC2"])
        by_class = pd.DataFrame(measured.class_rows, columns=list(CLASS_COLUMNS))
        n_repeated = measured.n_repeated
    else:
        why = (
            f"There are {len(values):,} different ratings, so two workers hardly ever choose the "
            "same: agreement by step, in percent and by AC2 is for scales of at most "
            f"{MAX_STEPS} steps."
        )
        coefficients.insert(0, Coefficient(name="percent", value=None, note=why))
    return AgreementPanel(
        kind=data.kind,
        unit="item",
        coefficients=tuple(_explained(entry) for entry in coefficients),
        headline=1,
        n_items=rated.n_items,
        n_alone=rated.n_alone,
        n_repeated=n_repeated,
        by_class=by_class,
        by_item=_by_item(
            data.items, data.labels_per_item, _spread(data), measure="spread", least_first=False
        ),
        item_measure="spread",
        no_classes=why,
    )


def _of_sets(data: CrowdData, seed: int) -> AgreementPanel:
    measured = measure_sets(data, seed=seed)
    return AgreementPanel(
        kind=data.kind,
        unit="item",
        coefficients=measured.coefficients,
        headline=1,
        n_items=measured.n_items,
        n_alone=measured.n_alone,
        n_repeated=measured.n_repeated,
        by_class=pd.DataFrame(measured.class_rows, columns=list(CLASS_COLUMNS)),
        by_item=_by_item(data.items, data.labels_per_item, measured.item_agreement),
    )


def _of_spans(data: CrowdData, seed: int) -> AgreementPanel:
    measured = measure_spans(data, seed=seed)
    return AgreementPanel(
        kind=data.kind,
        unit="text",
        coefficients=measured.coefficients,
        headline=0,
        n_items=measured.n_items,
        n_alone=measured.n_alone,
        n_repeated=0,
        by_class=pd.DataFrame(measured.class_rows, columns=list(CLASS_COLUMNS)),
        by_item=_by_item(measured.texts, measured.n_annotations, measured.item_agreement),
    )


def _labels(data: CrowdData) -> ClassLabels:
    return ClassLabels(
        item=data.item,
        worker=data.worker,
        label=data.label,
        n_items=data.n_items,
        classes=data.classes,
    )


def _by_item(
    names: Any,
    n_labels: Any,
    values: Floats,
    *,
    measure: str = "agreement",
    least_first: bool = True,
) -> pd.DataFrame:
    """List what can be compared, the most disputed first, and of those the most labelled."""
    known = np.flatnonzero(~np.isnan(values))
    numbers = np.asarray(n_labels)[known]
    rank = values[known] if least_first else -values[known]
    order = known[np.lexsort((-numbers, rank))]
    return pd.DataFrame(
        {
            "item": np.asarray(names, dtype=object)[order],
            "n_labels": np.asarray(n_labels)[order],
            measure: values[order],
        }
    )


def _spread(data: CrowdData) -> Floats:
    """The standard deviation of each item's ratings [N]; NaN with fewer than two."""
    n = np.asarray(data.labels_per_item, np.float64)
    value = np.asarray(data.label, np.float64)
    mean = np.bincount(data.item, value, minlength=data.n_items) / np.maximum(n, 1)
    squares = np.bincount(data.item, (value - mean[data.item]) ** 2, minlength=data.n_items)
    spread: Floats = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
    return spread


def _paradox(measured: NominalAgreement) -> str:
    """Say why workers agree often and alpha is low all the same, where that is so."""
    by_name = {entry.name: entry.value for entry in measured.coefficients}
    share, alpha, gwet = (by_name[name] for name in ("percent", "alpha", "Gwet's AC1"))
    if share is None or alpha is None or gwet is None:
        return ""
    if share < MIN_PARADOX_PERCENT or gwet - alpha < MIN_PARADOX_GAP:
        return ""
    rows = [row for row in measured.class_rows if row["n_labels"] > 1]
    rare = min(rows, key=lambda row: row["n_labels"])
    return (
        f"Workers agree in {percent(share)} of cases, and yet alpha is only {alpha:.2f}. "
        f"{percent(measured.largest_share, 0)} of the labels are of one class, so alpha and kappa "
        "expect nearly as much agreement by chance (the prevalence paradox); Gwet's AC1, which "
        f"does not, is {gwet:.2f}. Neither is wrong: on the common class workers do agree, on the "
        f"rare ones see below. Where one worker says {rare['class']!r}, another says so in "
        f"{percent(rare['agreement'])} of cases."
    )


def _meaning(alpha: float) -> str:
    if alpha >= RELIABLE:
        return "labels of two workers can stand for each other"
    if alpha >= TENTATIVE:
        return "enough for tentative conclusions"
    if alpha > 0:
        return "single labels are not reliable; truths from several are more so"
    return "no more than chance"


_MEANINGS = {
    "alpha, interval": "Krippendorff's alpha by the square of the distance of two ratings.",
    "alpha, ordinal": "Krippendorff's alpha by how many ratings lie between two.",
    "alpha, ratio": "Krippendorff's alpha by the distance of two ratings relative to their sum.",
    "ICC(1)": "How reliable a single rating is: the share of the variance that lies between items.",
    "ICC(k)": "How reliable the mean of an item's ratings is.",
    "percent": "How often two ratings of an item are exactly the same.",
}


def _explained(entry: Coefficient) -> Coefficient:
    return replace(entry, meaning=_MEANINGS.get(entry.name, entry.meaning))


def _plural(unit: str) -> str:
    return {"pair of items": "pairs of items"}.get(unit, f"{unit}s")
