"""CoNLL with one file per worker, in a folder or zip; texts are aligned by their characters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally, is_gold
from crowdcore.reading.sequences.columns import blocks, looks_like_conll, tag_columns
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.tags import strip_tags_in_tokens
from crowdcore.reading.sequences.tokens import MarkedText, Passage, to_tokens
from crowdcore.spans import OUTSIDE


def _matches(files: Sequence[TextFile]) -> float:
    return 0.6 if len(files) > 1 and all(looks_like_conll(file) for file in files) else 0.0


def _owner(file: TextFile, by_folder: bool) -> tuple[str, str]:
    """The worker and the document of a file: worker/document.txt, or document/worker.txt."""
    stem, parent = file.path.stem, file.path.parent.name
    if not parent:
        return stem, ""
    return (parent, stem) if by_folder else (stem, parent)


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    # The rarer of the two names is the worker's: people annotate many documents.
    stems = {file.path.stem for file in files}
    folders = {file.path.parent.name for file in files}
    by_folder = len(folders) > 1 and len(folders) <= len(stems)
    documents: dict[str, list[tuple[str, list[AnnotatedText]]]] = defaultdict(list)
    for file in files:
        worker, document = _owner(file, by_folder)
        documents[document].append((worker, list(_sentences(file, worker))))
    for of_document in documents.values():
        for _, sentences in of_document:
            strip_tags_in_tokens(sentences, cleaning, tally)
    texts: list[AnnotatedText] = []
    for document, of_document in documents.items():
        of_document.sort(key=lambda pair: not is_gold(pair[0]))  # gold says how words are cut
        texts += _aligned(document, of_document, cleaning, tally)
    return texts


def _sentences(file: TextFile, worker: str) -> Iterator[AnnotatedText]:
    sentences = list(blocks(file))
    columns = tag_columns([row for sentence in sentences for row in sentence.rows])
    for number, sentence in enumerate(sentences, 1):
        column = columns[-1] if columns else len(sentence.rows[0]) - 1
        tokens, tags = (
            [row[0] for row in sentence.rows],
            [row[column] for row in sentence.rows],
        )
        name = sentence.name or f"sentence {number}"
        yield AnnotatedText(name=name, tokens=tokens, tags={worker: tags})


def _aligned(
    document: str,
    by_worker: Sequence[tuple[str, list[AnnotatedText]]],
    cleaning: Cleaning,
    tally: Tally,
) -> list[AnnotatedText]:
    """Put workers' tags on the tokens of the first file, by the characters that they cover.

    A word that a worker's file cuts into pieces counts as marked only if every piece is.
    """
    _, first = by_worker[0]
    places, position = [], 0
    for sentence in first:
        size = sum(map(len, sentence.tokens))
        places.append((position, position + size, sentence))
        position += size
    whole = "".join("".join(sentence.tokens) for sentence in first)
    texts = [
        MarkedText(
            name=f"{document}:{number}" if document else sentence.name,
            document=document,
            text="".join(sentence.tokens),
            tokens=_bounds(sentence.tokens),
        )
        for number, (_, _, sentence) in enumerate(places)
    ]
    for worker, sentences in by_worker:
        tokens = [token for sentence in sentences for token in sentence.tokens]
        tags = [tag for sentence in sentences for tag in sentence.tags[worker]]
        if "".join(tokens) != whole:
            where = f"{worker}{f' on {document}' if document else ''}"
            tally.count("different_text", where, left_out=1)
            continue
        passages = list(_passages(tokens, tags))
        for text, (start, end, _) in zip(texts, places, strict=True):
            inside = [
                replace(p, start=max(p.start, start) - start, end=min(p.end, end) - start)
                for p in passages
                if p.start < end and p.end > start
            ]
            text.passages[worker] = inside
    return [to_tokens(text, cleaning, tally) for text in texts]


def _bounds(tokens: Sequence[str]) -> list[tuple[int, int]]:
    bounds, position = [], 0
    for token in tokens:
        bounds.append((position, position + len(token)))
        position += len(token)
    return bounds


def _passages(tokens: Sequence[str], tags: Sequence[str]) -> Iterator[Passage]:
    """The spans of tags, as passages of the joined tokens."""
    start, position, open_type = 0, 0, ""
    for token, tag in zip(tokens, tags, strict=True):
        name = "" if tag == OUTSIDE else tag[2:] if tag[1:2] in ("-", "_") else tag
        if open_type and (name != open_type or tag[0] in "BSU"):
            yield Passage(start, position, open_type)
            open_type = ""
        if name and not open_type:
            start, open_type = position, name
        position += len(token)
    if open_type:
        yield Passage(start, position, open_type)


FORMAT = TextFormat(title="CoNLL with a file per worker", matches=_matches, read=_read)
