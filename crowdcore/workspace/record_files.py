"""What each folder of a workspace is, written into the folder itself: `record.json`.

The catalogue is what everybody reads. If it is lost, it is made again from these files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdcore.atomic import write_private
from crowdcore.workspace.catalogue import is_id

FILE = "record.json"

KINDS = (("projects", "project"), ("data", "dataset"), ("runs", "run"))
"""The folders whose subfolders belong to rows of the catalogue, and the tables of these rows."""

RESULT = "result"
"""The folder of a result, inside the run's; it appears whole, when everything is written."""

_RUN = (
    "id", "project_id", "dataset_id", "number", "method", "title", "params", "seed", "device",
    "excluded", "created", "warm_from", "member_of", "completion", "decisions",
    "preview",
)  # fmt: skip
"""What a run was asked to do, which never changes."""


def write(folder: Path, table: str, row: Mapping[str, Any], *, scratch: Path) -> None:
    """Write into a folder what it is.

    Parameters
    ----------
    folder : Path
        The folder of the row.
    table : str
        The table of the catalogue that the row is in.
    row : Mapping
        One value per column.
    scratch : Path
        A folder on the same disk, that is swept.
    """
    values = {name: row[name] for name in _RUN if name in row} if table == "run" else dict(row)
    text = json.dumps({"table": table, "row": values}, indent=1)
    write_private(folder / FILE, text, scratch=scratch)


def read(folder: Path, table: str) -> dict[str, Any] | None:
    """Read what a folder is.

    Parameters
    ----------
    folder : Path
        A folder of a workspace, named by its id.
    table : str
        The table that its row should be in.

    Returns
    -------
    dict of str to object or None
        The values of its row; None if the folder does not know, or says something else.
    """
    try:
        record = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    row = record.get("row") if isinstance(record, dict) else None
    if not isinstance(row, dict) or record.get("table") != table or row.get("id") != folder.name:
        return None
    return row


def is_whole(folder: Path, table: str) -> bool:
    """Tell whether a folder holds something that would be missed.

    Parameters
    ----------
    folder : Path
        A folder of a workspace.
    table : str
        The table that its row should be in.

    Returns
    -------
    bool
        True for saved data, and for a result; that of a pool's member counts with its pool's.
    """
    if table == "dataset":
        return (folder / "data.json").exists()
    if table == "project":
        return read(folder, table) is not None
    if not (folder / RESULT).exists():
        return False
    record = read(folder, table)
    pool = None if record is None else record.get("member_of")
    return pool is None or (is_id(pool) and (folder.parent / pool / RESULT).exists())
