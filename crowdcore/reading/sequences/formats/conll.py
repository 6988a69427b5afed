"""CoNLL with a column per worker: a file in which each line has a token and everybody's tags."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.reading.sequences.columns import (
    NOT_SEEN,
    blocks,
    header,
    looks_like_conll,
    tag_columns,
)
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat


def _matches(files: Sequence[TextFile]) -> float:
    return 0.6 if len(files) == 1 and looks_like_conll(files[0]) else 0.0


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    del cleaning  # tags need no choice
    file = files[0]
    sentences = list(blocks(file))
    columns = tag_columns([row for sentence in sentences for row in sentence.rows])
    names = header(file)
    if not columns:
        raise DataError("No column holds tags in every line", file=file.name)
    if len(columns) == 1 and names is None:
        raise DataError(
            "The file has one column of tags, so there is one worker and nothing to compare",
            file=file.name,
            fix="Give a file with a column per worker, or a folder or zip with a file per worker.",
        )
    workers = {
        column: names[column] if names and column < len(names) else f"worker {number}"
        for number, column in enumerate(columns, 1)
    }
    texts = []
    for number, sentence in enumerate(sentences, 1):
        text = AnnotatedText(
            name=sentence.name or f"sentence {number}",
            tokens=[row[0] for row in sentence.rows],
            document=f"document {sentence.document}" if sentence.document else "",
        )
        for column, worker in workers.items():
            tags = [row[column] for row in sentence.rows]
            absent = sum(tag in NOT_SEEN for tag in tags)
            if absent and absent < len(tags):
                raise DataError(
                    f"{worker} annotated only some tokens of {text.name}",
                    file=file.name,
                    fix="Give O to tokens outside of every span, and ? to whole sentences that "
                    "the worker did not see.",
                )
            if not absent:
                text.add(worker, tags, tally)
        texts.append(text)
    return texts


FORMAT = TextFormat(title="CoNLL with a column per worker", matches=_matches, read=_read)
