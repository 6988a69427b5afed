"""A long table of spans: text, worker, start, end, type; a row without a span is an empty one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally, is_gold
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.records import passage
from crowdcore.reading.sequences.tables import find_column, table_columns, table_rows
from crowdcore.reading.sequences.tokens import MarkedText, Passage, to_tokens

_NAMES = {
    "item": ("item", "itemid", "textid", "task", "taskid", "doc", "docid", "sentence", "id"),
    "worker": ("worker", "workerid", "annotator", "annotatorid", "user", "rater", "coder"),
    "start": ("start", "begin", "startoffset", "startchar", "from"),
    "end": ("end", "stop", "endoffset", "endchar", "to"),
    "type": ("label", "type", "tag", "category", "class", "entity"),
    "text": ("text", "sentencetext", "content", "document"),
}


def _columns(file: TextFile) -> dict[str, str | None]:
    columns = table_columns(file)
    return {role: find_column(columns, *names) for role, names in _NAMES.items()}


def _matches(files: Sequence[TextFile]) -> float:
    if len(files) != 1:
        return 0.0
    found = _columns(files[0])
    return 0.9 if all(found[role] for role in ("item", "worker", "start", "end", "type")) else 0.0


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    file = files[0]
    roles = _columns(file)
    if roles["text"] is None:
        raise DataError(
            "The table says where spans are, but not in which text",
            file=file.name,
            fix="Add a column 'text' with the text of each item; its first row is enough.",
        )
    names = {role: str(column) for role, column in roles.items()}
    texts: dict[str, str] = {}
    spans: dict[str, dict[str, list[Passage]]] = defaultdict(dict)
    n_empty = 0
    for row in table_rows(file):
        item, worker = row[names["item"]], row[names["worker"]]
        if row[names["text"]]:
            texts.setdefault(item, row[names["text"]])
        if not worker:
            spans[item]
            continue
        marks = spans[item].setdefault(worker, [])
        if row[names["start"]].strip():
            start, end = row[names["start"]], row[names["end"]]
            marks.append(passage(start, end, row[names["type"]], file.name))
        else:
            n_empty += 1
    if missing := [item for item in spans if item not in texts]:
        raise DataError(
            f"The item {missing[0]!r} has no text", file=file.name, column=names["text"]
        )
    if not n_empty:
        _fill_unmarked(spans, cleaning, tally, file.name)
    marked = []
    for item, by_worker in spans.items():
        gold = next((marks for worker, marks in by_worker.items() if is_gold(worker)), None)
        people = {worker: marks for worker, marks in by_worker.items() if not is_gold(worker)}
        marked.append(MarkedText(name=item, text=texts[item], passages=people, gold=gold))
    return [to_tokens(text, cleaning, tally) for text in marked]


def _fill_unmarked(
    spans: dict[str, dict[str, list[Passage]]], cleaning: Cleaning, tally: Tally, file: str
) -> None:
    """Decide, as the user said, whether a worker without a mark saw a text."""
    workers = list(dict.fromkeys(worker for marks in spans.values() for worker in marks))
    unmarked = [(i, w) for i, marks in spans.items() for w in workers if w not in marks]
    if not unmarked:
        return
    if cleaning.unmarked == "ask":
        raise DataError(
            f"The file does not say whether a worker who marked nothing in a text saw it: that is "
            f"so in {len(unmarked):,} cases, such as {unmarked[0][1]!r} on {unmarked[0][0]!r}",
            file=file,
            fix="Say so: unmarked=saw if everybody saw every text, unmarked=absent if a worker "
            "saw only texts with marks (--unmarked on the command line); or add a row with an "
            "empty start for each text that was seen without a mark.",
        )
    for item, worker in unmarked:
        read_as = "saw it" if cleaning.unmarked == "saw" else "did not see it"
        tally.count("unmarked_texts", f"{worker} on {item}: {read_as}")
        if cleaning.unmarked == "saw":
            spans[item][worker] = []


FORMAT = TextFormat(title="Table of spans", matches=_matches, read=_read)
