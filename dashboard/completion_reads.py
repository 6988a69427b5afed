"""What the completion page reads of a run: computed once for each choice, and kept by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.artefacts.completion import Completion
from crowdcore.audit import completion as audit
from dashboard import reads, state
from dashboard.charts.palette import plain

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.completion import Against, Answers, Cells, Places, Summary
    from crowdcore.workspace import RunRow

Pick = Literal["drawn", "unsure", "changed"]
Order = Literal["alike", "labels"]

FEWEST = 5
"""Labels to compare, below which a worker's quality says nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """A piece of the matrix in the order it is shown, [workers, items]."""

    workers: Places
    items: Places
    cells: Cells
    texts: NDArray[np.object_]  # what hovering over a cell tells


@st.cache_resource(max_entries=4, show_spinner=False)
def completion(run_id: str) -> Completion | None:
    """Return what a run filled in before it inferred truths, if it did."""
    return Completion.of(reads.result(run_id))


@st.cache_resource(max_entries=8, show_spinner="Counting the filled labels …")
def summary(run_id: str) -> Summary:
    """Return how much was filled in, with what, and how surely."""
    return audit.summary(_completion(run_id))


@st.cache_resource(max_entries=8, show_spinner="Comparing workers before and after …")
def quality(run_id: str, against: Against) -> pd.DataFrame:
    """Return the quality of workers' own labels and of the completed ones, with their verdicts."""
    frame = audit.worker_quality(reads.result(run_id), _completion(run_id), against)
    return frame.assign(verdict=reads.workers(run_id)["verdict"].to_numpy())


def against(run: RunRow) -> Against:
    """Return what labels are held to: gold where there is some, unless the URL asks otherwise."""
    gold = bool(reads.result(run.id).data.has_gold.any())
    return "gold" if gold and state.selection("against") != "truths" else "truths"


@st.cache_resource(max_entries=8, show_spinner="Comparing truths …")
def answers(run_id: str, *, observed: bool) -> Answers:
    """Return a run's answers; `observed` counts the votes on its observed labels instead."""
    result = reads.result(run_id)
    return audit.votes_of(result.data) if observed else audit.answers_of(result)


def before(run: RunRow) -> Answers:
    """Return the answers without filled labels: of the same method, else of a vote."""
    other = counterpart(run)
    if other is None or other.status != "done":
        return answers(run.id, observed=True)
    return answers(other.id, observed=False)


def counterpart(run: RunRow) -> RunRow | None:
    """Return the newest run that differs only in that it fills nothing in: a finished one first."""
    same = [
        row
        for row in state.workspace().runs(run.project_id)
        if row.completion is None and _asks(row) == _asks(run)
    ]
    return next((row for row in same if row.status == "done"), next(iter(same), None))


@st.cache_resource(max_entries=16, show_spinner=False)
def changes(run_id: str, other_id: str | None) -> dict[str, Places]:
    """Return the items whose answer is another than that of a run, or of the observed votes."""
    earlier = answers(other_id or run_id, observed=other_id is None)
    return audit.changes(earlier, answers(run_id, observed=False))


def changed(run: RunRow) -> dict[str, Places]:
    """Return the items whose answer the filled labels changed, as far as is known."""
    other = counterpart(run)
    done = other is not None and other.status == "done"
    return changes(run.id, other.id if other is not None and done else None)


def labelled(run_id: str) -> NDArray[np.bool_]:
    """Return which workers have a label in the run, given or filled in [W]."""
    found = _completion(run_id)
    return np.asarray((found.data.labels_per_worker > 0) | (found.filled_per_worker > 0))


@st.cache_resource(max_entries=8, show_spinner="Cutting a piece out of the matrix …")
def piece(run_id: str, workers: tuple[int, ...], items: tuple[int, ...], order: Order) -> Piece:
    """Return some workers' labels of some items, so ordered that structure shows.

    Items stand by truth, then by certainty; workers by likeness, or as they come.
    """
    result, found = reads.result(run_id), _completion(run_id)
    columns = np.array(items, np.intp)
    columns = columns[np.lexsort((-result.confidence[columns], result.truth[columns]))]
    rows = np.array(workers, np.intp)
    if order == "alike":
        rows = rows[audit.by_likeness(audit.cells(found, rows, columns).label)]
    cut = audit.cells(found, rows, columns)
    return Piece(workers=rows, items=columns, cells=cut, texts=_texts(run_id, rows, columns, cut))


def _texts(run_id: str, workers: Places, items: Places, cells: Cells) -> NDArray[np.object_]:
    result = reads.result(run_id)
    data = result.data
    people = [f"<b>{plain(data.workers[code], 40)}</b> on <b>" for code in workers]
    names = [*(plain(name, 40) for name in data.classes), "undecided"]
    things = [
        f"{plain(data.items[code], 40)}</b><br>truth: {names[result.truth[code]]} "
        f"({result.confidence[code]:.0%} sure)<br>"
        for code in items
    ]
    texts = np.empty(cells.label.shape, dtype=object)
    for row, person in enumerate(people):
        parts = zip(
            things,
            cells.label[row].tolist(),
            cells.observed[row].tolist(),
            cells.probability[row].tolist(),
            strict=True,
        )
        texts[row] = [
            f"{person}{thing}"
            + (f"gave: {names[code]}" if seen else f"filled in: {names[code]} ({sure:.0%} sure)")
            if code >= 0
            else ""
            for thing, code, seen, sure in parts
        ]
    return texts


def _asks(row: RunRow) -> tuple[object, ...]:
    """What a run was asked for, but for the completion."""
    params = tuple(sorted((name, repr(value)) for name, value in row.params.items()))
    return (row.dataset_id, row.method, params, row.seed, row.excluded, row.warm_from)


def _completion(run_id: str) -> Completion:
    found = completion(run_id)
    if found is None:
        raise LookupError("This run has no completion")
    return found
