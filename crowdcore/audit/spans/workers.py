"""What a manager asks of a worker who marks spans: how many found, how many right, what errors."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from crowdcore.audit.spans import comparison
from crowdcore.audit.spans.comparison import EDGE_ERRORS, SpanComparison, truths_without_worker
from crowdcore.audit.spans.verdicts import SPAN_VERDICTS, SpanNumbers
from crowdcore.audit.verdicts import judge
from crowdcore.confusion import safe_ratio
from crowdcore.data import Floats
from crowdcore.export.columns import SCORE, TableColumn, build_table
from crowdcore.results.result import wilson
from crowdcore.spans import TagSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crowdcore.audit.verdicts import Verdict
    from crowdcore.results.result import Result


class SpanWorkerAudit:
    """Numbers of a result's workers that several columns share, each computed once."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.data = result.data
        self.tag_set = TagSet(self.data.classes)

    @cached_property
    def comparison(self) -> SpanComparison:
        """Everybody's spans beside what the others see."""
        return comparison.compare(self.data, truths_without_worker(self.result))

    def _per_worker(self, annotation: Any, chosen: Any = None) -> Floats:
        """How many spans each worker has [W], in annotations that can be compared."""
        compared = self.comparison.compared[annotation]
        kept = compared if chosen is None else compared & chosen
        worker = self.comparison.order.worker[annotation[kept]]
        return np.bincount(worker, minlength=self.data.n_workers).astype(np.float64)

    @cached_property
    def n_given(self) -> Floats:
        """Spans that each worker marked [W]."""
        return self._per_worker(self.comparison.given_annotation)

    @cached_property
    def n_expected(self) -> Floats:
        """Spans that the others see where each worker looked [W]."""
        return self._per_worker(self.comparison.expected_annotation)

    def outcome(self, code: int) -> Floats:
        """How many spans of each worker are of an outcome [W]."""
        spans = self.comparison
        return self._per_worker(spans.given_annotation, spans.outcome == code)

    @cached_property
    def exact(self) -> Floats:
        """Spans that are exactly what the others see [W]."""
        return self.outcome(comparison.EXACT)

    @cached_property
    def missed(self) -> Floats:
        """Spans that no mark of the worker touches [W]."""
        return self._per_worker(self.comparison.expected_annotation, self.comparison.missed)

    def edge(self, column: int) -> Floats:
        """How many spans of each worker have one of `EDGE_ERRORS` [W]."""
        return self._per_worker(self.comparison.given_annotation, self.comparison.edges[:, column])

    @cached_property
    def n_texts(self) -> Floats:
        """Texts that each worker annotated [W]."""
        order = self.comparison.order
        pairs = np.unique(order.worker * (1 << 32) + order.text)
        return np.bincount(pairs >> 32, minlength=self.data.n_workers).astype(np.float64)

    @cached_property
    def emptiness(self) -> tuple[Floats, Floats]:
        """Texts with spans that each worker left empty, and texts with spans that they saw [W]."""
        spans = self.comparison
        n = len(spans.order)
        has_truth = np.bincount(spans.expected_annotation, minlength=n) > 0
        has_marks = np.bincount(spans.given_annotation, minlength=n) > 0
        seen = spans.compared & has_truth
        return tuple(  # type: ignore[return-value]
            np.bincount(spans.order.worker[chosen], minlength=self.data.n_workers).astype(float)
            for chosen in (seen & ~has_marks, seen)
        )

    @cached_property
    def chance(self) -> Floats:
        """Expected share of right spans, were each worker's at random places of the text [W]."""
        spans = self.comparison
        n_types = len(self.tag_set.types)
        length = np.diff(spans.order.offsets)
        size = int(length.max(initial=1)) + 1

        def key(annotation: Any, marks: Any) -> Any:
            return (annotation * size + (marks.end - marks.start)) * n_types + marks.type

        expected = key(spans.expected_annotation, spans.expected)
        wanted = key(spans.given_annotation, spans.given)
        values, counts = np.unique(expected, return_counts=True)
        index = np.minimum(np.searchsorted(values, wanted), max(0, len(values) - 1))
        matching = np.zeros(len(wanted))
        if len(values):
            matching = np.where(values[index] == wanted, counts[index], 0)
        places = length[spans.given_annotation] - (spans.given.end - spans.given.start) + 1
        kept = spans.compared[spans.given_annotation]
        worker = spans.order.worker[spans.given_annotation]
        total = np.bincount(worker[kept], (matching / places)[kept], self.data.n_workers)
        return safe_ratio(total, self.n_given)

    @cached_property
    def gold(self) -> tuple[Floats, Floats, Floats] | None:
        """Exact, given and expected spans of each worker by gold [W]; None without gold."""
        data = self.data
        if data.gold is None:
            return None
        order = self.comparison.order
        by_gold = comparison.compare(data, np.maximum(data.gold[order.item], -1))
        unknown = np.add.reduceat(data.gold[order.item] < 0, order.offsets[:-1])
        known = unknown == 0
        worker = order.worker

        def per_worker(annotation: Any) -> Floats:
            chosen = annotation[known[annotation]]
            return np.bincount(worker[chosen], minlength=data.n_workers).astype(np.float64)

        exact = by_gold.outcome == comparison.EXACT
        return (
            per_worker(by_gold.given_annotation[exact]),
            per_worker(by_gold.given_annotation),
            per_worker(by_gold.expected_annotation),
        )

    @cached_property
    def judgements(self) -> list[tuple[Verdict, str]]:
        """The verdict on each worker and its evidence."""
        return [judge(numbers, SPAN_VERDICTS) for numbers in self.numbers()]

    def numbers(self) -> Iterator[SpanNumbers]:
        """Go through what the rules judge each worker by."""
        types = self.tag_set.types
        wrong_type = self.outcome(comparison.WRONG_TYPE)
        edges = self.outcome(comparison.EDGES) + self.outcome(comparison.SPLIT)
        edges = edges + self.outcome(comparison.FUSED)
        placed, typed = self.exact + wrong_type + edges, self.exact + edges
        precision, recall = wilson(self.exact, self.n_given), wilson(self.exact, self.n_expected)
        type_low, edge_low = wilson(wrong_type, placed)[0], wilson(edges, typed)[0]
        empty, with_spans = self.emptiness
        empty_low = wilson(empty, with_spans)[0]
        crowd_precision = float(self.exact.sum() / max(1, self.n_given.sum()))
        crowd_recall = float(self.exact.sum() / max(1, self.n_expected.sum()))
        invented = self.outcome(comparison.INVENTED)
        touched, grounded = self.n_expected - self.missed, self.n_given - invented
        touched_high = wilson(touched, self.n_expected)[1]
        grounded_high = wilson(grounded, self.n_given)[1]
        mistakes = self._commonest_mistakes()
        by_edge = np.stack([self.edge(column) for column in range(len(EDGE_ERRORS))])
        for w in range(self.data.n_workers):
            given, true = mistakes[w]
            yield SpanNumbers(
                n_texts=int(self.n_texts[w]),
                n_expected=int(self.n_expected[w]),
                n_given=int(self.n_given[w]),
                precision=_share(self.exact[w], self.n_given[w]),
                precision_low=float(precision[0][w]),
                precision_high=float(precision[1][w]),
                recall=_share(self.exact[w], self.n_expected[w]),
                recall_low=float(recall[0][w]),
                recall_high=float(recall[1][w]),
                crowd_precision=crowd_precision,
                crowd_recall=crowd_recall,
                touched=_share(touched[w], self.n_expected[w]),
                touched_high=float(touched_high[w]),
                crowd_touched=_share(touched.sum(), self.n_expected.sum()),
                n_invented=int(invented[w]),
                grounded=_share(grounded[w], self.n_given[w]),
                grounded_high=float(grounded_high[w]),
                crowd_grounded=_share(grounded.sum(), self.n_given.sum()),
                n_with_spans=int(with_spans[w]),
                empty=_share(empty[w], with_spans[w]),
                empty_low=float(empty_low[w]),
                n_placed=int(placed[w]),
                wrong_types=_share(wrong_type[w], placed[w]),
                wrong_types_low=float(type_low[w]),
                commonest_mistake=f"{types[given]} for {types[true]}" if given >= 0 else "",
                n_typed=int(typed[w]),
                wrong_edges=_share(edges[w], typed[w]),
                wrong_edges_low=float(edge_low[w]),
                commonest_edge=EDGE_ERRORS[int(by_edge[:, w].argmax())],
                chance=float(np.nan_to_num(self.chance[w])),
            )

    def type_counts(self) -> Any:
        """How often each worker gave spans of a true type each type [W, true, given]."""
        spans, n_types = self.comparison, len(self.tag_set.types)
        kept = (spans.truth_type >= 0) & spans.compared[spans.given_annotation]
        worker = spans.order.worker[spans.given_annotation]
        key = (worker * n_types + spans.truth_type) * n_types + spans.given.type
        counts = np.bincount(key[kept], minlength=self.data.n_workers * n_types**2)
        return counts.reshape(self.data.n_workers, n_types, n_types)

    def _commonest_mistakes(self) -> list[tuple[int, int]]:
        """The type that each worker gives most often instead of another; -1 where none."""
        counts = self.type_counts()
        if not counts.shape[1]:
            return [(-1, -1)] * len(counts)
        counts[:, np.arange(counts.shape[1]), np.arange(counts.shape[1])] = 0
        flat = counts.reshape(len(counts), -1)
        best = flat.argmax(1)
        return [
            (int(cell % counts.shape[1]), int(cell // counts.shape[1])) if row[cell] else (-1, -1)
            for cell, row in zip(best, flat, strict=True)
        ]


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _f1(exact: Floats, given: Floats, expected: Floats) -> Floats:
    return safe_ratio(2 * exact, given + expected)


def _column(
    name: str, title: str, help: str, unit: Any, values: Any
) -> TableColumn[SpanWorkerAudit]:
    return TableColumn(name=name, title=title, help=help, unit=unit, values=values)


def _rate_columns(name: str, help: str, counts: Any) -> list[TableColumn[SpanWorkerAudit]]:
    """A share with the ends of its 95 % interval."""
    title = name.capitalize()
    low, high = "Lower end of its 95 % interval.", "Upper end of its 95 % interval."
    return [
        _column(name, title, help, "share", lambda a: safe_ratio(*counts(a))),
        _column(f"{name}_low", f"{title} low", low, "share", lambda a: wilson(*counts(a))[0]),
        _column(f"{name}_high", f"{title} high", high, "share", lambda a: wilson(*counts(a))[1]),
    ]


COLUMNS: tuple[TableColumn[SpanWorkerAudit], ...] = (
    _column("worker", "Worker", "The worker's name.", "name", lambda a: list(a.data.workers)),
    _column(
        "verdict",
        "Verdict",
        "What the numbers say of the worker.",
        "text",
        lambda a: [verdict.name for verdict, _ in a.judgements],
    ),
    _column(
        "n_labels",
        "Texts",
        "How many texts the worker annotated.",
        "labels",
        lambda a: a.n_texts.astype(np.int64),
    ),
    _column(
        "n_spans",
        "Spans",
        "How many spans the worker marked in texts that others annotated too.",
        "labels",
        lambda a: a.n_given.astype(np.int64),
    ),
    _column(
        "n_compared",
        "To find",
        "How many spans the others see in the texts that the worker annotated.",
        "labels",
        lambda a: a.n_expected.astype(np.int64),
    ),
    _column(
        "f1",
        "F1",
        "Harmonic mean of precision and recall, against what the others alone would give.",
        "share",
        lambda a: _f1(a.exact, a.n_given, a.n_expected),
    ),
    *_rate_columns(
        "precision",
        "The share of the worker's spans that the others see exactly so.",
        lambda a: (a.exact, a.n_given),
    ),
    *_rate_columns(
        "recall",
        "The share of the spans that the others see which the worker marked exactly so.",
        lambda a: (a.exact, a.n_expected),
    ),
    _column(
        "missed",
        "Missed",
        "Spans that no mark of the worker touches.",
        "labels",
        lambda a: a.missed.astype(np.int64),
    ),
    _column(
        "invented",
        "Invented",
        "Marks that touch no span that the others see.",
        "labels",
        lambda a: a.outcome(comparison.INVENTED).astype(np.int64),
    ),
    _column(
        "wrong_type",
        "Wrong type",
        "Marks in the right place with another type.",
        "labels",
        lambda a: a.outcome(comparison.WRONG_TYPE).astype(np.int64),
    ),
    *(
        _column(
            name.replace(" ", "_"),
            name.capitalize(),
            f"Spans of the right type with an {name}."
            if name[0] in "aeiou"
            else f"Spans of the right type with a {name}.",
            "labels",
            lambda a, column=column: a.edge(column).astype(np.int64),
        )
        for column, name in enumerate(EDGE_ERRORS)
    ),
    _column(
        "split",
        "Split",
        "Marks that are a part of one span, beside another part.",
        "labels",
        lambda a: a.outcome(comparison.SPLIT).astype(np.int64),
    ),
    _column(
        "fused",
        "Fused",
        "Marks that join several spans into one.",
        "labels",
        lambda a: a.outcome(comparison.FUSED).astype(np.int64),
    ),
    _column(
        "empty",
        "Left empty",
        "The share of texts with spans in which the worker marked nothing.",
        "share",
        lambda a: safe_ratio(*a.emptiness),
    ),
    _column(
        "gold_f1",
        "F1 on gold",
        "F1 against the known spans, in texts with gold.",
        "share",
        lambda a: None if a.gold is None else _f1(*a.gold),
    ),
    TableColumn(
        name=SCORE,
        title="Scores",
        help="What the method tells of the worker in its own terms.",
        unit="score",
        values=lambda a: a.result.worker_scores,
    ),
    _column(
        "evidence",
        "Evidence",
        "The numbers behind the verdict, in a sentence.",
        "text",
        lambda a: [evidence for _, evidence in a.judgements],
    ),
)
"""Columns of workers.csv and workers.parquet, where labels are spans in texts."""


def span_worker_table(result: Result) -> pd.DataFrame:
    """Make a table of workers, one row each in the order of the codes.

    Parameters
    ----------
    result
        Truths of the kind "sequences".

    Returns
    -------
    pandas.DataFrame
        With the columns of `COLUMNS`.
    """
    return build_table(COLUMNS, SpanWorkerAudit(result))
