"""Annotations of texts: who gave the tokens of which text what, and the spans that they marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData
from crowdcore.errors import DataError
from crowdcore.spans import Spans, TagSet, find_spans

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AnnotationOrder:
    """The labels of sequences, one annotation after the other: who gave which text what.

    Parameters
    ----------
    label
        The index of each label, annotation by annotation and token by token [L].
    offsets
        Where each annotation starts in this order, and the last one ends [A + 1].
    worker, text
        Who gave each annotation, and of which text [A].
    item
        The token of each label, in this order [L].
    """

    label: Codes
    offsets: Codes
    worker: Codes
    text: Codes
    item: Codes

    def __len__(self) -> int:
        return len(self.worker)

    def previous(self, tags: NDArray[Any], outside: int) -> NDArray[Any]:
        """Return the tag that the worker gave the token before [L], in this order; O at first."""
        ordered = np.asarray(tags)[self.label]
        before = np.concatenate([[outside], ordered[:-1]]).astype(ordered.dtype)
        before[self.offsets[:-1]] = outside
        return before


def annotation_order(data: CrowdData) -> AnnotationOrder:
    """Put the labels of sequences into the order of annotations.

    Parameters
    ----------
    data
        Labels of the kind "sequences".

    Returns
    -------
    AnnotationOrder
        A worker's labels of one text that leave out tokens make several annotations.
    """
    if data.offsets is None:
        raise DataError("Only sequences have annotations of texts")
    order = np.lexsort((data.item, data.worker))
    item, worker = data.item[order].astype(np.int64), data.worker[order].astype(np.int64)
    text = np.searchsorted(data.offsets, item, side="right") - 1
    follows = (np.diff(item) == 1) & (np.diff(worker) == 0) & (np.diff(text) == 0)
    starts = np.flatnonzero(np.concatenate([[True], ~follows]))
    offsets = np.append(starts, len(order))
    return AnnotationOrder(order, offsets, worker[starts], text[starts], item)


@dataclass(frozen=True, eq=False)
class AnnotationSpans:
    """Every span that a worker marked.

    Parameters
    ----------
    spans
        The spans, worker by worker; positions are tokens of the data.
    worker, text
        Who marked each span, and in which text [M].
    order
        The annotations that they come from.
    annotations_per_text
        How many workers annotated each text [S].
    """

    spans: Spans
    worker: Codes
    text: Codes
    order: AnnotationOrder
    annotations_per_text: Codes


def annotation_spans(data: CrowdData, tag_set: TagSet) -> AnnotationSpans:
    """Find every span that a worker marked.

    Parameters
    ----------
    data
        Labels of the kind "sequences".
    tag_set
        What their classes mean.

    Returns
    -------
    AnnotationSpans
    """
    order = annotation_order(data)
    marked = find_spans(data.label[order.label], order.offsets[:-1], tag_set)
    annotation = np.searchsorted(order.offsets, marked.start, side="right") - 1
    spans = Spans(order.item[marked.start], order.item[marked.end - 1] + 1, marked.type)
    n_texts = len(np.asarray(data.offsets)) - 1
    return AnnotationSpans(
        spans,
        order.worker[annotation],
        order.text[annotation],
        order,
        np.bincount(order.text, minlength=n_texts),
    )


def vote_by_token(
    data: CrowdData, *, ties: Literal["spans", "outside"] = "spans"
) -> NDArray[np.int32]:
    """Return the tag that most workers gave each token, as it is, valid or not.

    Parameters
    ----------
    data
        Labels of the kind "sequences".
    ties
        Who wins a tie: B before I before O, or O before I before B; among tags of one sort the
        first class.

    Returns
    -------
    numpy.ndarray
        The code of a tag for each token [N]; O where nobody annotated it.
    """
    tag_set = TagSet(data.classes)
    rank = 2 * tag_set.is_begin + 1 * tag_set.is_inside
    # Votes are whole numbers, so less than half a vote decides nothing but ties.
    lean = (0.1 if ties == "spans" else -0.1) * rank - 1e-6 * np.arange(data.n_classes)
    winner = (data.votes + lean).argmax(1)
    winner[data.labels_per_item == 0] = tag_set.outside
    return np.asarray(winner, np.int32)
