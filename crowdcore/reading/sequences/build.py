"""Annotated texts become data: tokens are items, tags are classes, and findings are reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat

import numpy as np

from crowdcore.codes import codes_by_name, natural_order
from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError
from crowdcore.reading.columns.roles import Roles
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.health import HealthReport
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.reading.sequences.finding_kinds import SPAN_FINDINGS
from crowdcore.reading.sequences.tags import (
    normalise_tags,
    sequences_of,
    strip_tags_in_tokens,
)
from crowdcore.spans import OUTSIDE, TagSet

_WARNINGS = frozenset(
    {"overlapping_spans", "tags_in_tokens", "different_text", "empty_spans", "unmarked_texts"}
)

_DONE = {
    "tag_scheme": "They were read as BIO.",
    "begun_inside": "They begin a span.",
    "partial_words": "Words that are covered in part were left out of the span.",
    "overlapping_spans": "The longest was kept.",
    "tags_in_tokens": "The endings were cut off.",
    "repeated_annotations": "The last was kept.",
}

_OPTIONS: dict[str, dict[str, str]] = {
    "tag_scheme": {"tag_scheme": "bio"},
    "partial_words": {"partial_words": "take"},
    "overlapping_spans": {"overlaps": "first"},
    "tags_in_tokens": {"tags_in_tokens": "keep"},
}


def build(
    texts: Sequence[AnnotatedText], *, source: str, title: str, cleaning: Cleaning, tally: Tally
) -> CrowdData:
    """Make data of annotated texts.

    Parameters
    ----------
    texts
        What a format gave; tags are put into BIO in place.
    source
        The name of the file, for messages.
    title
        The name of the format.
    cleaning
        What to do about faults.
    tally
        What the format counted; more is counted here.

    Returns
    -------
    CrowdData
        Of the kind "sequences", with a health report.

    Raises
    ------
    DataError
        If nobody annotated anything.
    """
    kept = [text for text in texts if text.tokens]
    for text in texts:
        if not text.tokens:
            tally.count("empty_texts", text.name, left_out=len(text.tags))
    strip_tags_in_tokens(kept, cleaning, tally)
    normalise_tags(kept, cleaning, tally)
    if not any(text.tags for text in kept):
        raise DataError(
            "Nobody annotated a text", file=source, fix="Choose a file with annotations."
        )
    for text in kept:
        if not text.tags:
            tally.count("unannotated_texts", text.name)
        elif len(text.tags) == 1:
            tally.count("single_annotations", text.name)
    data = _data(kept, pseudonyms=cleaning.pseudonyms)
    report = HealthReport(
        findings=tuple(_findings(tally, cleaning)),
        source=source,
        n_rows=len(texts),
        n_labels=data.n_labels,
        n_items=data.n_items,
        n_workers=data.n_workers,
        n_classes=data.n_classes,
        roles=Roles(),
        reasons={"format": f"The file was read as {title}."},
    )
    return replace(data, report=report)


def _findings(tally: Tally, cleaning: Cleaning) -> list[Finding]:
    findings = []
    for kind in SPAN_FINDINGS:
        option = _OPTIONS.get(kind.id, {})
        applied = all(getattr(cleaning, name) == value for name, value in option.items())
        done = _DONE.get(kind.id, "")
        if option and applied:
            done, option = "It was done as you chose.", {}
        findings.append(
            make_finding(
                kind.id,
                tally.counts[kind.id],
                severity="warning" if kind.id in _WARNINGS else "notice",
                examples=tally.examples.get(kind.id, ()),
                done=done,
                fix=None if option or kind.id not in _OPTIONS else "",
                option=option,
            )
        )
    return findings


def _data(texts: Sequence[AnnotatedText], *, pseudonyms: bool) -> CrowdData:
    lengths = np.array([len(text.tokens) for text in texts], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    names = _unique([text.name for text in texts])
    types = {tag[2:] for _, tags in sequences_of(texts) for tag in set(tags) if tag != OUTSIDE}
    if not types:
        raise DataError(
            "Nobody marked a single span", fix="Check that the file holds marked spans or tags."
        )
    tag_set = TagSet.of_types(natural_order(types))
    code = {tag: number for number, tag in enumerate(tag_set.classes)}
    workers = codes_by_name(chain.from_iterable(text.tags for text in texts))
    annotations = [
        (int(start), worker, tags)
        for text, start in zip(texts, offsets, strict=False)
        for worker, tags in text.tags.items()
    ]
    sizes = np.array([len(tags) for _, _, tags in annotations], np.int64)
    starts = np.array([start for start, _, _ in annotations], np.int64)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    worker_codes = np.array([workers[worker] for _, worker, _ in annotations], np.int32)
    tags = chain.from_iterable(tags for _, _, tags in annotations)
    details = {
        "token": tuple(chain.from_iterable(text.tokens for text in texts)),
        "text": tuple(_repeated(names, lengths)),
        "document": tuple(
            _repeated(
                [text.document or name for text, name in zip(texts, names, strict=True)], lengths
            )
        ),
    }
    if all(text.starts is not None for text in texts):
        details["start"] = tuple(str(s) for text in texts for s in text.starts or ())
    called = [f"worker {number}" for number in range(1, len(workers) + 1)]
    return CrowdData(
        item=(np.repeat(starts, sizes) + within).astype(np.int32),
        worker=np.repeat(worker_codes, sizes),
        label=np.fromiter((code[tag] for tag in tags), np.int32, int(sizes.sum())),
        items=tuple(
            f"{name}:{position}"
            for name, length in zip(names, lengths.tolist(), strict=True)
            for position in range(length)
        ),
        workers=tuple(called if pseudonyms else workers),
        classes=tag_set.classes,
        kind="sequences",
        gold=_gold(texts, code, lengths),
        offsets=offsets,
        details=details,
    )


def _gold(
    texts: Sequence[AnnotatedText], code: dict[str, int], lengths: np.ndarray
) -> Codes | None:
    if all(text.gold is None for text in texts):
        return None
    known = (
        [code[tag] for tag in text.gold] if text.gold is not None else [UNKNOWN] * length
        for text, length in zip(texts, lengths.tolist(), strict=True)
    )
    return np.fromiter(chain.from_iterable(known), np.int32, int(lengths.sum()))


def _repeated(values: Sequence[str], lengths: np.ndarray) -> chain[str]:
    return chain.from_iterable(map(repeat, values, lengths.tolist()))


def _unique(names: Sequence[str]) -> list[str]:
    """Texts of one name get a number behind it, so that they stay apart."""
    seen: dict[str, int] = {}
    unique = []
    taken = set(names)
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        called = name
        while seen[name] > 1 and called in taken:
            called = f"{name} ({seen[name]})"
            if called in taken:
                seen[name] += 1
        taken.add(called)
        unique.append(called)
    return unique
