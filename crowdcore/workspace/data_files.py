"""A data set on disk: labels and names in Parquet, features as .npy, the rest as JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.atomic import PRIVATE_FOLDER
from crowdcore.data import UNKNOWN, CrowdData, DataError

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.export.columns import TableColumn
    from crowdcore.reading.features.recipe import FeatureRecipe
    from crowdcore.reading.labels.health import HealthReport
    from crowdcore.reading.parsing.original import Original

FORMAT = 1

CONTENTS = {
    "labels.parquet": "the labels",
    "items.parquet": "the items with their gold and details",
    "workers.parquet": "the names of the workers",
    "features.npy": "the features",
    "offsets.npy": "where sentences begin",
    "sets.npy": "which classes each answer holds",
    "data.json": "the names of the classes",
    "recipe.json": "the recipe of the features",
    "recipe.npz": "the numbers of that recipe",
    "report.json": "the health report",
    "original.zst": "the file that the labels came from",
    "original.json": "the layout of that file",
    "rows.parquet": "the items of its rows",
}
"""What the files of a data set hold, in words."""

WAY_BACK = "original.zst"
"""The file that labels came from: needed for the way back only, so that its loss is not theirs."""

_DETAIL = "detail:"


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """What the catalogue says of data, and how much room they take.

    Parameters
    ----------
    fingerprint, kind, n_labels, n_items, n_workers, n_classes, n_gold, n_features
        Those of `CrowdData`.
    n_bytes
        About how much room they take on disk.
    """

    fingerprint: str
    kind: str
    n_labels: int
    n_items: int
    n_workers: int
    n_classes: int
    n_gold: int
    n_features: int
    n_bytes: int

    @classmethod
    def of(cls, data: CrowdData) -> DataFacts:
        """Take the facts of data."""
        names = [field.name for field in fields(cls) if field.name != "n_bytes"]
        return cls(**{name: getattr(data, name) for name in names}, n_bytes=estimated_bytes(data))


def write_draft(data: CrowdData, folder: Path) -> DataFacts:
    """Write data that are not yet a data set into a new folder.

    Parameters
    ----------
    data : CrowdData
        The data.
    folder : Path
        The folder to make.

    Returns
    -------
    DataFacts
        What `Workspace.adopt_data` needs to know of them.
    """
    folder.mkdir(mode=PRIVATE_FOLDER)
    write_data(data, folder)
    return DataFacts.of(data)


def copy_files(folder: Path, target: Path) -> None:
    """Copy the files that `write_draft` wrote into another folder."""
    for path in folder.iterdir():
        shutil.copyfile(path, target / path.name)


def write_data(data: CrowdData, folder: Path) -> None:
    """Write a data set into an empty folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = {"item": data.item, "worker": data.worker, "label": data.label}
    seconds = {"time": data.time, "duration": data.duration}
    labels |= {name: values for name, values in seconds.items() if values is not None}
    if data.row is not None:
        labels["row"] = data.row
    if data.other is not None:
        labels["other"] = data.other
    items: dict[str, Any] = {
        "item": _texts(data.items, "item"),
        "n_labels": data.labels_per_item,
    }
    if data.gold is not None:
        items["gold"] = data.gold
    for name, values in data.details.items():
        items[_DETAIL + name] = _texts(values, name)
    workers = {"worker": _texts(data.workers, "worker"), "n_labels": data.labels_per_worker}
    for stem, columns in [("labels", labels), ("items", items), ("workers", workers)]:
        pq.write_table(pa.table(columns), folder / f"{stem}.parquet", compression="zstd")
    for stem, array in [
        ("features", data.features),
        ("offsets", data.offsets),
        ("sets", data.sets),
    ]:
        if array is not None:
            np.save(folder / f"{stem}.npy", array, allow_pickle=False)
    facts = {
        "format": FORMAT,
        "kind": data.kind,
        "classes": list(data.classes),
        "feature_names": list(data.feature_names),
    }
    write_json(folder / "data.json", facts)
    if data.recipe is not None:
        recipe, arrays = data.recipe.pack()
        write_json(folder / "recipe.json", recipe)
        np.savez(folder / "recipe.npz", **arrays)
    if data.report is not None:
        write_json(folder / "report.json", data.report.to_json())
    if data.original is not None:
        write_json(folder / "original.json", data.original.to_json())
        data.original.save(folder / WAY_BACK)
        if data.original.item is not None:
            rows = pa.table({"item": data.original.item})
            pq.write_table(rows, folder / "rows.parquet", compression="zstd")


def estimated_bytes(data: CrowdData) -> int:
    """Estimate how much room a data set takes, before compression.

    Parameters
    ----------
    data : CrowdData
        The data.

    Returns
    -------
    int
        Bytes; rather too many than too few.
    """
    labels = (data.item, data.worker, data.label, data.other, data.time, data.duration)
    arrays = (*labels, data.gold, data.features, data.offsets, data.sets)
    names = (data.items, data.workers, data.classes, data.feature_names, *data.details.values())
    n_bytes = sum(array.nbytes for array in arrays if array is not None)
    n_bytes += 0 if data.original is None else data.original.n_bytes
    return n_bytes + sum(len(name) + 8 for column in names for name in column)


def read_data(folder: Path) -> CrowdData:
    """Read a data set back, equal to what was written, with its report."""
    facts = read_json(folder / "data.json")
    labels = _columns(folder / "labels.parquet")
    items = _columns(folder / "items.parquet")
    return CrowdData(
        item=labels["item"].to_numpy(),
        worker=labels["worker"].to_numpy(),
        label=labels["label"].to_numpy(),
        items=tuple(items["item"].to_pylist()),
        workers=worker_names(folder),
        classes=tuple(facts["classes"]),
        kind=facts["kind"],
        gold=items["gold"].to_numpy() if "gold" in items else None,
        features=_load(folder / "features.npy", mapped=True),
        feature_names=tuple(facts["feature_names"]),
        recipe=_read_recipe(folder),
        time=labels["time"].to_numpy() if "time" in labels else None,
        duration=labels["duration"].to_numpy() if "duration" in labels else None,
        row=labels["row"].to_numpy() if "row" in labels else None,
        offsets=_load(folder / "offsets.npy"),
        other=labels["other"].to_numpy() if "other" in labels else None,
        sets=_load(folder / "sets.npy"),
        details={
            name.removeprefix(_DETAIL): tuple(column.to_pylist())
            for name, column in items.items()
            if name.startswith(_DETAIL)
        },
        report=read_report(folder),
        original=_read_original(folder),
    )


def _read_original(folder: Path) -> Original | None:
    """Tell where the file lies that the labels came from; its bytes are read when asked for."""
    path = folder / "original.json"
    if not path.exists():
        return None
    from crowdcore.reading.parsing.original import Original

    rows = folder / "rows.parquet"
    item = _columns(rows)["item"].to_numpy() if rows.exists() else None
    return Original.from_json(read_json(path), folder / WAY_BACK, item)


def read_report(folder: Path) -> HealthReport | None:
    """Read the health report of a data set, if its reader made one."""
    path = folder / "report.json"
    if not path.exists():
        return None
    from crowdcore.reading.labels.health import HealthReport

    return HealthReport.from_json(read_json(path))


def worker_names(folder: Path) -> tuple[str, ...]:
    """Read the names of the workers, in the order of their codes."""
    return tuple(_columns(folder / "workers.parquet")["worker"].to_pylist())


def worker_counts(folder: Path) -> dict[str, int]:
    """Read how many labels each worker gave."""
    columns = _columns(folder / "workers.parquet")
    return dict(zip(columns["worker"].to_pylist(), columns["n_labels"].to_pylist(), strict=True))


def read_gold(folder: Path) -> pd.Series[Any] | None:
    """Read the known answers by item: names of classes, or numbers; None where there are none."""
    import pandas as pd
    import pyarrow.parquet as pq

    names = pq.read_schema(folder / "items.parquet").names
    if "gold" not in names:
        return None
    table = pd.read_parquet(folder / "items.parquet", columns=["item", "gold"], partitioning=None)
    gold = table.set_index("item")["gold"]
    if pd.api.types.is_float_dtype(gold.dtype):
        return gold.dropna()
    classes = dict(enumerate(read_json(folder / "data.json")["classes"]))
    named: pd.Series[Any] = gold[gold != UNKNOWN].map(classes).astype("object")
    return named


def has_any_item(folder: Path, names: Sequence[str]) -> bool:
    """Whether one of some names is an item of a data set, without reading anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    items = pq.read_table(folder / "items.parquet", columns=["item"], partitioning=None)["item"]
    return bool(pc.any(pc.is_in(items, pa.array(list(names), items.type))).as_py())


def write_json(path: Path, value: Any) -> None:
    """Write JSON; floats come back as they were, NaN too."""
    path.write_text(json.dumps(value, ensure_ascii=True), encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read what `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def _texts(values: tuple[str, ...], name: str) -> Any:
    """Make a Parquet column of names; half a character, as broken files have, cannot be kept."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError as error:
        raise DataError(
            f"A {name} name holds a broken character, {error.object[error.start]!r}",
            fix="Save the file as UTF-8 and read it again.",
        ) from None


def _load(path: Path, *, mapped: bool = False) -> Any:
    """Load an array; a mapped one is only read where it is looked at, as pictures may be large."""
    mode: Any = "r" if mapped else None
    return np.load(path, mmap_mode=mode, allow_pickle=False) if path.exists() else None


def _read_recipe(folder: Path) -> FeatureRecipe | None:
    path = folder / "recipe.json"
    if not path.exists():
        return None
    from crowdcore.reading.features.recipe import FeatureRecipe

    with (folder / "recipe.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return FeatureRecipe.unpack(read_json(path), dict(arrays))


def _columns(path: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    # partitioning=None: folder names must never become columns.
    table = pq.read_table(path, partitioning=None)
    return dict(zip(table.column_names, table.columns, strict=True))


def read_table(
    path: Path, columns: Collection[TableColumn[Any]], *, without: str | None = None
) -> pd.DataFrame:
    """Read a table of a result as it would be written today.

    Parameters
    ----------
    path
        The Parquet file.
    columns
        The definitions of the table's columns: in files of earlier versions every other column is
        a score, and gets its prefix.
    without
        Leave out columns with this prefix.

    Returns
    -------
    pandas.DataFrame
        The table.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    from crowdcore.export.columns import SCORE, score_columns

    names = pq.read_schema(path).names
    kept = [name for name in names if without is None or not name.startswith(without)]
    table = pd.read_parquet(path, columns=kept, partitioning=None)
    scores = score_columns(kept, columns)
    return table.rename(columns={name: SCORE + score for name, score in scores.items()})
