"""brat: a .ann beside each .txt, one folder per worker."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally, is_gold
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.tokens import MarkedText, Passage, to_tokens

_ENTITY = re.compile(r"T\d+\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t|$)")


def _matches(files: Sequence[TextFile]) -> float:
    return float(any(file.path.suffix == ".ann" for file in files))


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    # A folder's own copy of the text, else any of that name: workers annotate the same texts.
    words = {file.path.with_suffix(""): file.text for file in files if file.path.suffix == ".txt"}
    by_stem: dict[str, str] = {}
    for path, text in words.items():
        by_stem.setdefault(path.name, text)
    marks = {file.path.with_suffix(""): file.text for file in files if file.path.suffix == ".ann"}
    texts: dict[str, MarkedText] = {}
    for path, lines in marks.items():  # an empty one says that nothing was marked
        worker = path.parent.name
        if not worker:
            raise DataError(
                "The annotations lie in no folder, so nobody knows whose they are",
                file=f"{path}.ann",
                fix="Put the files of each worker into a folder with the worker's name.",
            )
        if path.name not in by_stem:
            raise DataError("There is no text of that name", file=f"{path}.txt")
        marked = texts.setdefault(path.name, MarkedText(name=path.name, text=by_stem[path.name]))
        if words.get(path, marked.text) != marked.text:
            tally.count("different_text", f"{worker} on {path.name}", left_out=1)
            continue
        passages = list(_passages(lines))
        if is_gold(worker):
            marked.gold = passages
        else:
            marked.passages[worker] = passages
    return [to_tokens(marked, cleaning, tally) for marked in texts.values()]


def _passages(text: str) -> Iterator[Passage]:
    """The entities of a file; pieces of a discontinuous one are spans of their own."""
    for line in text.splitlines():
        if match := _ENTITY.match(line):
            for piece in match.group(2).split(";"):
                start, end = piece.split()
                yield Passage(int(start), int(end), match.group(1))


FORMAT = TextFormat(title="brat", matches=_matches, read=_read)
