"""A data set on disk: labels and names in Parquet, features as .npy, the rest as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.data import UNKNOWN, CrowdData, DataError

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.io.health import HealthReport
    from crowdcore.io.recipe import FeatureRecipe

FORMAT = 1

_DETAIL = "detail:"


def write_data(data: CrowdData, folder: Path) -> None:
    """Write a data set into an empty folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = {"item": data.item, "worker": data.worker, "label": data.label}
    if data.time is not None:
        labels["time"] = data.time
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
    for stem, array in [("features", data.features), ("offsets", data.offsets)]:
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
        offsets=_load(folder / "offsets.npy"),
        details={
            name.removeprefix(_DETAIL): tuple(column.to_pylist())
            for name, column in items.items()
            if name.startswith(_DETAIL)
        },
        report=read_report(folder),
    )


def read_report(folder: Path) -> HealthReport | None:
    """Read the health report of a data set, if its reader made one."""
    path = folder / "report.json"
    if not path.exists():
        return None
    from crowdcore.io.health import HealthReport

    return HealthReport.from_json(read_json(path))


def worker_names(folder: Path) -> tuple[str, ...]:
    """Read the names of the workers, in the order of their codes."""
    return tuple(_columns(folder / "workers.parquet")["worker"].to_pylist())


def worker_counts(folder: Path) -> dict[str, int]:
    """Read how many labels each worker gave."""
    columns = _columns(folder / "workers.parquet")
    return dict(zip(columns["worker"].to_pylist(), columns["n_labels"].to_pylist(), strict=True))


def read_item_table(folder: Path) -> pd.DataFrame:
    """One row an item: item, gold ("" where unknown; NaN for ratings), details, n_labels."""
    import pandas as pd

    facts = read_json(folder / "data.json")
    columns = _columns(folder / "items.parquet")
    table: dict[str, Any] = {"item": columns["item"].to_pandas()}
    if facts["kind"] == "ratings":
        table["gold"] = columns["gold"].to_numpy() if "gold" in columns else np.nan
    else:
        names = np.array([*facts["classes"], ""], dtype=object)  # UNKNOWN, -1, is the last
        gold = columns["gold"].to_numpy() if "gold" in columns else UNKNOWN
        table["gold"] = pd.Series(np.broadcast_to(names[gold], len(table["item"])), dtype="str")
    for name, column in columns.items():
        if name.startswith(_DETAIL):
            shown = name.removeprefix(_DETAIL)
            shown = f"{shown} (detail)" if shown in {*table, "n_labels"} else shown
            table[shown] = column.to_pandas()
    table["n_labels"] = columns["n_labels"].to_numpy()
    return pd.DataFrame(table)


def read_label_table(folder: Path) -> pd.DataFrame:
    """One row a label: item, worker and label as categories (ratings as numbers), and time."""
    import pandas as pd

    facts = read_json(folder / "data.json")
    names = {
        "item": pd.Index(_columns(folder / "items.parquet")["item"].to_pandas()),
        "worker": pd.Index(_columns(folder / "workers.parquet")["worker"].to_pandas()),
        "label": pd.Index(facts["classes"], dtype="str"),
    }
    if facts["kind"] == "ratings":
        del names["label"]
    table: dict[str, Any] = {}
    for name, column in _columns(folder / "labels.parquet").items():
        table[name] = column.to_numpy()
        if name in names:
            table[name] = pd.Categorical.from_codes(table[name], names[name])
    return pd.DataFrame(table)


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
    from crowdcore.io.recipe import FeatureRecipe

    with np.load(folder / "recipe.npz", allow_pickle=False) as arrays:
        return FeatureRecipe.unpack(read_json(path), dict(arrays))


def _columns(path: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    # partitioning=None: folder names must never become columns.
    table = pq.read_table(path, partitioning=None)
    return dict(zip(table.column_names, table.columns, strict=True))


def read_table(path: Path) -> pd.DataFrame:
    """Read a whole Parquet file."""
    import pandas as pd

    return pd.read_parquet(path, partitioning=None)
