"""Workers' spans beside the truths that the others alone would give: kinds of error, counted."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdcore.annotations import AnnotationOrder, annotation_order
from crowdcore.data import CrowdData
from crowdcore.spans import Spans, TagSet, find_spans

if TYPE_CHECKING:
    from crowdcore.results.sequences import SequenceResult

OUTCOMES = ("exact", "wrong type", "edges", "split", "fused", "invented")
"""What a worker's span can be, beside the truths."""

EXACT, WRONG_TYPE, EDGES, SPLIT, FUSED, INVENTED = range(len(OUTCOMES))

EDGE_ERRORS = ("early start", "late start", "early end", "late end")
"""How the edges of a span can be off; a span may have two."""

LABELS_PER_CHUNK = 500_000
"""Labels whose truths without their worker are inferred at a time."""

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SpanComparison:
    """Every worker's spans beside the truths of the same texts.

    Positions count in the order of annotations: one annotation after the other.

    Parameters
    ----------
    order
        The annotations.
    given, expected
        The spans that workers marked, and those that they should have marked.
    given_annotation, expected_annotation
        The annotation of each span.
    outcome
        What became of each given span, an index of `OUTCOMES`.
    edges
        Which of `EDGE_ERRORS` each given span has [M, 4].
    truth_type
        The type of a true span that a given one overlaps; -1 where there is none.
    missed
        Which expected spans no given one overlaps.
    compared
        Which annotations can be compared: those of texts that somebody else annotated too.
    """

    order: AnnotationOrder
    given: Spans
    expected: Spans
    given_annotation: Codes
    expected_annotation: Codes
    outcome: NDArray[np.int8]
    edges: Flags
    truth_type: Codes
    missed: Flags
    compared: Flags


def truths_without_worker(result: SequenceResult) -> NDArray[np.int64]:
    """Infer, for each annotation, what the text's tags are without it.

    The result's beliefs give a model of workers, of the chain and of words; the emissions of each
    token lose the worker's own label, and the likeliest tags of the text are found anew.

    Parameters
    ----------
    result
        The truths.

    Returns
    -------
    numpy.ndarray
        The code of a tag for each label [L], in the order of annotations.
    """
    import torch

    from crowdcore.engine.labels import Labels
    from crowdcore.engine.texts.chain import ChainLayout, viterbi
    from crowdcore.engine.texts.sequence_model import SequenceModel

    data = result.data
    model = SequenceModel(Labels(data, torch.device("cpu")), words="token" in data.details)
    posterior = torch.as_tensor(result.posterior, dtype=model.symbols.dtype)
    tables = model.m_step(posterior[torch.as_tensor(model.layout.order)])
    emission = model.emission(tables)
    order = model.order
    tags = np.empty(data.n_labels, np.int64)
    n_symbols = model.n_before * model.n_tags
    cuts = np.searchsorted(order.offsets, np.arange(0, data.n_labels, LABELS_PER_CHUNK))
    bounds = np.unique(np.append(cuts, len(order)))
    for first, last in itertools.pairwise(bounds):
        begin, end = order.offsets[first], order.offsets[last]
        layout = ChainLayout(order.offsets[first : last + 1] - begin)
        rows = layout.order + begin
        label = order.label[rows]
        key = data.worker[label].astype(np.int64) * n_symbols + model.symbol[label]
        others = emission[torch.as_tensor(model.layout.rank[order.item[rows]])]
        others = others - tables.worker[torch.as_tensor(key)]
        path = viterbi(layout, others, tables.transition, tables.start)
        tags[begin:end] = path.numpy()[layout.rank]
    return tags


def compare(data: CrowdData, tags: NDArray[np.integer]) -> SpanComparison:
    """Compare every annotation with tags that are held to be right.

    Parameters
    ----------
    data
        Labels of the kind "sequences".
    tags
        The right tag of each label's token [L], in the order of annotations.

    Returns
    -------
    SpanComparison
    """
    tag_set, order = TagSet(data.classes), annotation_order(data)
    starts = order.offsets[:-1]
    given = find_spans(data.label[order.label], starts, tag_set)
    expected = find_spans(tags, starts, tag_set)
    outcome, edges, truth_type, hit = _outcomes(given, expected)
    per_text = np.bincount(order.text, minlength=len(np.asarray(data.offsets)) - 1)
    return SpanComparison(
        order=order,
        given=given,
        expected=expected,
        given_annotation=np.searchsorted(order.offsets, given.start, side="right") - 1,
        expected_annotation=np.searchsorted(order.offsets, expected.start, side="right") - 1,
        outcome=outcome,
        edges=edges,
        truth_type=truth_type,
        missed=~hit,
        compared=per_text[order.text] > 1,
    )


def _outcomes(given: Spans, expected: Spans) -> tuple[NDArray[np.int8], Flags, Codes, Flags]:
    """What each given span is, its edge errors, the type it should have; and which were hit."""
    n_given, n_expected = len(given), len(expected)
    first = np.searchsorted(expected.end, given.start, side="right")
    last = np.searchsorted(expected.start, given.end, side="left")
    n_pairs = np.maximum(last - first, 0)
    mine = np.repeat(np.arange(n_given), n_pairs)
    theirs = np.arange(n_pairs.sum()) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    theirs = theirs + first[mine] if len(mine) else theirs.astype(np.int64)
    same_type = given.type[mine] == expected.type[theirs]
    same_start = given.start[mine] == expected.start[theirs]
    same_end = given.end[mine] == expected.end[theirs]
    exact = np.zeros(n_given, bool)
    exact[mine[same_type & same_start & same_end]] = True
    same = np.bincount(mine[same_type], minlength=n_given)
    pieces = np.bincount(theirs[same_type], minlength=n_expected)
    split = np.zeros(n_given, bool)
    split[mine[same_type & (pieces[theirs] > 1)]] = True
    outcome = np.select(
        [exact, n_pairs == 0, same == 0, same > 1, split],
        [EXACT, INVENTED, WRONG_TYPE, FUSED, SPLIT],
        EDGES,
    ).astype(np.int8)
    edges = np.zeros((n_given, len(EDGE_ERRORS)), bool)
    off = same_type & (outcome[mine] == EDGES)
    start_gap = given.start[mine] - expected.start[theirs]
    end_gap = given.end[mine] - expected.end[theirs]
    for column, wrong in enumerate((start_gap < 0, start_gap > 0, end_gap < 0, end_gap > 0)):
        edges[mine[off & wrong], column] = True
    truth_type = np.full(n_given, -1)
    truth_type[mine] = expected.type[theirs]
    truth_type[mine[same_type]] = expected.type[theirs][same_type]
    hit = np.zeros(n_expected, bool)
    hit[theirs] = True
    return outcome, edges, truth_type, hit
