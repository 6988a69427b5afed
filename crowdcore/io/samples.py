"""Sample projects with a known truth, to look around in."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crowdcore
from crowdcore.data import DataError

if TYPE_CHECKING:
    from crowdcore.data import CrowdData


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample project: what it is, and the folder of its files."""

    id: str
    title: str
    description: str
    folder: Path


def samples() -> list[Sample]:
    """Every sample project, by id."""
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
    """Read a sample project, with its gold, features and details."""
    from crowdcore.io.labels import read_labels

    known = {sample.id: sample.folder for sample in samples()}
    if id not in known:
        raise DataError(f"There is no sample {id!r}", fix=f"There are {', '.join(known)}.")
    folder = known[id]
    files = {role: _file(folder, role) for role in ("labels", "gold", "features", "details")}
    if files["labels"] is None:
        raise DataError("The sample names no labels", file=f"{id}/project.json")
    data = read_labels(files["labels"], gold=files["gold"], features=files["features"])
    return data if files["details"] is None else _with_details(data, files["details"])


def _root() -> Path:
    """Installed and in the source tree alike, the samples lie beside the package."""
    return Path(crowdcore.__file__).resolve().parent.parent / "sample_data"


def _facts(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / "project.json").read_text(encoding="utf-8"))
    return facts


def _file(folder: Path, role: str) -> Path | None:
    name = _facts(folder).get(role)
    return folder / name if name else None


def _with_details(data: CrowdData, path: Path) -> CrowdData:
    """Join the columns of a table whose first column names the items."""
    from crowdcore.io.table import open_table

    table = open_table(path)
    key, *columns = table.columns
    place = {name: row for row, name in enumerate(table.text(key).to_pylist())}
    rows = [place.get(name) for name in data.items]
    details = dict(data.details)
    for column in columns:
        texts = table.text(column).to_pylist()
        details[column] = tuple("" if row is None else texts[row] for row in rows)
    return replace(data, details=details)
