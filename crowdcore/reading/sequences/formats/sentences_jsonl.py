"""JSON lines with tokens and the tags of each worker."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.records import first_record, records


def _matches(files: Sequence[TextFile]) -> float:
    first = first_record(files[0])
    has_tags = isinstance(first.get("annotations"), list) or isinstance(first.get("truth"), list)
    return float(len(files) == 1 and isinstance(first.get("tokens"), list) and has_tags)


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    del cleaning  # tags need no choice
    texts = []
    for number, record in enumerate(records(files[0]), 1):
        tokens = [str(token) for token in record.get("tokens", ())]
        text = AnnotatedText(
            name=str(record.get("id", number)),
            document=str(record.get("doc", record.get("document", ""))),
            tokens=tokens,
        )
        entries = [(str(a.get("worker")), a.get("tags")) for a in record.get("annotations", ())]
        if record.get("truth") is not None:
            entries.append(("truth", record["truth"]))
        for worker, tags in entries:
            if not isinstance(tags, list) or len(tags) != len(tokens):
                raise DataError(
                    f"{worker} has {len(tags or ())} tags for {len(tokens)} tokens of {text.name}",
                    file=files[0].name,
                    row=number,
                    fix="Give a tag to every token.",
                )
            text.add(worker, [str(tag) for tag in tags], tally)
        texts.append(text)
    return texts


FORMAT = TextFormat(title="Sentences as JSON lines", matches=_matches, read=_read)
