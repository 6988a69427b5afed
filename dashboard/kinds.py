"""What the pages are made of for each kind of labels: the one place that tells kinds apart.

A page asks for the parts of its run's kind and puts them together. A further kind is a further
entry of `VIEWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.comparisons import truths as ranking
from dashboard.comparisons import workers as comparing_workers
from dashboard.ratings import item as rated_item
from dashboard.ratings import truths as rated_truths
from dashboard.ratings import worker as rater
from dashboard.ratings import workers as raters
from dashboard.sets import truths as set_truths
from dashboard.sets import workers as set_workers
from dashboard.spans import close_up, texts
from dashboard.spans import workers as span_workers
from dashboard.truths import filters, item, summary, table
from dashboard.workers import overview, worker
from dashboard.workers import summary as worker_summary
from dashboard.workers import table as worker_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.data import Kind
    from crowdcore.workspace import RunRow


@dataclass(frozen=True, kw_only=True)
class TruthsParts:
    """Parts of the Truths page.

    Attributes
    ----------
    presets
        Titles of the quick filters, by name; "all" is the first.
    masks
        Which items pass each quick filter; one that does not apply to a run is left out.
    orders
        Orders of the table: title -> column, and whether the smallest comes first.
    narrow
        Draws further filters into the row, and returns which items pass them.
    draw_metrics, draw_table, draw_overview, draw_item
        The numbers on top, the items at some positions, all items in a chart, one item up close.
    """

    presets: Mapping[str, str]
    masks: Callable[[pd.DataFrame], dict[str, NDArray[np.bool_]]]
    orders: Mapping[str, tuple[str | None, bool]]
    narrow: Callable[[DeltaGenerator, RunRow, pd.DataFrame], NDArray[np.bool_]]
    draw_metrics: Callable[[RunRow, pd.DataFrame], None]
    draw_table: Callable[[RunRow, pd.DataFrame, NDArray[np.intp]], None]
    draw_overview: Callable[[RunRow, pd.DataFrame], None]
    draw_item: Callable[[RunRow, str], None]


@dataclass(frozen=True, kw_only=True)
class WorkersParts:
    """Parts of the Workers page.

    Attributes
    ----------
    orders
        Orders of the table beside the usual ones: title -> column, and whether the smallest
        comes first.
    clickable
        Names of the charts of the overview whose points select a worker.
    draw_metrics, draw_table, draw_overview, draw_worker
        The numbers on top, some workers of whom several can be ticked, all workers in a chart
        (given the keys of its clickable charts), one worker up close.
    ticked_cells
        What the list of several ticked workers shows of them beside name, verdict and evidence:
        column title -> texts or numbers.
    """

    orders: Mapping[str, tuple[str, bool]]
    clickable: Sequence[str]
    draw_metrics: Callable[[RunRow, pd.DataFrame], None]
    draw_table: Callable[[RunRow, pd.DataFrame, Sequence[str]], list[str]]
    draw_overview: Callable[[RunRow, pd.DataFrame, Mapping[str, str]], None]
    draw_worker: Callable[[RunRow, str], None]
    ticked_cells: Callable[[pd.DataFrame], dict[str, Sequence[str]]]


@dataclass(frozen=True, kw_only=True)
class ClassifierWording:
    """What the Export page says of the classifier that a run has trained.

    Attributes
    ----------
    does
        What it is good for, in a sentence.
    takes
        What the new file of the command below it must be, in a sentence.
    file, out
        What that file, and the one that is written, are called in the command.
    """

    does: str = "It labels new items by their features alone."
    takes: str = (
        "NEW_ITEMS below is of the same kind as the file that the features came from: a table "
        "with its columns, pictures, or an NPZ."
    )
    file: str = "NEW_ITEMS"
    out: str = "predicted.csv"


@dataclass(frozen=True, kw_only=True)
class KindViews:
    """What the dashboard is made of for one kind of labels.

    Attributes
    ----------
    truths, workers
        Parts of these pages.
    exports
        What the tables on the Export page hold, by title.
    has_probabilities
        Whether truths can be exported with the probability of every class.
    can_begin_from_a_run
        Whether a fit can begin from an earlier result.
    classifier
        What the Export page says of a trained classifier.
    """

    truths: TruthsParts
    workers: WorkersParts
    exports: Mapping[str, str]
    has_probabilities: bool
    can_begin_from_a_run: bool
    classifier: ClassifierWording = ClassifierWording()


VIEWS: Mapping[Kind, KindViews] = {
    "classes": KindViews(
        truths=TruthsParts(
            presets=filters.PRESETS,
            masks=filters.masks,
            orders=filters.ORDERS,
            narrow=filters.narrow,
            draw_metrics=summary.draw_metrics,
            draw_table=table.draw,
            draw_overview=summary.draw_sureness,
            draw_item=item.draw,
        ),
        workers=WorkersParts(
            orders={"Least accurate first": ("accuracy", True)},
            clickable=overview.CHARTS,
            draw_metrics=worker_summary.draw_metrics,
            draw_table=worker_table.draw,
            draw_overview=overview.draw,
            draw_worker=worker.draw,
            ticked_cells=worker_table.ticked_cells,
        ),
        exports={
            "Truths": "One row per item: truth, confidence, number of labels, whether tied, and "
            "what else the method tells of an item, such as its difficulty.",
            "Workers": "One row per worker: accuracy with its interval, scores, verdict and "
            "evidence.",
            "Cleaned labels": "One row per label that took part in the run, beside the truth of "
            "its item.",
        },
        has_probabilities=True,
        can_begin_from_a_run=True,
    ),
    "sequences": KindViews(
        truths=TruthsParts(
            presets=texts.PRESETS,
            masks=texts.masks,
            orders=texts.ORDERS,
            narrow=texts.narrow,
            draw_metrics=texts.draw_metrics,
            draw_table=texts.draw_table,
            draw_overview=texts.draw_overview,
            draw_item=close_up.draw,
        ),
        workers=WorkersParts(
            orders=span_workers.ORDERS,
            clickable=span_workers.CHARTS,
            draw_metrics=span_workers.draw_metrics,
            draw_table=span_workers.draw_table,
            draw_overview=span_workers.draw_overview,
            draw_worker=span_workers.draw_worker,
            ticked_cells=span_workers.ticked_cells,
        ),
        exports={
            "Truths": "One row per text: its spans with type and words, the confidence of the "
            "least sure one, and the text.",
            "Workers": "One row per worker: precision, recall and F1 of spans with intervals, "
            "kinds of error, verdict and evidence.",
            "Cleaned labels": "One row per span that a worker marked: text, worker, first and "
            "last token, type, words, and what became of it.",
        },
        has_probabilities=False,
        can_begin_from_a_run=False,
        classifier=ClassifierWording(
            does="It is a tagger: it marks spans in new texts.",
            takes="NEW_TEXTS below is a file with a text per line, JSON with `tokens` or `text`, "
            "a table with a column `text`, or CoNLL.",
            file="NEW_TEXTS",
            out="predicted.jsonl",
        ),
    ),
    "ratings": KindViews(
        truths=TruthsParts(
            presets=rated_truths.PRESETS,
            masks=rated_truths.masks,
            orders=rated_truths.ORDERS,
            narrow=rated_truths.narrow,
            draw_metrics=rated_truths.draw_metrics,
            draw_table=rated_truths.draw_table,
            draw_overview=rated_truths.draw_overview,
            draw_item=rated_item.draw,
        ),
        workers=WorkersParts(
            orders=raters.ORDERS,
            clickable=raters.CHARTS,
            draw_metrics=raters.draw_metrics,
            draw_table=raters.draw_table,
            draw_overview=raters.draw_overview,
            draw_worker=rater.draw,
            ticked_cells=raters.ticked_cells,
        ),
        exports={
            "Truths": "One row per item: truth, spread, 95% interval, number of ratings, mean and "
            "median.",
            "Workers": "One row per worker: bias, slope and noise with intervals, verdict and "
            "evidence.",
            "Cleaned labels": "One row per rating that took part in the run, beside the truth of "
            "its item and the difference.",
        },
        has_probabilities=False,
        can_begin_from_a_run=False,
    ),
    "comparisons": KindViews(
        truths=TruthsParts(
            presets=ranking.PRESETS,
            masks=ranking.masks,
            orders=ranking.ORDERS,
            narrow=ranking.narrow,
            draw_metrics=ranking.draw_metrics,
            draw_table=ranking.draw_table,
            draw_overview=ranking.draw_overview,
            draw_item=ranking.draw_item,
        ),
        workers=WorkersParts(
            orders=comparing_workers.ORDERS,
            clickable=comparing_workers.CHARTS,
            draw_metrics=comparing_workers.draw_metrics,
            draw_table=comparing_workers.draw_table,
            draw_overview=comparing_workers.draw_overview,
            draw_worker=comparing_workers.draw_worker,
            ticked_cells=comparing_workers.ticked_cells,
        ),
        exports={
            "Truths": "One row per item: rank and score with their intervals, wins, losses, ties.",
            "Workers": "One row per worker: agreement, sharpness and side with their intervals, "
            "verdict and evidence.",
            "Cleaned labels": "One row per comparison that took part in the run, beside what the "
            "scores make one expect.",
        },
        has_probabilities=False,
        can_begin_from_a_run=False,
    ),
    "sets": KindViews(
        truths=TruthsParts(
            presets=set_truths.PRESETS,
            masks=set_truths.masks,
            orders=set_truths.ORDERS,
            narrow=set_truths.narrow,
            draw_metrics=set_truths.draw_metrics,
            draw_table=set_truths.draw_table,
            draw_overview=set_truths.draw_overview,
            draw_item=set_truths.draw_item,
        ),
        workers=WorkersParts(
            orders=set_workers.ORDERS,
            clickable=set_workers.CHARTS,
            draw_metrics=set_workers.draw_metrics,
            draw_table=set_workers.draw_table,
            draw_overview=set_workers.draw_overview,
            draw_worker=set_workers.draw_worker,
            ticked_cells=set_workers.ticked_cells,
        ),
        exports={
            "Truths": "One row per item: its classes as a list and as one column per class, and "
            "how sure that is.",
            "Workers": "One row per worker: similarity with others, what they find and add, over "
            "all and for each class, verdict and evidence.",
            "Cleaned labels": "One row per answer that took part in the run, beside the truth of "
            "its item.",
        },
        has_probabilities=True,
        can_begin_from_a_run=False,
    ),
}
"""The parts of each kind."""


def views_of(kind: Kind) -> KindViews:
    """Return the parts of the pages for a kind of labels."""
    return VIEWS[kind]
