"""Opening uploads in a process of their own: what each file is, and how the labels can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crowdcore.jobs.drafts import UploadedFile
from crowdcore.reading.candidates.propose import propose_readings
from crowdcore.reading.candidates.reading import Candidate
from crowdcore.reading.columns.guess import guess_of
from crowdcore.reading.columns.roles import Guess, Roles
from crowdcore.reading.companions import RecognisedFile, recognise
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.table import Table
from crowdcore.reading.sequences.read import text_format_of

PREVIEW_ROWS = 5
"""Rows of a file that are shown."""

MAX_READINGS, MAX_QUESTIONS = 2, 30
"""Readings and questions of a file that are offered."""

MAX_PREVIEW_CHARACTERS = 200
"""Longer cells are cut where they are shown."""


@dataclass(frozen=True, kw_only=True)
class OpenRequest:
    """Files that were uploaded together.

    Parameters
    ----------
    files
        The files.
    labels
        Which of them holds the labels, where somebody said so; else it is found out.
    """

    files: tuple[UploadedFile, ...]
    labels: int | None = None


@dataclass(frozen=True, kw_only=True)
class QuestionChoice:
    """A question that a reading finds in a file.

    Parameters
    ----------
    name
        What it is called.
    description
        How many answers of which kind there are.
    guess
        How to read it; None where answers of its kind are not read.
    """

    name: str
    description: str
    guess: Guess | None


@dataclass(frozen=True, kw_only=True)
class ReadingChoice:
    """One reading of a labels file.

    Parameters
    ----------
    title
        The reading in one sentence.
    counts
        How many labels, items, workers and classes it finds, in words.
    why
        What speaks for it and against it, a sentence each.
    columns
        The names of the columns that it reads.
    preview
        The first rows of them as records of text; long cells are cut.
    labels
        The first labels, as records of item, worker and label.
    guess
        What the columns are.
    questions
        The questions in the file; the one that is read stands first.
    """

    title: str
    counts: str
    why: tuple[str, ...]
    columns: tuple[str, ...]
    preview: list[dict[str, str]]
    labels: list[dict[str, str]]
    guess: Guess
    questions: tuple[QuestionChoice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OpenedDraft:
    """What uploaded files look like.

    Parameters
    ----------
    recognised
        What each of the files is.
    labels
        Which of them holds the labels.
    n_rows
        Rows of the labels file below its header.
    description
        A sentence on how it was read.
    choices
        The readings of it, the best first; without one, what the names of its columns say.
    settled
        Whether the best reading is clearly the best.
    refusal
        Why there seems to be nothing to audit in it, and what to export instead; "" otherwise.
    texts
        The format of annotated texts that the file is in; empty for a table of labels.
    """

    recognised: tuple[RecognisedFile, ...]
    labels: int
    n_rows: int
    description: str
    choices: tuple[ReadingChoice, ...]
    settled: bool = True
    refusal: str = ""
    texts: str = ""


def open_draft(request: OpenRequest) -> OpenedDraft:
    """Tell what each file is, and find the readings of the one with the labels.

    Parameters
    ----------
    request : OpenRequest
        The files.

    Returns
    -------
    OpenedDraft
        What they look like.

    Raises
    ------
    DataError
        The labels cannot be read.
    """
    files = request.files
    if len(files) == 1 and (title := text_format_of(files[0].path, files[0].name)):
        return _opened_texts(files[0], title)
    only = RecognisedFile(name=files[0].name, kind="labels", why="")
    recognised: tuple[RecognisedFile, ...] = (only,)
    if len(files) > 1:
        recognised = tuple(recognise([(file.name, file.path) for file in files]))
    kinds = [file.kind for file in recognised]
    labels_index = kinds.index("labels") if "labels" in kinds else 0
    at = labels_index if request.labels is None else request.labels
    readings = propose_readings(open_table(files[at].path, name=files[at].name))
    table = readings.table
    choices = tuple(_choice(candidate) for candidate in readings.candidates[:MAX_READINGS])
    if not choices:
        by_names = ReadingChoice(
            title="", counts="", why=(), columns=table.columns, preview=_preview(table), labels=[],
            guess=guess_of(readings),
        )  # fmt: skip
        choices = (by_names,)
    refusal = ""
    if readings.refusal is not None:
        refusal = f"This seems to be {readings.refusal.seems}. {readings.refusal.advice}"
    return OpenedDraft(
        recognised=recognised,
        labels=at,
        n_rows=table.n_rows,
        description=table.description,
        choices=choices,
        settled=readings.settled or len(readings.candidates) < 2,  # noqa: PLR2004  (a runner-up)
        refusal=refusal,
    )


def _opened_texts(file: UploadedFile, title: str) -> OpenedDraft:
    """Say what a file of annotated texts is; it has no columns to choose from."""
    nothing = Guess(roles=Roles(), reasons={}, certain=True)
    whole = ReadingChoice(
        title="", counts="", why=(), columns=(), preview=[], labels=[], guess=nothing
    )
    return OpenedDraft(
        recognised=(RecognisedFile(name=file.name, kind="labels", why=""),),
        labels=0,
        n_rows=0,
        description=f"Texts with marked spans: {title}.",
        choices=(whole,),
        texts=title,
    )


def _choice(candidate: Candidate) -> ReadingChoice:
    return ReadingChoice(
        title=candidate.title,
        counts=candidate.counts.describe(),
        why=tuple(rule.sentence for rule in candidate.rules),
        columns=candidate.table.columns,
        preview=_preview(candidate.table),
        labels=[_cut_cells(row) for row in candidate.preview(PREVIEW_ROWS)],
        guess=candidate.guess,
        questions=tuple(
            QuestionChoice(
                name=question.name,
                description=question.describe(),
                guess=candidate.ask(question.name).guess if question.readable else None,
            )
            for question in candidate.questions[:MAX_QUESTIONS]
        ),
    )


def _preview(table: Table) -> list[dict[str, str]]:
    return [_cut_cells(row) for row in table.preview(PREVIEW_ROWS)]


def _cut_cells(row: Mapping[str, str]) -> dict[str, str]:
    return {column: _cut(cell) for column, cell in row.items()}


def _cut(text: str) -> str:
    is_long = len(text) > MAX_PREVIEW_CHARACTERS
    return text[: MAX_PREVIEW_CHARACTERS - 1] + "…" if is_long else text
