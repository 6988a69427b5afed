"""The options with which commands read labels."""

import shlex
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from crowdcore.data import CrowdData


class Contradictions(StrEnum):
    """What becomes of different labels that one worker gave to one item."""

    ALL = "all"
    LAST = "last"
    FIRST = "first"
    DROP = "drop"


class Seen(StrEnum):
    """Whether workers saw the texts in which they marked nothing."""

    SAW = "saw"
    ABSENT = "absent"


_PANEL = "How to read the labels"

LabelsFile = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS", help="A table of labels: CSV, TSV, JSON, Parquet, …; or annotated texts."
    ),
]
GoldFile = Annotated[
    Path | None, typer.Option("--gold", metavar="FILE", help="A table of items and known answers.")
]
FeaturesFile = Annotated[
    Path | None,
    typer.Option(
        "--features",
        metavar="PATH",
        help="Features of the items: a table of numbers, categories or texts, an NPZ, or a folder "
        "or zip of pictures named by item.",
    ),
]
FeatureColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--feature-column",
        metavar="COLUMN",
        help="A column of LABELS that describes the item, to be used as features; may be repeated.",
        rich_help_panel=_PANEL,
    ),
]
PictureSize = Annotated[
    int | None,
    typer.Option(
        metavar="PIXELS",
        help="The side to which pictures in --features are brought: 8 to 128, 32 if not set.",
        rich_help_panel=_PANEL,
    ),
]
ItemColumn = Annotated[
    str | None,
    typer.Option("--item", metavar="COLUMN", help="The column of items.", rich_help_panel=_PANEL),
]
WorkerColumn = Annotated[
    str | None,
    typer.Option(
        "--worker", metavar="COLUMN", help="The column of workers.", rich_help_panel=_PANEL
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="The column of labels.", rich_help_panel=_PANEL),
]
GoldColumn = Annotated[
    str | None,
    typer.Option(
        "--gold-column",
        metavar="COLUMN",
        help="The column of known answers, where they stand beside the labels.",
        rich_help_panel=_PANEL,
    ),
]
ContradictionsPolicy = Annotated[
    Contradictions,
    typer.Option(
        "--contradictions",
        help="Which of a worker's different labels of one item to keep.",
        rich_help_panel=_PANEL,
    ),
]
ReadingNumber = Annotated[
    int | None,
    typer.Option(
        "--reading",
        metavar="NUMBER",
        help="Which reading of the file to take, where several are possible.",
        rich_help_panel=_PANEL,
    ),
]
QuestionName = Annotated[
    str | None,
    typer.Option(
        "--question",
        metavar="NAME",
        help="Which question to read, where the file has several; `crowdcore check` lists them.",
        rich_help_panel=_PANEL,
    ),
]


class LabelKinds(StrEnum):
    """What the labels are."""

    AUTO = "auto"
    CLASSES = "classes"
    RATINGS = "ratings"


KindOfLabels = Annotated[
    LabelKinds,
    typer.Option(
        "--kind",
        help="What the labels are; auto takes numbers for ratings where that is beyond doubt.",
        rich_help_panel=_PANEL,
    ),
]
Fixes = Annotated[
    list[str] | None,
    typer.Option(
        "--fix",
        metavar="ID",
        help="Apply a fix that `crowdcore check` proposes; may be repeated.",
        rich_help_panel=_PANEL,
    ),
]

Unmarked = Annotated[
    Seen | None,
    typer.Option(
        "--unmarked",
        help="In a table of spans: whether workers saw the texts in which they marked nothing.",
        rich_help_panel=_PANEL,
    ),
]

ForSpreadsheets = Annotated[
    bool,
    typer.Option(
        "--for-spreadsheets",
        help="Put an apostrophe before names in CSV that a spreadsheet would run as a formula; "
        "else they are written as they are.",
    ),
]


def read(
    labels: Path,
    *,
    gold: Path | None = None,
    features: Path | None = None,
    feature_columns: list[str] | None = None,
    picture_size: int | None = None,
    item: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    gold_column: str | None = None,
    contradictions: Contradictions = Contradictions.LAST,
    reading: int | None = None,
    question: str | None = None,
    fixes: list[str] | None = None,
    command: str = "check",
    unmarked: Seen | None = None,
    kind: LabelKinds = LabelKinds.AUTO,
) -> "CrowdData":
    """Read labels with the roles that were named; the others are guessed.

    Parameters
    ----------
    labels : Path
        A table of labels.
    gold : Path or None, optional
        A table of items and known answers.
    features : Path or None, optional
        Features of the items.
    feature_columns : list of str or None, optional
        Columns of the labels that describe the item.
    picture_size : int or None, optional
        The side in pixels to which pictures are brought.
    item, worker, label, gold_column : str or None, optional
        Columns with that role.
    contradictions : Contradictions, default Contradictions.LAST
        Which of a worker's different labels of one item to keep.
    reading : int or None, optional
        The number of the reading to take, where several are possible.
    question : str or None, optional
        The question to read, where the file has several.
    fixes : list of str or None, optional
        Ids of findings whose fix is applied.
    command : str, default "check"
        The command that reads, for messages.
    unmarked : Seen or None, optional
        Whether workers saw the texts in which they marked nothing.
    kind : LabelKinds, default LabelKinds.AUTO
        What the labels are.

    Returns
    -------
    CrowdData
        The labels with their health report.

    Raises
    ------
    DataError
        A file cannot be read, several readings are possible, or no such fix is proposed.
    """
    from crowdcore.data import DataError
    from crowdcore.reading.candidates.choose import choose_reading
    from crowdcore.reading.features.pictures import DEFAULT_SIDE_PIXELS
    from crowdcore.reading.labels.cleaning import Cleaning
    from crowdcore.reading.labels.read import read_labels
    from crowdcore.reading.parsing.open import open_table
    from crowdcore.reading.sequences.read import read_texts, text_format_of

    named = {"item": item, "worker": worker, "label": label, "gold": gold_column}
    roles: dict[str, Any] = {role: name for role, name in named.items() if name is not None}
    cleaning = Cleaning(contradictions=contradictions.value, kind=kind.value)
    if unmarked is not None:
        cleaning = cleaning.with_option({"unmarked": unmarked.value})
    read_in: Callable[..., CrowdData]
    if not (roles or gold or features or feature_columns) and text_format_of(labels):
        read_in = partial(read_texts, labels)
    else:
        table, guess = choose_reading(
            open_table(labels),
            command=shlex.join(["crowdcore", command, str(labels)]),
            roles=roles,
            reading=reading,
            question=question,
        )
        read_in = partial(
            read_labels,
            table,
            roles=guess,
            gold=gold,
            features=features,
            feature_columns=tuple(feature_columns or ()),
            picture_size=DEFAULT_SIDE_PIXELS if picture_size is None else picture_size,
        )
    data = read_in(cleaning=cleaning)
    for fix in fixes or []:
        finding = data.report.finding(fix)
        if finding is None or not finding.option:
            proposed = [candidate.id for candidate in data.report.findings if candidate.option]
            options = f"There are {', '.join(proposed)}." if proposed else "There are none."
            raise DataError(f"No fix {fix!r} is proposed for {labels.name}", fix=options)
        cleaning = cleaning.with_option(finding.option)
    return read_in(cleaning=cleaning) if fixes else data
