"""What the completion page reads of a run: computed once for each choice, and kept by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.artefacts.completion import Completion
from crowdcore.audit import completion as completion_audit
from dashboard import cache, state
from dashboard.charts.palette import plain

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.completion import (
        Against,
        CompletionSummary,
        Indices,
        ItemAnswers,
        MatrixPiece,
    )
    from crowdcore.workspace import RunRow

Pick = Literal["drawn", "unsure", "changed"]
Order = Literal["alike", "labels"]

MIN_LABELS = 5
"""Labels to compare, below which a worker's quality says nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """A piece of the matrix in the order it is shown, [workers, items]."""

    workers: Indices
    items: Indices
    cells: MatrixPiece
    texts: NDArray[np.object_]  # shown when hovering over a cell


@st.cache_resource(max_entries=4, show_spinner=False)
def completion(run_id: str) -> Completion | None:
    """Return what a run filled in before it inferred truths, if it did."""
    return cache.result(run_id).artefact(Completion)


@st.cache_resource(max_entries=8, show_spinner="Counting the filled labels …")
def summary(run_id: str) -> CompletionSummary:
    """Return how much was filled in, with what, and how surely."""
    return completion_audit.summary(_completion(run_id))


@st.cache_resource(max_entries=8, show_spinner="Comparing workers before and after …")
def quality(run_id: str, against: Against) -> pd.DataFrame:
    """Return the quality of workers' own labels and of the completed ones, with their verdicts."""
    frame = completion_audit.worker_quality(cache.result(run_id), _completion(run_id), against)
    return frame.assign(verdict=cache.workers(run_id)["verdict"].to_numpy())


def against(run: RunRow) -> Against:
    """Return what labels are held to: gold where there is some, unless the URL asks otherwise."""
    gold = bool(cache.result(run.id).data.has_gold.any())
    return "gold" if gold and state.selection("against") != "truths" else "truths"


@st.cache_resource(max_entries=8, show_spinner="Comparing truths …")
def answers(run_id: str, *, observed: bool) -> ItemAnswers:
    """Return a run's answers; `observed` counts the votes on its observed labels instead."""
    result = cache.result(run_id)
    if observed:
        return completion_audit.ItemAnswers.from_votes(result.data)
    return completion_audit.ItemAnswers.from_result(result)


def before(run: RunRow) -> ItemAnswers:
    """Return the answers without filled labels: of the same method, else of a vote."""
    uncompleted = counterpart(run)
    if uncompleted is None or uncompleted.status != "done":
        return answers(run.id, observed=True)
    return answers(uncompleted.id, observed=False)


def counterpart(run: RunRow) -> RunRow | None:
    """Return the newest run that differs only in that it fills nothing in: a finished one first."""
    same = [
        row
        for row in state.workspace().runs(run.project_id)
        if row.completion is None and _settings(row) == _settings(run)
    ]
    return next((row for row in same if row.status == "done"), next(iter(same), None))


@st.cache_resource(max_entries=16, show_spinner=False)
def changes(run_id: str, other_id: str | None) -> dict[str, Indices]:
    """Return the items whose answer is another than that of a run, or of the observed votes."""
    earlier = answers(other_id or run_id, observed=other_id is None)
    return completion_audit.changes(earlier, answers(run_id, observed=False))


def changed(run: RunRow) -> dict[str, Indices]:
    """Return the items whose answer the filled labels changed, as far as is known."""
    uncompleted = counterpart(run)
    is_done = uncompleted is not None and uncompleted.status == "done"
    return changes(run.id, uncompleted.id if uncompleted is not None and is_done else None)


def labelled(run_id: str) -> NDArray[np.bool_]:
    """Return which workers have a label in the run, given or filled in [W]."""
    filled = _completion(run_id)
    return np.asarray((filled.data.labels_per_worker > 0) | (filled.filled_per_worker > 0))


@st.cache_resource(max_entries=8, show_spinner="Cutting a piece out of the matrix …")
def matrix_piece(
    run_id: str, workers: tuple[int, ...], items: tuple[int, ...], order: Order
) -> Piece:
    """Return some workers' labels of some items, so ordered that structure shows.

    Items stand by truth, then by certainty; workers by likeness, or as they come.
    """
    result, filled = cache.result(run_id), _completion(run_id)
    columns = np.array(items, np.intp)
    columns = columns[np.lexsort((-result.confidence[columns], result.truth[columns]))]
    rows = np.array(workers, np.intp)
    if order == "alike":
        unordered = completion_audit.matrix_piece(filled, rows, columns)
        rows = rows[completion_audit.order_by_similarity(unordered.label)]
    cells = completion_audit.matrix_piece(filled, rows, columns)
    texts = _texts(run_id, rows, columns, cells)
    return Piece(workers=rows, items=columns, cells=cells, texts=texts)


def _texts(
    run_id: str, workers: Indices, items: Indices, cells: MatrixPiece
) -> NDArray[np.object_]:
    """Write what is shown when hovering over each cell [workers, items]."""
    result = cache.result(run_id)
    data = result.data
    worker_texts = [f"<b>{plain(data.workers[code], 40)}</b> on <b>" for code in workers]
    names = [*(plain(name, 40) for name in data.classes), "undecided"]
    item_texts = [
        f"{plain(data.items[code], 40)}</b><br>truth: {names[result.truth[code]]} "
        f"({result.confidence[code]:.0%} sure)<br>"
        for code in items
    ]
    texts = np.empty(cells.label.shape, dtype=object)
    for row, worker_text in enumerate(worker_texts):
        columns = zip(
            item_texts,
            cells.label[row].tolist(),
            cells.observed[row].tolist(),
            cells.probability[row].tolist(),
            strict=True,
        )
        texts[row] = [
            f"{worker_text}{item_text}"
            + (f"gave: {names[code]}" if given else f"filled in: {names[code]} ({sure:.0%} sure)")
            if code >= 0
            else ""
            for item_text, code, given, sure in columns
        ]
    return texts


def _settings(row: RunRow) -> tuple[object, ...]:
    """Return all that a run was asked for, but for the completion."""
    params = tuple(sorted((name, repr(value)) for name, value in row.params.items()))
    return (row.dataset_id, row.method, params, row.seed, row.excluded, row.warm_from)


def _completion(run_id: str) -> Completion:
    filled = completion(run_id)
    if filled is None:
        raise LookupError("This run has no completion")
    return filled
