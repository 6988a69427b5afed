"""What the attention page reads of a run: computed once for each choice, and kept by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.artefacts.attention import AttentionMap, Side
from crowdcore.artefacts.embedding import Embedding
from crowdcore.audit import attention as attention_audit
from crowdcore.audit.pairs import CrowdPairs, PairAgreement, compare_pairs, crowd_pairs
from dashboard import cache
from dashboard.charts.attention import times
from dashboard.charts.palette import plain

if TYPE_CHECKING:
    from crowdcore.data import Floats

Rule = Literal["alike", "links", "labels", "near"]
Colour = Literal["attention", "agreement"]

MAX_GROUPS = 12
"""Classes that an overview of items holds apart; the commonest ones."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerMap:
    """Some workers in the order they are shown, against each other [m, m]."""

    codes: NDArray[np.int64]  # [m]
    weights: Floats  # multiples of an even share, given by rows to columns
    agreement: PairAgreement
    texts: NDArray[np.object_]  # shown when hovering over a cell


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemGroups:
    """Items by the class that they are taken for."""

    classes: NDArray[np.intp]  # [G] class codes, in their order
    group: NDArray[np.int64]  # [N] index among the classes; -1 for none of them
    sizes: NDArray[np.int64]  # [G]
    weights: Floats  # [looking, looked at]


def attention(run_id: str) -> AttentionMap | None:
    """Return the attention of a run's method, if it has any."""
    return cache.result(run_id).artefact(AttentionMap)


def embedding(run_id: str) -> Embedding | None:
    """Return where a run's method places workers and items, if it does."""
    return cache.result(run_id).artefact(Embedding)


def active(run_id: str) -> NDArray[np.bool_]:
    """Return which workers have a label in the run [W]."""
    return np.asarray(cache.result(run_id).data.labels_per_worker > 0)


@st.cache_resource(max_entries=8, show_spinner="Going over the attention …")
def survey(run_id: str, side: Side) -> attention_audit.Survey:
    """Return what a side's attention looks like as a whole."""
    return attention_audit.survey(_attention(run_id), side)


def choose_workers(
    run_id: str, rule: Rule, max_workers: int, worker: int | None
) -> tuple[int, ...]:
    """Return at most so many workers with labels, by a rule; the chosen one is among them."""
    data = cache.result(run_id).data
    if rule == "alike":
        score = _likeness(run_id)
    elif rule == "near" and worker is not None:
        score = attention_audit.relative_weights(_attention(run_id), "workers", [worker])[0]
    elif rule == "labels":
        score = data.labels_per_worker.astype(np.float64)
    else:
        score = survey(run_id, "workers").peak.copy()
    score = np.where(active(run_id), score, -np.inf)
    if worker is not None:
        score[worker] = np.inf
    best = np.argsort(-score, kind="stable")[:max_workers]
    return tuple(np.sort(best[np.isfinite(score[best]) | (best == worker)]).tolist())


@st.cache_resource(max_entries=8, show_spinner="Comparing workers …")
def worker_map(run_id: str, shown: tuple[int, ...], colour: Colour) -> WorkerMap:
    """Return some workers against each other, so ordered that alike ones stand together."""
    codes = np.array(shown, np.int64)
    weights = attention_audit.relative_weights(_attention(run_id), "workers", codes, codes)
    pair_agreement = compare_pairs(cache.result(run_id), codes[:, None], codes)
    order = attention_audit.seriation(weights if colour == "attention" else pair_agreement.excess)
    grid = np.ix_(order, order)
    pair_agreement, weights = pair_agreement.select(grid), weights[grid]
    names = [plain(cache.result(run_id).data.workers[code], 40) for code in codes[order]]
    texts = _texts(names, weights, pair_agreement, beyond(run_id, pair_agreement))
    return WorkerMap(codes=codes[order], weights=weights, agreement=pair_agreement, texts=texts)


@st.cache_resource(max_entries=4, show_spinner="Comparing every two workers …")
def crowd(run_id: str) -> CrowdPairs:
    """Return every two workers who share enough items, the least explained by luck first."""
    return crowd_pairs(cache.result(run_id))


def most_alike(run_id: str, worker: int, max_workers: int) -> NDArray[np.int64]:
    """Return who answers most like a worker, among those with enough shared items."""
    pairs = crowd(run_id)
    rows = np.flatnonzero((pairs.first == worker) | (pairs.second == worker))[:max_workers]
    return pairs.first[rows] + pairs.second[rows] - worker


@st.cache_resource(max_entries=32, show_spinner=False)
def pairs(run_id: str, worker: int, others: tuple[int, ...]) -> PairAgreement:
    """Return how alike a worker is to some others."""
    return compare_pairs(cache.result(run_id), worker, np.array(others, np.int64))


@st.cache_resource(max_entries=4, show_spinner=False)
def crowd_weights(run_id: str, max_pairs: int) -> Floats:
    """Return the weights between the most alike pairs: given and received [2, pairs]."""
    crowd_pairs, weights = crowd(run_id), _attention(run_id)
    first, second = crowd_pairs.first[:max_pairs], crowd_pairs.second[:max_pairs]
    return np.stack(
        [
            attention_audit.relative_weights(weights, "workers", giver, receiver).diagonal()
            for giver, receiver in ((first, second), (second, first))
        ]
    )


def beyond(run_id: str, pair_agreement: PairAgreement) -> NDArray[np.bool_]:
    """Return which pairs are more alike than luck explains, among all pairs of the crowd."""
    return pair_agreement.beyond_luck(len(crowd(run_id).first))


@st.cache_resource(max_entries=8, show_spinner="Comparing items …")
def item_groups(run_id: str) -> ItemGroups:
    """Return the mean attention between the commonest classes of items."""
    result = cache.result(run_id)
    sizes = np.bincount(result.truth[result.truth >= 0], minlength=result.data.n_classes)
    classes = np.sort(np.argsort(-sizes, kind="stable")[:MAX_GROUPS])
    classes = classes[sizes[classes] > 0]
    index = np.full(result.data.n_classes + 1, -1, np.int64)  # the last is for undecided items
    index[classes] = np.arange(len(classes))
    group = index[result.truth]
    weights = attention_audit.group_means(_attention(run_id), "items", group, len(classes))
    return ItemGroups(classes=classes, group=group, sizes=sizes[classes], weights=weights)


@st.cache_resource(max_entries=16, show_spinner="Looking for links …")
def item_links(run_id: str, row: int, column: int, max_links: int) -> attention_audit.Links:
    """Return the strongest links from the items of one group to those of another."""
    group = item_groups(run_id).group
    looking, looked_at = np.flatnonzero(group == row), np.flatnonzero(group == column)
    return attention_audit.links_between(
        _attention(run_id), "items", looking, looked_at, max_links=max_links
    )


def _attention(run_id: str) -> AttentionMap:
    weights = attention(run_id)
    if weights is None:
        raise LookupError("This run has no attention")
    return weights


def _likeness(run_id: str) -> Floats:
    """How far up each worker first stands among the most alike pairs; the busiest come after."""
    alike_pairs, labels = crowd(run_id), cache.result(run_id).data.labels_per_worker
    rank = np.full(len(labels), len(alike_pairs.first))
    for codes in (alike_pairs.first, alike_pairs.second):
        np.minimum.at(rank, codes, np.arange(len(codes)))
    score: Floats = -rank + labels / (1.0 + labels.max())
    return score


def _texts(
    names: list[str],
    weights: Floats,
    pair_agreement: PairAgreement,
    is_beyond: NDArray[np.bool_],
) -> NDArray[np.object_]:
    """Write what is shown when hovering over each cell [m, m]."""
    m = len(names)
    texts: NDArray[Any] = np.empty((m, m), dtype=object)
    share, n_shared = pair_agreement.share, pair_agreement.n_shared
    for i in range(m):
        for j in range(m):
            lines = [
                f"<b>{names[i]}</b> looks at <b>{names[j]}</b>",
                f"{times(weights[i, j])} an even share",
            ]
            if i != j and n_shared[i, j]:
                lines += [
                    f"same label on {share[i, j]:.0%} of {n_shared[i, j]:,} shared items",
                    f"{pair_agreement.expected_share[i, j]:.0%} to expect if each works alone",
                ]
            elif i != j:
                lines.append("no shared item")
            if is_beyond[i, j]:
                lines.append("<b>more alike than that explains</b>")
            texts[i, j] = "<br>".join(lines)
    return texts
