"""The options with which commands read labels."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from crowdcore.data import CrowdData


class Contradictions(StrEnum):
    """What becomes of different labels that one worker gave to one item."""

    ALL = "all"
    LAST = "last"
    FIRST = "first"
    DROP = "drop"


_PANEL = "How to read the labels"

LabelsFile = Annotated[
    Path, typer.Argument(metavar="LABELS", help="A table of labels: CSV, TSV, JSON, Parquet, …")
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
Fixes = Annotated[
    list[str] | None,
    typer.Option(
        "--fix",
        metavar="ID",
        help="Apply a fix that `crowdcore check` proposes; may be repeated.",
        rich_help_panel=_PANEL,
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
    fixes: list[str] | None = None,
) -> "CrowdData":
    """Read labels with the roles that were named; the others are guessed."""
    from crowdcore.data import DataError
    from crowdcore.io.cleaning import Cleaning
    from crowdcore.io.labels import read_labels
    from crowdcore.io.pictures import SIZE
    from crowdcore.io.table import open_table

    named = {"item": item, "worker": worker, "label": label, "gold": gold_column}
    roles: dict[str, Any] = {role: name for role, name in named.items() if name is not None}
    cleaning = Cleaning(contradictions=contradictions.value)
    table = open_table(labels)
    read_in = partial(
        read_labels,
        table,
        roles=roles or None,
        gold=gold,
        features=features,
        feature_columns=tuple(feature_columns or ()),
        picture_size=SIZE if picture_size is None else picture_size,
    )
    data = read_in(cleaning=cleaning)
    for fix in fixes or []:
        finding = data.report.finding(fix)
        if finding is None or not finding.option:
            known = [one.id for one in data.report.findings if one.option]
            there = f"There are {', '.join(known)}." if known else "There are none."
            raise DataError(f"No fix {fix!r} is proposed for {table.name}", fix=there)
        cleaning = cleaning.with_option(finding.option)
    return read_in(cleaning=cleaning) if fixes else data
