"""Several files at once: which one holds the labels, and what the others are to them."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np

from crowdcore.data import DataError
from crowdcore.reading.columns.guess import guess_roles
from crowdcore.reading.columns.roles import Roles, name_rank
from crowdcore.reading.labels.coded_labels import extract
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count

FileKind = Literal["labels", "gold", "features", "other"]
"""What a file is to a data set; "other" where it is not recognised."""

PICTURES = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff")

_MIN_KNOWN_IDS = 0.5
_MIN_KNOWN_ANSWERS = 0.9


@dataclass(frozen=True, kw_only=True)
class RecognisedFile:
    """A file and what it seems to be.

    Parameters
    ----------
    name
        The file's name.
    kind
        What it is to the data set.
    why
        A sentence that says what was seen.
    """

    name: str
    kind: FileKind
    why: str


def recognise(files: Sequence[tuple[str, Path]]) -> list[RecognisedFile]:
    """Tell labels, gold answers, features and pictures apart.

    Parameters
    ----------
    files
        Names and paths. The labels are the table with workers in it; the others are compared with
        its items and classes.

    Returns
    -------
    list of RecognisedFile
        One per file, in the same order.
    """
    told: dict[int, RecognisedFile] = {}
    tables: dict[int, Table] = {}
    for number, (name, path) in enumerate(files):
        if (recognised := _without_table(name, path)) is not None:
            told[number] = recognised
            continue
        try:
            tables[number] = open_table(path, name=name)
        except DataError as error:
            told[number] = RecognisedFile(name=name, kind="other", why=str(error))
    labels = _find_labels(tables)
    for number, table in tables.items():
        if labels is not None and number == labels[0]:
            why = f"{count(table.n_rows, 'row')} in which workers label items."
            told[number] = RecognisedFile(name=table.name, kind="labels", why=why)
        elif labels is not None:
            told[number] = _beside_labels(table, tables[labels[0]], labels[1])
        else:
            kind: FileKind = "labels" if len(tables) == 1 else "other"
            why = "No column seems to say who labelled."
            told[number] = RecognisedFile(name=table.name, kind=kind, why=why)
    return [told[number] for number in range(len(files))]


def _without_table(name: str, path: Path) -> RecognisedFile | None:
    """Recognise arrays and pictures by what is in them; None for everything else."""
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"\x93NUMPY"):
        return RecognisedFile(name=name, kind="features", why="A NumPy array of features.")
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.namelist() if not member.endswith("/")]
    suffixes = [PurePosixPath(member).suffix.lower() for member in members]
    if ".npy" in suffixes:
        return RecognisedFile(name=name, kind="features", why="NumPy arrays of features.")
    n_pictures = sum(suffix in PICTURES for suffix in suffixes)
    if n_pictures and 2 * n_pictures >= len(members) and "[Content_Types].xml" not in members:
        why = f"{count(n_pictures, 'picture')}, to be matched with the items by name."
        return RecognisedFile(name=name, kind="features", why=why)
    return None


def _find_labels(tables: dict[int, Table]) -> tuple[int, Roles] | None:
    """Find the table of labels: one with a worker beside item and label, else a wide one."""
    ranked = []
    for number, table in tables.items():
        roles = guess_roles(table).roles
        is_long = None not in (roles.item, roles.worker, roles.label)
        if is_long or roles.worker_columns:
            ranked.append(((is_long, table.n_rows), number, roles))
    if not ranked:
        return None
    _, number, roles = max(ranked, key=lambda entry: entry[0])
    return number, roles


def _beside_labels(table: Table, labels: Table, roles: Roles) -> RecognisedFile:
    """Say what a table is to the labels, by its ids and its values."""
    coded = extract(labels, roles)
    # A blank row names neither an item nor a class.
    items, classes = (
        {name for name in names if name.strip()} for names in (coded.items, coded.classes)
    )
    id_column, n_known = _id_column(table, items)
    if id_column is None:
        if set(table.columns) == set(labels.columns):
            why = f"More labels, with the columns of {labels.name}. Load it on its own."
        else:
            why = f"None of its columns names the items of {labels.name}."
        return RecognisedFile(name=table.name, kind="other", why=why)
    known = f"{n_known:,} of the {count(len(items), 'item')}"
    for column in table.columns:
        answers = {name for name in table.coded(column).names if name.strip()}
        if column == id_column or not answers:
            continue
        is_named = name_rank("gold", column) is not None
        n_shared = len(answers & classes)
        if n_shared >= _MIN_KNOWN_ANSWERS * len(answers) or (is_named and n_shared):
            why = f"Column {column!r} holds answers of {known}."
            return RecognisedFile(name=table.name, kind="gold", why=why)
    others = count(len(table.columns) - 1, "column")
    return RecognisedFile(name=table.name, kind="features", why=f"{others} about {known}.")


def _id_column(table: Table, items: set[str]) -> tuple[str | None, int]:
    """The column whose cells name the most items, each once; and how many it names."""
    best: tuple[str | None, int] = (None, 0)
    for column in table.columns:
        coded = table.coded(column)
        known = np.array([name.strip() in items for name in coded.names], bool)
        n_known = int(known.sum())
        repeats = len(coded.names) < table.n_rows
        if repeats or n_known < _MIN_KNOWN_IDS * len(coded.names) or n_known <= best[1]:
            continue
        best = (column, n_known)
    return best
