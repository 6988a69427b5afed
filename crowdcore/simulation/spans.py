"""Crowds that mark spans in texts, with a known truth: who misses, invents, shifts and mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from crowdcore.data import Codes, CrowdData, DataError
from crowdcore.spans import Spans, TagSet, spans_to_tags

SpanCharacter = Literal[
    "expert",
    "good",
    "misses much",
    "over-marks",
    "wrong types",
    "sloppy edges",
    "marks nothing",
    "random",
]
SPAN_CHARACTERS: tuple[SpanCharacter, ...] = get_args(SpanCharacter)


@dataclass(frozen=True, kw_only=True)
class SpanErrors:
    """How often a worker makes each kind of error.

    Parameters
    ----------
    miss
        A span is not marked.
    shift
        An edge is set a token too early or too late.
    split
        A span of several tokens is marked as two.
    fuse
        Two spans of one type with at most two tokens between them are marked as one.
    wrong_type
        A span gets another type: always the same other one for this worker.
    invent
        Spans per text that are none.
    shuffled
        The worker's spans stand at places that have nothing to do with the text.
    """

    miss: float = 0.1
    shift: float = 0.05
    split: float = 0.02
    fuse: float = 0.1
    wrong_type: float = 0.05
    invent: float = 0.05
    shuffled: bool = False


ERRORS: Mapping[SpanCharacter, SpanErrors] = {
    "expert": SpanErrors(miss=0.03, shift=0.01, split=0.0, fuse=0.02, wrong_type=0.01, invent=0.01),
    "good": SpanErrors(miss=0.15, shift=0.06, wrong_type=0.06, invent=0.05),
    "misses much": SpanErrors(miss=0.7),
    "over-marks": SpanErrors(invent=3.0),
    "wrong types": SpanErrors(wrong_type=0.6),
    "sloppy edges": SpanErrors(shift=0.6, split=0.1),
    "marks nothing": SpanErrors(miss=1.0, invent=0.0),
    "random": SpanErrors(shuffled=True),
}
"""The errors of each character."""

WORDS_PER_TYPE, COMMON_WORDS, TEXTS_PER_DOCUMENT = 60, 800, 10
NEAR_TOKENS = 2
"""Spans that are at most so far apart may be fused."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SpanSimulation:
    """Simulated annotations of texts, and what the workers are."""

    data: CrowdData  # gold is the truth of every token
    truth: Codes  # [N]
    character: tuple[SpanCharacter, ...]  # [W]


def simulate_spans(
    *,
    texts: int = 300,
    workers: int = 20,
    types: int = 3,
    annotations_per_text: int = 5,
    mean_length: int = 14,
    spans_per_text: float = 1.5,
    characters: Mapping[SpanCharacter, int] | None = None,
    seed: int = 0,
) -> SpanSimulation:
    """Simulate a crowd that marks spans.

    Parameters
    ----------
    texts, workers, types
        How many there are.
    annotations_per_text
        How many workers annotate each text.
    mean_length
        Tokens of a text, on average.
    spans_per_text
        Spans of a text, on average.
    characters
        How many workers are of each character; the others are good.
    seed
        From which all random numbers come.

    Returns
    -------
    SpanSimulation
        The data, with the truths as gold, and what each worker is.

    Raises
    ------
    DataError
        If the numbers do not fit together.

    Examples
    --------
    >>> simulate_spans(texts=20, workers=6, annotations_per_text=3).data.kind
    'sequences'
    """
    chosen = dict(characters or {})
    if min(texts, workers, types, annotations_per_text, mean_length) < 1:
        raise DataError("There must be at least one of each")
    if annotations_per_text > workers or sum(chosen.values()) > workers:
        raise DataError(
            f"There are only {workers} workers", fix="Ask for more workers, or for fewer others."
        )
    rng = np.random.default_rng(seed)
    names: list[SpanCharacter] = [name for name, n in chosen.items() for _ in range(n)]
    names += ["good"] * (workers - len(names))
    character = tuple(names[index] for index in rng.permutation(workers))
    tag_set = TagSet.of_types([f"type{number}" for number in range(1, types + 1)])
    lengths = 1 + rng.poisson(mean_length - 1, texts)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    truth = [_draw_truth(rng, int(n), types, spans_per_text) for n in lengths]
    confused = rng.integers(1, max(2, types), workers)  # the type that a worker mistakes for
    item, worker, label = [], [], []
    for text, spans in enumerate(truth):
        who = rng.choice(workers, annotations_per_text, replace=False)
        for person in who.tolist():
            errors = ERRORS[character[person]]
            sizes = int(lengths[text]), types
            marks = _mark(rng, spans, sizes, errors, int(confused[person]))
            item.append(np.arange(offsets[text], offsets[text + 1]))
            worker.append(np.full(lengths[text], person))
            label.append(spans_to_tags(_as_spans(marks), int(lengths[text]), tag_set))
    tags = np.concatenate(
        [
            spans_to_tags(_as_spans(spans), int(n), tag_set)
            for spans, n in zip(truth, lengths, strict=True)
        ]
    )
    text_names = [f"text {number}" for number in range(1, texts + 1)]
    documents = [f"document {1 + number // TEXTS_PER_DOCUMENT}" for number in range(texts)]
    data = CrowdData(
        item=np.concatenate(item),
        worker=np.concatenate(worker),
        label=np.concatenate(label),
        items=tuple(
            f"{name}:{position}"
            for name, n in zip(text_names, lengths.tolist(), strict=True)
            for position in range(n)
        ),
        workers=tuple(f"w{number:0{len(str(workers))}d}" for number in range(1, workers + 1)),
        classes=tag_set.classes,
        kind="sequences",
        gold=tags,
        offsets=offsets,
        details={
            "token": _draw_words(rng, tags, tag_set),
            "text": tuple(np.repeat(text_names, lengths).tolist()),
            "document": tuple(np.repeat(documents, lengths).tolist()),
        },
    )
    return SpanSimulation(data=data, truth=tags, character=character)


Mark = tuple[int, int, int]
"""First token, the one after the last, and type."""


def _as_spans(marks: Sequence[Mark]) -> Spans:
    columns = np.array(sorted(marks), np.int64).reshape(-1, 3).T
    return Spans(*columns)


def _place(rng: np.random.Generator, taken: np.ndarray, size: int) -> int | None:
    """A free stretch of so many tokens; None where there is hardly any."""
    for _ in range(8):
        start = int(rng.integers(0, max(1, len(taken) - size + 1)))
        if start + size <= len(taken) and not taken[start : start + size].any():
            return start
    return None


def _draw_truth(rng: np.random.Generator, length: int, types: int, mean: float) -> list[Mark]:
    taken, marks = np.zeros(length, bool), []
    for _ in range(rng.poisson(mean)):
        size = int(min(1 + rng.geometric(0.5) - 1, length)) or 1
        start = _place(rng, taken, size)
        if start is not None:
            taken[start : start + size] = True
            marks.append((start, start + size, int(rng.integers(types))))
    return sorted(marks)


def _mark(
    rng: np.random.Generator,
    truth: Sequence[Mark],
    sizes: tuple[int, int],
    errors: SpanErrors,
    confused: int,
) -> list[Mark]:
    """What a worker marks in a text of so many tokens, where there are so many types."""
    length, types = sizes
    if errors.shuffled:
        taken, marks = np.zeros(length, bool), []
        for begin, end, _ in truth:
            start = _place(rng, taken, end - begin)
            if start is not None:
                taken[start : start + end - begin] = True
                marks.append((start, start + end - begin, int(rng.integers(types))))
        return marks
    marks = []
    for begin, end, name in truth:
        if rng.random() < errors.miss:
            continue
        given = (name + confused) % types if rng.random() < errors.wrong_type else name
        near = marks and marks[-1][2] == given and begin - marks[-1][1] <= NEAR_TOKENS
        if near and rng.random() < errors.fuse:
            marks[-1] = (marks[-1][0], end, given)
        elif end - begin > 1 and rng.random() < errors.split:
            middle = int(rng.integers(begin + 1, end))
            marks += [(begin, middle, given), (middle, end, given)]
        else:
            marks.append((*_shifted(rng, begin, end, length, errors.shift), given))
    marks = _without_overlap(marks)
    taken = np.zeros(length, bool)
    for begin, end, _ in marks:
        taken[begin:end] = True
    for _ in range(rng.poisson(errors.invent)):
        start = _place(rng, taken, 1)
        if start is not None:
            taken[start] = True
            marks.append((start, start + 1, int(rng.integers(types))))
    return sorted(marks)


def _shifted(
    rng: np.random.Generator, begin: int, end: int, length: int, share: float
) -> tuple[int, int]:
    if rng.random() < share:
        begin = min(max(0, begin + int(rng.choice([-1, 1]))), end - 1)
    if rng.random() < share:
        end = max(begin + 1, min(length, end + int(rng.choice([-1, 1]))))
    return begin, end


def _without_overlap(marks: Sequence[Mark]) -> list[Mark]:
    kept: list[Mark] = []
    for begin, end, name in sorted(marks):
        start = max(begin, kept[-1][1]) if kept else begin
        if start < end:
            kept.append((start, end, name))
    return kept


def _draw_words(rng: np.random.Generator, tags: np.ndarray, tag_set: TagSet) -> tuple[str, ...]:
    """Words that say something about their type: some belong to one, most are common."""
    common = np.minimum(rng.zipf(1.3, len(tags)), COMMON_WORDS)
    own = rng.integers(WORDS_PER_TYPE, size=len(tags))
    types = tag_set.type_of[tags]
    telling = (types >= 0) & (rng.random(len(tags)) < 0.7)  # noqa: PLR2004  (of the words in spans)
    return tuple(
        f"{tag_set.types[name].capitalize()}word{word}" if tells else f"word{other}"
        for name, word, other, tells in zip(
            types.tolist(), own.tolist(), common.tolist(), telling.tolist(), strict=True
        )
    )
