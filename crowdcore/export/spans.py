"""Spans as files that other tools read: CoNLL, JSON lines, spaCy, Label Studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from crowdcore.annotations import annotation_order
from crowdcore.results.sequences import TaggedTexts


@dataclass(frozen=True, eq=False)
class WrittenText:
    """A text as it is written: its tokens with their characters, and its spans."""

    number: int
    name: str
    document: str
    tokens: list[str]
    starts: list[int]
    tags: list[str]
    spans: list[dict[str, Any]]

    @property
    def text(self) -> str:
        """The text; where the file had no characters, tokens with a blank between them."""
        pieces, position = [], 0
        for token, start in zip(self.tokens, self.starts, strict=True):
            pieces.append(" " * (start - position) + token)
            position = start + len(token)
        return "".join(pieces)


def written_texts(result: Any) -> Iterator[WrittenText]:
    """Go through the texts of a result of the kind "sequences", with their spans.

    Parameters
    ----------
    result : SequenceResult
        The truths.

    Yields
    ------
    WrittenText
        Positions of spans count characters and tokens from the start of the text.
    """
    data = result.data
    starts = data.details.get("start")
    names, documents = data.details.get("text"), data.details.get("document")
    firsts = np.asarray(data.offsets)[:-1].tolist()
    yield from _written(
        names=[names[first] if names else data.items[first] for first in firsts],
        documents=[documents[first] if documents else "" for first in firsts],
        tokens=data.details.get("token", data.items),
        starts=None if starts is None else [int(start) for start in starts],
        offsets=np.asarray(data.offsets),
        tags=data.class_names(result.truth, unknown="O").tolist(),
        marked=result,
    )


def newly_tagged(texts: TaggedTexts) -> Iterator[WrittenText]:
    """Go through texts that a tagger marked, with their spans.

    Parameters
    ----------
    texts : TaggedTexts
        What the tagger says.

    Yields
    ------
    WrittenText
        Positions of spans count characters and tokens from the start of the text.
    """
    yield from _written(
        names=texts.names,
        documents=[""] * len(texts.names),
        tokens=texts.tokens,
        starts=texts.starts,
        offsets=texts.offsets,
        tags=[texts.classes[code] for code in texts.truth.tolist()],
        marked=texts,
    )


def _written(
    *,
    names: Sequence[str],
    documents: Sequence[str],
    tokens: Sequence[str],
    starts: Sequence[int] | None,
    offsets: np.ndarray,
    tags: Sequence[str],
    marked: Any,
) -> Iterator[WrittenText]:
    words = tokens
    spans, confidence = marked.spans, marked.span_confidence
    first_span = np.searchsorted(spans.start, offsets)
    for number, (begin, end) in enumerate(pairwise(offsets.tolist())):
        tokens = list(words[begin:end])
        if starts is not None:
            places = list(starts[begin:end])
        else:
            places = np.concatenate([[0], np.cumsum([len(t) + 1 for t in tokens])])[:-1].tolist()
        listed = []
        for index in range(first_span[number], first_span[number + 1]):
            low, high = int(spans.start[index]) - begin, int(spans.end[index]) - begin
            listed.append(
                {
                    "start": places[low],
                    "end": places[high - 1] + len(tokens[high - 1]),
                    "token_start": low,
                    "token_end": high,
                    "label": marked.tag_set.types[int(spans.type[index])],
                    "confidence": round(float(confidence[index]), 6),
                }
            )
        yield WrittenText(
            number,
            names[number],
            documents[number],
            tokens,
            places,
            list(tags[begin:end]),
            listed,
        )


def to_conll(result: Any) -> str:
    """Write a token per line with its tag and probability, a blank line between texts."""
    return _conll(written_texts(result), result)


def tagged_conll(texts: TaggedTexts) -> str:
    """Write texts that a tagger marked as CoNLL, as `to_conll` does."""
    return _conll(newly_tagged(texts), texts)


def _conll(written: Iterator[WrittenText], marked: Any) -> str:
    posterior, truth = marked.posterior, np.maximum(marked.truth, 0)
    sure = posterior[np.arange(len(truth)), truth]
    lines, position = [], 0
    for text in written:
        lines.append(f"# id = {text.name}")
        for token, tag in zip(text.tokens, text.tags, strict=True):
            lines.append(f"{token}\t{tag}\t{sure[position]:.4f}")
            position += 1
        lines.append("")
    return "\n".join(lines) + "\n"


def tagged_jsonl(texts: TaggedTexts) -> str:
    """Write texts that a tagger marked as JSON lines: tokens, inferred tags and spans."""
    lines = [
        json.dumps(
            {"id": text.name, "tokens": text.tokens, "inferred": text.tags, "spans": text.spans},
            ensure_ascii=False,
        )
        for text in newly_tagged(texts)
    ]
    return "\n".join(lines) + "\n"


def tagged_table(texts: TaggedTexts) -> pd.DataFrame:
    """Make a table of the spans that a tagger marked, a row per span."""
    rows = [
        (text.name, span["start"], span["end"], span["label"], words, span["confidence"])
        for text in newly_tagged(texts)
        for span in text.spans
        for words in [text.text[span["start"] : span["end"]]]
    ]
    columns = ["item", "start", "end", "label", "text", "confidence"]
    return pd.DataFrame(rows, columns=columns)


def to_jsonl(result: Any) -> str:
    """Write the annotations as `sentences.jsonl` has them, with the inferred tags and spans."""
    data, order = result.data, annotation_order(result.data)
    given = data.class_names(data.label[order.label]).tolist()
    by_text: dict[int, list[dict[str, Any]]] = {}
    for index, text in enumerate(order.text.tolist()):
        begin, end = order.offsets[index : index + 2].tolist()
        entry = {"worker": data.workers[order.worker[index]], "tags": given[begin:end]}
        by_text.setdefault(text, []).append(entry)
    gold = None if data.gold is None else data.class_names(data.gold).tolist()
    lines, position = [], 0
    for text in written_texts(result):
        record: dict[str, Any] = {
            "id": text.name,
            "doc": text.document,
            "tokens": text.tokens,
            "annotations": by_text.get(text.number, []),
            "inferred": text.tags,
            "spans": text.spans,
        }
        known = None if gold is None else gold[position : position + len(text.tokens)]
        if known is not None and all(known):
            record["truth"] = known
        position += len(text.tokens)
        lines.append(json.dumps(record, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def to_spacy(result: Any) -> str:
    """Write text and entities, a line each, as spaCy's training examples have them."""
    lines = [
        json.dumps(
            {
                "text": text.text,
                "entities": [[span["start"], span["end"], span["label"]] for span in text.spans],
            },
            ensure_ascii=False,
        )
        for text in written_texts(result)
    ]
    return "\n".join(lines) + "\n"


def to_label_studio(result: Any) -> str:
    """Write tasks with the spans as predictions, to be imported into Label Studio."""
    version = f"crowdcore {result.provenance.method}"
    tasks = []
    for text in written_texts(result):
        words = text.text
        entries = [
            {
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "score": span["confidence"],
                "value": {
                    "start": span["start"],
                    "end": span["end"],
                    "text": words[span["start"] : span["end"]],
                    "labels": [span["label"]],
                },
            }
            for span in text.spans
        ]
        least = min((span["confidence"] for span in text.spans), default=1.0)
        tasks.append(
            {
                "data": {"text": words, "id": text.name},
                "predictions": [{"model_version": version, "score": least, "result": entries}],
            }
        )
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


SPAN_FILES: Mapping[str, Callable[[Any], str]] = {
    "spans.jsonl": to_jsonl,
    "tags.conll": to_conll,
    "spacy.jsonl": to_spacy,
    "label_studio.json": to_label_studio,
}
"""Files that `crowdcore run --out` writes of texts with spans, beside the tables."""
