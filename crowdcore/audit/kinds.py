"""What the tables and judgements of each kind of labels are: the one place that tells them apart.

A further kind is a further entry of `AUDITS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from crowdcore.audit import agreement, items, workers
from crowdcore.audit.comparisons import agreement as comparison_agreement
from crowdcore.audit.comparisons import items as ranked_items
from crowdcore.audit.comparisons import labels as comparison_labels
from crowdcore.audit.comparisons import verdicts as comparison_verdicts
from crowdcore.audit.comparisons import workers as comparing_workers
from crowdcore.audit.judging import sentences
from crowdcore.audit.judging.worker_evidence import WorkerEvidence, worker_evidence
from crowdcore.audit.ratings import agreement as rating_agreement
from crowdcore.audit.ratings import tables as rating_tables
from crowdcore.audit.ratings import verdicts as rating_verdicts
from crowdcore.audit.reliability import calibration_error, reliability
from crowdcore.audit.sets import agreement as set_agreement
from crowdcore.audit.sets import items as set_items
from crowdcore.audit.sets import verdicts as set_verdicts
from crowdcore.audit.sets import workers as set_workers
from crowdcore.audit.spans.agreement import span_agreement
from crowdcore.audit.spans.marks import MARK_COLUMNS
from crowdcore.audit.spans.texts import TEXT_COLUMNS, compare_texts
from crowdcore.audit.spans.texts import TRUTH_COLUMNS as TEXT_TRUTH_COLUMNS
from crowdcore.audit.spans.verdicts import SPAN_VERDICTS
from crowdcore.audit.spans.workers import COLUMNS as SPAN_WORKER_COLUMNS
from crowdcore.audit.spans.workers import span_worker_table
from crowdcore.audit.spot_check import describe_margins
from crowdcore.audit.verdicts import UNDECIDED, VERDICTS, Verdict
from crowdcore.data import CrowdData, DataError, Kind
from crowdcore.export import tables
from crowdcore.export.columns import TableColumn, build_table
from crowdcore.export.spans import SPAN_FILES

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.results.result import Result


class Scored(NamedTuple):
    """How far truths agree with gold: numbers by name, and the same in sentences."""

    figures: dict[str, float | int]
    lines: list[str]


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The tables and judgements of one kind of labels.

    Attributes
    ----------
    truth_columns
        Columns of truths.csv, made of a result.
    item_columns
        What pages show of items beside their truths.
    label_columns
        Columns of labels beside a result, made of a `tables.LabelSource`.
    worker_columns
        Columns of workers.csv.
    verdicts
        What may be said of a worker, in the order of the rules.
    score
        Compares truths with gold; None where there is none that the method has not seen.
    without_gold
        Says what is not known without gold, and how to get to know it.
    compare_items
        Makes the table of `item_columns` of a result.
    workers
        Makes the table of `worker_columns` of a result.
    options
        Keywords of `Result.workers` that it takes.
    evidence
        Finds what verdicts rest on, once for all results on the same data; None where the table
        of workers says all.
    describe_crowd
        Says how many accusations are expected to be wrong, and what accuracies mean here.
    agreement
        Measures how far workers agree; the answer describes itself.
    files
        Further files that a result of this kind can be written to: name -> what makes its text.
    """

    truth_columns: tuple[TableColumn[Any], ...]
    item_columns: tuple[TableColumn[Any], ...]
    label_columns: tuple[TableColumn[Any], ...]
    worker_columns: tuple[TableColumn[Any], ...]
    verdicts: tuple[Verdict, ...]
    score: Callable[[Result], Scored | None]
    without_gold: Callable[[], str]
    compare_items: Callable[[Result], pd.DataFrame]
    workers: Callable[..., pd.DataFrame]
    agreement: Callable[[CrowdData], Any]
    options: frozenset[str] = frozenset()
    evidence: Callable[[CrowdData], WorkerEvidence] | None = None
    describe_crowd: Callable[[CrowdData], list[str]] | None = None
    files: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)

    @property
    def best_first(self) -> tuple[str, ...]:
        """Names of the verdicts, the least harmful first; those of whom nothing is known last."""
        return self._ordered(1)

    @property
    def worst_first(self) -> tuple[str, ...]:
        """Names of the verdicts, the most harmful first; those of whom nothing is known last."""
        return self._ordered(-1)

    @property
    def in_doubt(self) -> tuple[str, ...]:
        """Names of the verdicts that speak against a worker, the least harmful first."""
        harmful = {verdict.name for verdict in self.verdicts if verdict.harm > 0}
        return tuple(name for name in self.best_first if name in harmful)

    def _ordered(self, sign: int) -> tuple[str, ...]:
        unknown = UNDECIDED.name
        ranked = sorted(
            self.verdicts, key=lambda verdict: (verdict.name == unknown, sign * verdict.harm)
        )
        return tuple(verdict.name for verdict in ranked)

    def verdict_named(self, name: str) -> Verdict | None:
        """Return the verdict of this name; None for one that an earlier version gave.

        Parameters
        ----------
        name
            What a table says of a worker.
        """
        return next((verdict for verdict in self.verdicts if verdict.name == name), None)

    def describe_verdicts(self) -> str:
        """Say in Markdown what each verdict means, one line each, the least harmful first."""
        meanings = {verdict.name: verdict.meaning for verdict in self.verdicts}
        return "\n".join(f"- **{name}**: {meanings[name]}" for name in self.best_first)

    def judge_workers(self, result: Result, options: Mapping[str, Any]) -> pd.DataFrame:
        """Make the table of workers of a result.

        Parameters
        ----------
        result
            The truths, and the labels that they were inferred from.
        options
            How workers are to be judged, where that differs from the usual way.

        Returns
        -------
        pandas.DataFrame
            One row per worker, with the columns of `worker_columns`.

        Raises
        ------
        DataError
            If workers of this kind of labels are not judged so.
        """
        if unknown := sorted(options.keys() - self.options):
            raise DataError(f"Workers who give {result.data.kind} are not judged by {unknown[0]}")
        return self.workers(result, **options)

    def truths(self, result: Result) -> pd.DataFrame:
        """Make the table of truths of a result.

        Parameters
        ----------
        result
            The truths.

        Returns
        -------
        pandas.DataFrame
            One row per item, with the columns of `truth_columns`.
        """
        return build_table(self.truth_columns, result)


def _score_of_classes(result: Result) -> Scored | None:
    """The accuracy, and how far the confidence is from it."""
    score, bins = result.score(), reliability(result)
    if score is None or bins is None:
        return None
    error = calibration_error(bins)
    line = f"Expected calibration error: {error:.4f}, the mean gap between confidence and accuracy"
    return Scored({**score.figures, "calibration_error": error}, [*score.lines, f"{line} on gold"])


def _plain_score(result: Result) -> Scored | None:
    """The measures of the result's own kind."""
    score = result.score()
    return None if score is None else Scored(score.figures, score.lines)


def _describe_crowd(data: CrowdData) -> list[str]:
    facts = worker_evidence(data).facts
    return [
        sentences.accusations(facts),
        *sentences.warnings(facts),
        sentences.accuracy_promise(facts),
    ]


AUDITS: Mapping[Kind, Audit] = {
    "classes": Audit(
        truth_columns=tables.TRUTH_COLUMNS,
        item_columns=items.COLUMNS,
        label_columns=tables.LABEL_COLUMNS,
        worker_columns=workers.COLUMNS,
        verdicts=VERDICTS,
        score=_score_of_classes,
        without_gold=lambda: f"Accuracy: not known without gold. {describe_margins()}",
        compare_items=items.compare_items,
        workers=workers.worker_table,
        options=frozenset({"requirement", "rows_in_order"}),
        evidence=worker_evidence,
        describe_crowd=_describe_crowd,
        agreement=agreement.agreement,
    ),
    "ratings": Audit(
        truth_columns=rating_tables.TRUTH_COLUMNS,
        item_columns=rating_tables.ITEM_COLUMNS,
        label_columns=rating_tables.RATING_COLUMNS,
        worker_columns=rating_tables.WORKER_COLUMNS,
        verdicts=rating_verdicts.VERDICTS,
        score=_plain_score,
        without_gold=lambda: (
            "Errors: not known without gold. Some known numbers tell them, and the level and range "
            "of the truths, which no rating can tell."
        ),
        compare_items=rating_tables.compare_items,
        workers=rating_tables.worker_table,
        agreement=rating_agreement.agreement,
    ),
    "comparisons": Audit(
        truth_columns=ranked_items.TRUTH_COLUMNS,
        item_columns=ranked_items.COLUMNS,
        label_columns=comparison_labels.COMPARISON_LABEL_COLUMNS,
        worker_columns=comparing_workers.COLUMNS,
        verdicts=comparison_verdicts.VERDICTS,
        score=_plain_score,
        without_gold=lambda: (
            "How right the order is: not known without gold scores. The intervals say how far "
            "further comparisons may move it."
        ),
        compare_items=ranked_items.compare_items,
        workers=comparing_workers.worker_table,
        agreement=comparison_agreement.worker_agreement,
    ),
    "sets": Audit(
        truth_columns=set_items.TRUTH_COLUMNS,
        item_columns=set_items.COLUMNS,
        label_columns=set_items.SET_LABEL_COLUMNS,
        worker_columns=set_workers.COLUMNS,
        verdicts=set_verdicts.VERDICTS,
        score=_plain_score,
        without_gold=lambda: f"Exact matches: not known without gold. {describe_margins()}",
        compare_items=set_items.compare_items,
        workers=set_workers.worker_table,
        agreement=set_agreement.agreement,
    ),
    "sequences": Audit(
        truth_columns=TEXT_TRUTH_COLUMNS,
        item_columns=TEXT_COLUMNS,
        label_columns=MARK_COLUMNS,
        worker_columns=SPAN_WORKER_COLUMNS,
        verdicts=SPAN_VERDICTS,
        score=_plain_score,
        without_gold=lambda: (
            "Span F1: not known without gold. Annotate some texts with care and add them as gold."
        ),
        compare_items=compare_texts,
        workers=span_worker_table,
        agreement=span_agreement,
        files=SPAN_FILES,
    ),
}
"""The parts of each kind."""


def audit_of(kind: Kind) -> Audit:
    """Return the tables and judgements of a kind of labels.

    Parameters
    ----------
    kind
        What the labels are.

    Returns
    -------
    Audit
        Its entry of `AUDITS`.
    """
    return AUDITS[kind]
