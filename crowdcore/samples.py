"""Sample projects with a known truth, to look around in."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crowdcore
from crowdcore.data import DataError, Kind
from crowdcore.methods import BASELINES, DEFAULTS

if TYPE_CHECKING:
    from crowdcore.data import CrowdData


def sample_methods(kind: Kind) -> tuple[str, str]:
    """Return the ids of the methods that a new sample project of a kind is run with.

    Parameters
    ----------
    kind
        What its labels are.
    """
    return BASELINES[kind], DEFAULTS[kind]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample project.

    Parameters
    ----------
    id
        Its short name.
    title, description
        What it is, for people.
    folder
        The folder of its files.
    """

    id: str
    title: str
    description: str
    folder: Path


def samples() -> list[Sample]:
    """List every sample project, by id.

    Returns
    -------
    list of Sample
    """
    return [
        Sample(
            id=path.parent.name,
            title=(facts := _facts(path.parent))["title"],
            description=facts["description"],
            folder=path.parent,
        )
        for path in sorted(_root().glob("*/project.json"))
    ]


def load_sample(id: str) -> CrowdData:
    """Read a sample project, with its gold, features and details.

    Parameters
    ----------
    id
        Its short name.

    Returns
    -------
    CrowdData

    Raises
    ------
    DataError
        If there is no such sample.
    """
    from crowdcore.reading import read_labels

    folders = {sample.id: sample.folder for sample in samples()}
    if id not in folders:
        raise DataError(f"There is no sample {id!r}", fix=f"There are {', '.join(folders)}.")
    folder = folders[id]
    files = {role: _file(folder, role) for role in ("labels", "gold", "features", "details")}
    if files["labels"] is None:
        raise DataError("The sample names no labels", file=f"{id}/project.json")
    data = read_labels(files["labels"], gold=files["gold"], features=files["features"])
    return data if files["details"] is None else _with_details(data, files["details"])


def _root() -> Path:
    """Return the folder of the samples; installed and in the source tree alike beside us."""
    return Path(crowdcore.__file__).resolve().parent.parent / "sample_data"


def _facts(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / "project.json").read_text(encoding="utf-8"))
    return facts


def _file(folder: Path, role: str) -> Path | None:
    name = _facts(folder).get(role)
    return folder / name if name else None


def _with_details(data: CrowdData, path: Path) -> CrowdData:
    """Join the columns of a table whose first column names the items."""
    from crowdcore.reading import open_table

    table = open_table(path)
    key, *columns = table.columns
    row_of_item = {name: row for row, name in enumerate(table.text(key).to_pylist())}
    rows = [row_of_item.get(name) for name in data.items]
    details = dict(data.details)
    for column in columns:
        texts = table.text(column).to_pylist()
        details[column] = tuple("" if row is None else texts[row] for row in rows)
    return replace(data, details=details)
