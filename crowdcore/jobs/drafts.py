"""Drafts: uploaded files that are not yet saved, opened and read in a process of their own.

`read_draft` and `extend_draft` are what that process does; see `crowdcore.jobs.reading_process`.
The server gets small answers, and the data themselves lie in the draft's folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from crowdcore.data import CrowdData
from crowdcore.reading.candidates.propose import propose_readings
from crowdcore.reading.columns.guess import settle_roles
from crowdcore.reading.columns.roles import Guess, Roles, override
from crowdcore.reading.features.pictures import DEFAULT_SIDE_PIXELS
from crowdcore.reading.findings import Finding
from crowdcore.reading.labels.additions import add_features, add_gold, add_labels
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.health import HealthReport
from crowdcore.reading.labels.read import read_labels
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.sequences.read import read_texts
from crowdcore.workspace.data_files import DataFacts, estimated_bytes, read_data, write_draft
from crowdcore.workspace.disk import writing

Extra = Literal["gold", "features"]
Addition = Literal["gold", "features", "labels"]


@dataclass(frozen=True, kw_only=True)
class UploadedFile:
    """A file as it was uploaded: its name, and where its bytes lie."""

    name: str
    path: Path


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """How to read a draft.

    Parameters
    ----------
    labels
        The labels file.
    roles
        What its columns are.
    guess
        The guess that the roles were chosen over: its reasons are kept where it was right.
    extras
        Gold and features.
    feature_columns
        Columns of the labels file that are features.
    picture_size
        The side in pixels to which pictures are brought; None is the usual one.
    cleaning
        What to do about faults; None is the usual.
    target
        A new folder for the data.
    texts
        Whether the file holds annotated texts, which have no columns.
    """

    labels: UploadedFile
    roles: Roles
    target: Path
    guess: Guess | None = None
    extras: Mapping[Extra, UploadedFile] = field(default_factory=dict)
    feature_columns: tuple[str, ...] = ()
    picture_size: int | None = None
    cleaning: Cleaning | None = None
    texts: bool = False


@dataclass(frozen=True, kw_only=True)
class ReadDraft:
    """What came of reading a draft: its report, its facts, and the folder that holds the data."""

    report: HealthReport
    facts: DataFacts
    folder: Path


def read_draft(request: ReadRequest) -> ReadDraft:
    """Read a draft and write its data into its folder.

    Parameters
    ----------
    request : ReadRequest
        How to read it.

    Returns
    -------
    ReadDraft
        The report, the facts and the folder.

    Raises
    ------
    DataError
        It cannot be read so, or there is no room for it.
    """
    if request.texts:
        data = read_texts(request.labels.path, name=request.labels.name, cleaning=request.cleaning)
    else:
        data = _read_table(request)
    with writing(request.target.parent, "What was read", needed=estimated_bytes(data)):
        facts = write_draft(data, request.target)
    return ReadDraft(report=data.report, facts=facts, folder=request.target)


def _read_table(request: ReadRequest) -> CrowdData:
    readings = propose_readings(open_table(request.labels.path, name=request.labels.name))
    table, guess = settle_roles(readings.table, request.roles)
    if request.guess is not None:
        guess = override(request.guess, request.roles, table.columns, file=table.name)
    gold, features = request.extras.get("gold"), request.extras.get("features")
    return read_labels(
        table,
        roles=guess,
        gold=gold.path if gold else None,
        gold_name=gold.name if gold else None,
        features=features.path if features else None,
        features_name=features.name if features else None,
        feature_columns=request.feature_columns,
        picture_size=request.picture_size or DEFAULT_SIDE_PIXELS,
        cleaning=request.cleaning or Cleaning(),
    )


@dataclass(frozen=True, kw_only=True)
class ExtendRequest:
    """What to add to a data set.

    Parameters
    ----------
    base
        The folder of the data set.
    what
        What the file holds.
    file
        The file.
    target
        A new folder for the data with what was added.
    picture_size
        The side in pixels to which pictures are brought; None is the usual one.
    """

    base: Path
    what: Addition
    file: UploadedFile
    target: Path
    picture_size: int | None = None


@dataclass(frozen=True, kw_only=True)
class ExtendedDraft:
    """What came of an addition: how much is new, what was found, and the folder of all data."""

    added: Mapping[str, int]
    findings: tuple[Finding, ...]
    facts: DataFacts
    folder: Path


def extend_draft(request: ExtendRequest) -> ExtendedDraft:
    """Add gold, features or labels to a data set, and write all of it into a new folder.

    Parameters
    ----------
    request : ExtendRequest
        What to add to what.

    Returns
    -------
    ExtendedDraft
        What is new.

    Raises
    ------
    DataError
        The file cannot be used, says nothing new, or there is no room.
    """
    data, path, name = read_data(request.base), request.file.path, request.file.name
    if request.what == "labels":
        extended = add_labels(data, path, name=name)
    elif request.what == "gold":
        extended = add_gold(data, path, name=name)
    else:
        size = request.picture_size or DEFAULT_SIDE_PIXELS
        extended = add_features(data, path, name=name, picture_size=size)
    with writing(request.target.parent, "What was read", needed=estimated_bytes(extended.data)):
        facts = write_draft(extended.data, request.target)
    return ExtendedDraft(
        added=extended.added, findings=extended.findings, facts=facts, folder=request.target
    )
