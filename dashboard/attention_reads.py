"""What the attention page reads of a run: computed once for each choice, and kept by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.artefacts.attention import AttentionMap, Side
from crowdcore.artefacts.embedding import Embedding
from crowdcore.audit import attention as audit
from crowdcore.audit.pairs import Agreement, CrowdPairs, agreement, crowd_pairs
from dashboard import reads
from dashboard.charts.attention import times
from dashboard.charts.palette import plain

if TYPE_CHECKING:
    from crowdcore.data import Floats

Rule = Literal["alike", "links", "labels", "near"]
Colour = Literal["attention", "agreement"]

MOST_GROUPS = 12
"""Classes that an overview of items holds apart; the commonest ones."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerMap:
    """Some workers in the order they are shown, against each other [m, m]."""

    codes: NDArray[np.int64]  # [m]
    weights: Floats  # multiples of an even share, given by rows to columns
    agreement: Agreement
    texts: NDArray[np.object_]  # what hovering over a cell tells


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemGroups:
    """Items by the class that they are taken for."""

    classes: NDArray[np.intp]  # [G] class codes, in their order
    group: NDArray[np.int64]  # [N] places among the classes; -1 for none of them
    sizes: NDArray[np.int64]  # [G]
    weights: Floats  # [looking, looked at]


def attention(run_id: str) -> AttentionMap | None:
    """Return the attention of a run's method, if it has any."""
    return AttentionMap.of(reads.result(run_id))


def embedding(run_id: str) -> Embedding | None:
    """Return where a run's method places workers and items, if it does."""
    return Embedding.of(reads.result(run_id))


def active(run_id: str) -> NDArray[np.bool_]:
    """Return which workers have a label in the run [W]."""
    return np.asarray(reads.result(run_id).data.labels_per_worker > 0)


@st.cache_resource(max_entries=8, show_spinner="Going over the attention …")
def survey(run_id: str, side: Side) -> audit.Survey:
    """Return what a side's attention looks like as a whole."""
    return audit.survey(_attention(run_id), side)


def choose_workers(run_id: str, rule: Rule, most: int, worker: int | None) -> tuple[int, ...]:
    """Return at most so many workers with labels, by a rule; the chosen one is among them."""
    data = reads.result(run_id).data
    if rule == "alike":
        score = _likeness(run_id)
    elif rule == "near" and worker is not None:
        score = audit.relative(_attention(run_id), "workers", [worker])[0]
    elif rule == "labels":
        score = data.labels_per_worker.astype(np.float64)
    else:
        score = survey(run_id, "workers").peak.copy()
    score = np.where(active(run_id), score, -np.inf)
    if worker is not None:
        score[worker] = np.inf
    best = np.argsort(-score, kind="stable")[:most]
    return tuple(np.sort(best[np.isfinite(score[best]) | (best == worker)]).tolist())


@st.cache_resource(max_entries=8, show_spinner="Comparing workers …")
def worker_map(run_id: str, shown: tuple[int, ...], colour: Colour) -> WorkerMap:
    """Return some workers against each other, so ordered that alike ones stand together."""
    codes = np.array(shown, np.int64)
    weights = audit.relative(_attention(run_id), "workers", codes, codes)
    found = agreement(reads.result(run_id), codes[:, None], codes)
    order = audit.seriation(weights if colour == "attention" else found.excess)
    grid = np.ix_(order, order)
    found, weights = found.at(grid), weights[grid]
    names = [plain(reads.result(run_id).data.workers[code], 40) for code in codes[order]]
    texts = _texts(names, weights, found, beyond(run_id, found))
    return WorkerMap(codes=codes[order], weights=weights, agreement=found, texts=texts)


@st.cache_resource(max_entries=4, show_spinner="Comparing every two workers …")
def crowd(run_id: str) -> CrowdPairs:
    """Return every two workers who share enough items, the least explained by luck first."""
    return crowd_pairs(reads.result(run_id))


def most_alike(run_id: str, worker: int, most: int) -> NDArray[np.int64]:
    """Return who answers most like a worker, among those with enough shared items."""
    found = crowd(run_id)
    own = np.flatnonzero((found.one == worker) | (found.other == worker))[:most]
    return found.one[own] + found.other[own] - worker


@st.cache_resource(max_entries=32, show_spinner=False)
def pairs(run_id: str, one: int, others: tuple[int, ...]) -> Agreement:
    """Return how alike one worker is to some others."""
    return agreement(reads.result(run_id), one, np.array(others, np.int64))


@st.cache_resource(max_entries=4, show_spinner=False)
def crowd_weights(run_id: str, most: int) -> Floats:
    """Return the weights between the most alike pairs: there and back [2, pairs]."""
    found, seen = crowd(run_id), _attention(run_id)
    one, other = found.one[:most], found.other[:most]
    there, back = (
        audit.relative(seen, "workers", a, b).diagonal() for a, b in ((one, other), (other, one))
    )
    return np.stack([there, back])


def beyond(run_id: str, alike: Agreement) -> NDArray[np.bool_]:
    """Return which pairs are more alike than luck explains, among all pairs of the crowd."""
    return alike.beyond(len(crowd(run_id).one))


@st.cache_resource(max_entries=8, show_spinner="Comparing items …")
def item_groups(run_id: str) -> ItemGroups:
    """Return the mean attention between the commonest classes of items."""
    result = reads.result(run_id)
    sizes = np.bincount(result.truth[result.truth >= 0], minlength=result.data.n_classes)
    classes = np.sort(np.argsort(-sizes, kind="stable")[:MOST_GROUPS])
    classes = classes[sizes[classes] > 0]
    place = np.full(result.data.n_classes + 1, -1, np.int64)  # the last is for undecided items
    place[classes] = np.arange(len(classes))
    group = place[result.truth]
    weights = audit.group_means(_attention(run_id), "items", group, len(classes))
    return ItemGroups(classes=classes, group=group, sizes=sizes[classes], weights=weights)


@st.cache_resource(max_entries=16, show_spinner="Looking for links …")
def item_links(run_id: str, row: int, column: int, most: int) -> audit.Links:
    """Return the strongest links from the items of one group to those of another."""
    group = item_groups(run_id).group
    ones, others = np.flatnonzero(group == row), np.flatnonzero(group == column)
    return audit.between(_attention(run_id), "items", ones, others, most=most)


def _attention(run_id: str) -> AttentionMap:
    found = attention(run_id)
    if found is None:
        raise LookupError("This run has no attention")
    return found


def _likeness(run_id: str) -> Floats:
    """How far up each worker first stands among the most alike pairs; the busiest come after."""
    found, labels = crowd(run_id), reads.result(run_id).data.labels_per_worker
    rank = np.full(len(labels), len(found.one))
    for codes in (found.one, found.other):
        np.minimum.at(rank, codes, np.arange(len(codes)))
    score: Floats = -rank + labels / (1.0 + labels.max())
    return score


def _texts(
    names: list[str], weights: Floats, alike: Agreement, beyond: NDArray[np.bool_]
) -> NDArray[np.object_]:
    m = len(names)
    texts: NDArray[Any] = np.empty((m, m), dtype=object)
    share = alike.share
    for i in range(m):
        for j in range(m):
            words = f"<b>{names[i]}</b> looks at <b>{names[j]}</b><br>"
            words += f"{times(weights[i, j])} an even share"
            if i != j and alike.shared[i, j]:
                words += (
                    f"<br>same label on {share[i, j]:.0%} of {alike.shared[i, j]:,} shared items"
                    f"<br>{alike.apart[i, j]:.0%} to expect if each works alone"
                )
            elif i != j:
                words += "<br>no shared item"
            texts[i, j] = words + (
                "<br><b>more alike than that explains</b>" if beyond[i, j] else ""
            )
    return texts
