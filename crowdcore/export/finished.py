"""FinishedRun: what files for other tools are made of, wherever the run was kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.export.columns import PROBABILITY
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.original import Original
from crowdcore.reading.parsing.table import Table

_TEXT_NAMES = ("text", "sentence", "content", "tweet", "body", "document", "title")
_PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp")


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRun:
    """All labels of a data set, and what a run says of its items and workers.

    Parameters
    ----------
    name
        What files are named after.
    data
        All labels, also those of workers whom the run left out.
    truths
        One row per item, in the order of the codes, with the columns of `TRUTH_COLUMNS`.
    workers
        One row per worker, with verdicts and evidence.
    provenance
        How the run came about: method, title, settings, versions.
    excluded
        Workers whom somebody decided to leave out, with the reason where one was given. Their
        work may be rejected, and nobody else's.
    span_files
        Of texts with spans: the files that `crowdcore run --out` writes of them, by name, and what
        makes or reads the text of each.
    for_spreadsheets
        Whether texts that a spreadsheet would run as formulas are marked in CSV files.
    """

    name: str
    data: CrowdData
    truths: pd.DataFrame
    workers: pd.DataFrame
    provenance: Mapping[str, Any]
    excluded: Mapping[str, str] = field(default_factory=dict)
    span_files: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    for_spreadsheets: bool = False

    @cached_property
    def truth(self) -> NDArray[np.object_]:
        """The truth of each item [N] as text; "" where it is undecided."""
        values = self.truths["truth"].tolist()
        return np.array([_spell(value) for value in values], dtype=object)

    @cached_property
    def confidence(self) -> Floats:
        """The confidence of each item [N]; NaN where the truths have none."""
        if "confidence" not in self.truths:
            return np.full(self.data.n_items, np.nan)
        return self.truths["confidence"].to_numpy(np.float64)

    @cached_property
    def posterior(self) -> Floats | None:
        """The probability of each class of each item [N, K]; None where there are none."""
        columns = [PROBABILITY + name for name in self.data.classes]
        if not columns or not set(columns) <= set(self.truths.columns):
            return None
        return self.truths[columns].to_numpy(np.float64)

    @cached_property
    def label(self) -> NDArray[np.object_]:
        """Every label [L] as text."""
        if self.data.kind == "ratings":
            return np.array([_spell(value) for value in self.data.label.tolist()], dtype=object)
        return self.data.class_names(self.data.label)

    def label_columns(self, item: str) -> dict[str, Any]:
        """List who gave which label to what, one row per label.

        Parameters
        ----------
        item
            What the column of items is called; compared items stand in `left` and `right`.

        Returns
        -------
        dict of str to sequence
            The columns.
        """
        data = self.data
        items = np.array(data.items, dtype=object)
        columns: dict[str, Any] = {item: items[data.item]}
        if data.other is not None:
            columns = {"left": items[data.item], "right": items[data.other]}
        columns["worker"] = np.array(data.workers, dtype=object)[data.worker]
        columns["label"] = data.label if data.kind == "ratings" else self.label
        return columns

    @cached_property
    def agrees(self) -> NDArray[np.bool_]:
        """Whether each label [L] is the truth of its item."""
        return np.asarray(self.label == self.truth[self.data.item], bool)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What people see of each item [N]: its text where the file has one, else its name."""
        details = self.data.details
        named = [name for name in details if name.lower().split(".")[-1] in _TEXT_NAMES]
        long = sorted(details, key=lambda name: -sum(map(len, details[name])))
        long = [name for name in long if any(" " in text for text in details[name])]
        chosen = next(iter([*named, *long]), None)
        return self.data.items if chosen is None else details[chosen]

    @property
    def shows_pictures(self) -> bool:
        """Whether items are names of pictures."""
        return all(name.lower().endswith(_PICTURE_SUFFIXES) for name in self.data.items)

    @property
    def model(self) -> str:
        """The method with its version, for tools that ask which model it was."""
        return f"crowdcore {self.provenance.get('version', '')} {self.provenance['method']}"

    @property
    def original(self) -> Original | None:
        """The file that the labels came from, where it was kept."""
        original: Original | None = self.data.original
        return original

    @cached_property
    def table(self) -> Table:
        """The cells of the file that the labels came from.

        Raises
        ------
        DataError
            The file was not kept.
        """
        if self.original is None:
            raise DataError(missing_original(self))
        layout = self.original.layout
        header = None if layout is None else layout.header
        return open_table_of(self.original, header=header)

    def columns(self) -> tuple[str, ...]:
        """Return the columns of the file that the labels came from; () where it was not kept."""
        return () if self.original is None else self.original.columns

    def reason(self, worker: str) -> str:
        """Return the evidence about a worker as a sentence; "" where there is none."""
        evidence = self._evidence.get(worker, "")
        return evidence if isinstance(evidence, str) else ""

    @cached_property
    def _evidence(self) -> dict[str, Any]:
        if not {"worker", "evidence"} <= set(self.workers.columns):
            return {}
        return dict(zip(self.workers["worker"], self.workers["evidence"], strict=True))


def open_table_of(original: Original, *, header: bool | None) -> Table:
    """Parse the file that labels came from once more."""
    return open_table(original.content().all(), name=original.name, header=header)


def missing_original(run: FinishedRun) -> str:
    """Say why there is no file to give back."""
    names = run.data.workers[:1]
    if names and names[0] == "worker 1":
        return "The file was not kept, because workers are called by pseudonyms."
    return "The file that the labels came from was not kept with the data set: add it again."


def _spell(value: Any) -> str:
    """Write a truth; a whole rating without decimals, what is unknown as nothing."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return "" if value is None else str(value)
