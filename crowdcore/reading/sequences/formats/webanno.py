"""INCEpTION and WebAnno: TSV 3 with a file per worker; spans as type, numbered where they touch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.spans import BEGIN, INSIDE, OUTSIDE

_TOKEN = re.compile(r"(\d+)-(\d+)\t(\d+)-(\d+)\t([^\t]*)\t?(.*)")
_NUMBERED = re.compile(r"(.+)\[(\d+)\]")


def _matches(files: Sequence[TextFile]) -> float:
    return float(all(file.head.startswith("#FORMAT=WebAnno TSV") for file in files))


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    del cleaning  # tags need no choice
    texts: dict[tuple[str, int], AnnotatedText] = {}
    many_folders = len({file.path.parent for file in files}) > 1
    for file in files:
        # INCEpTION exports annotation/<document>/<worker>.tsv.
        document = file.path.parent.name if many_folders else ""
        worker = file.path.stem
        for number, (tokens, starts, tags) in enumerate(_sentences(file), 1):
            name = f"{document}:{number}" if document else f"sentence {number}"
            text = texts.setdefault(
                (document, number),
                AnnotatedText(name=name, document=document, tokens=tokens, starts=starts),
            )
            if text.tokens != tokens:
                tally.count("different_text", f"{worker} on {name}", left_out=1)
                continue
            text.add(worker, tags, tally)
    return list(texts.values())


def _sentences(file: TextFile) -> Iterator[tuple[list[str], list[int], list[str]]]:
    by_sentence: dict[int, list[tuple[str, int, str]]] = defaultdict(list)
    for line in file.text.splitlines():
        if match := _TOKEN.match(line):
            sentence, _, start, _, token, rest = match.groups()
            by_sentence[int(sentence)].append((token, int(start), rest))
    for rows in by_sentence.values():
        tags, before = [], ("", "")
        for _, _, rest in rows:
            now = _label(rest)
            same = now == before and bool(now[0])
            tags.append((INSIDE if same and now[1] else BEGIN) + now[0] if now[0] else OUTSIDE)
            before = now
        yield [row[0] for row in rows], [row[1] for row in rows], tags


def _label(cells: str) -> tuple[str, str]:
    """The type of a token and the number of its span; a span of one token has no number."""
    for cell in reversed(cells.split("\t")):
        for value in cell.split("|"):
            if value and value not in ("_", "*"):
                match = _NUMBERED.fullmatch(value)
                return (match.group(1), match.group(2)) if match else (value, "")
    return "", ""


FORMAT = TextFormat(title="INCEpTION, WebAnno TSV", matches=_matches, read=_read)
