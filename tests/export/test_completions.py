"""A completion becomes a file in parts, and nothing that was filled in passes for observed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdcore.artefacts.completion import Completion, Filled
from crowdcore.data import CrowdData, DataError
from crowdcore.export import completions
from crowdcore.export.completions import write_long, write_wide
from tests.crowds import golden_crowd

FACTS: dict[str, Any] = {"method": "test", "title": "Test", "params": {}}
BOTH = pytest.mark.parametrize("suffix", [".csv", ".parquet"])


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completions, "CELLS_PER_CHUNK", 500)
    monkeypatch.setattr(completions, "MIN_ITEMS_PER_CHUNK", 7)


def half_filled(data: CrowdData) -> Completion:
    rng = np.random.default_rng(0)
    shape = (data.n_items, data.n_workers)
    label = rng.integers(-data.n_classes, data.n_classes, shape).clip(min=-1)
    return Completion.from_filled(
        data, Filled(label=label, probability=rng.uniform(0.1, 1, shape)), FACTS
    )


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype={"probability": np.float32}, keep_default_na=False, na_values="")


@BOTH
def test_the_long_form_has_every_label_once_with_its_origin(tmp_path: Path, suffix: str) -> None:
    done = half_filled(golden_crowd())
    path = tmp_path / f"long{suffix}"
    write_long(done, path)
    table, whole, data = read(path), done.listed(), done.data
    expected = sorted(
        zip(
            np.array(data.items)[whole.item],
            np.array(data.workers)[whole.worker],
            np.array(data.classes)[whole.label],
            ["observed"] * data.n_labels + ["filled"] * done.n_filled,
            strict=True,
        )
    )
    columns = ["item", "worker", "label", "origin"]
    assert sorted(table[columns].astype(str).itertuples(index=False, name=None)) == expected
    filled = table["origin"] == "filled"
    assert table.loc[~filled, "probability"].isna().all()
    place = [{name: at for at, name in enumerate(names)} for names in (data.items, data.workers)]
    item, worker = (
        table.loc[filled, name].astype(str).map(codes).to_numpy()
        for name, codes in zip(("item", "worker"), place, strict=True)
    )
    np.testing.assert_array_equal(table.loc[filled, "probability"], done.probability[item, worker])
    order = [place[0][name] for name in table["item"].astype(str)]
    assert order == sorted(order)


@BOTH
def test_the_wide_form_has_a_row_an_item_and_a_column_a_worker(tmp_path: Path, suffix: str) -> None:
    done = half_filled(golden_crowd())
    path = tmp_path / f"wide{suffix}"
    write_wide(done, path)
    table, data = read(path), done.data
    assert list(table.columns) == ["item", "origin", *data.workers]
    assert table["item"].astype(str).tolist() == list(data.items)
    cells = done.label.copy()
    cells[data.item, data.worker] = data.label
    names = np.array([*data.classes, ""], object)  # the last for -1
    given = table.drop(columns=["item", "origin"]).astype(object)
    np.testing.assert_array_equal(given.where(given.notna(), "").astype(str), names[cells])
    origin = np.where(done.label >= 0, "f", ".")
    origin[data.item, data.worker] = "o"
    assert table["origin"].tolist() == ["".join(row) for row in origin]


@pytest.mark.parametrize("write", [write_long, write_wide])
def test_names_that_look_like_formulas_are_made_harmless_in_csv_alone(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    data = golden_crowd()
    risky = dataclasses.replace(
        data,
        items=("=1+1", *data.items[1:]),
        workers=("@w", *data.workers[1:]),
        classes=("-a b", *data.classes[1:]),
    )
    done = half_filled(risky)
    names = ("=1+1", "@w", "-a b")
    write(done, tmp_path / "safe.csv")
    write(done, tmp_path / "exact.csv", spreadsheet_safe=False)
    write(done, tmp_path / "exact.parquet")
    safe, exact = ((tmp_path / f"{name}.csv").read_text() for name in ("safe", "exact"))
    for name in names:
        assert f'"\'{name}"' in safe
        assert f'"{name}"' not in safe
        assert f'"{name}"' in exact
    table = pd.read_parquet(tmp_path / "exact.parquet")
    assert set(names) <= {*table.to_numpy().ravel(), *table.columns}


def test_a_pair_labelled_twice_is_two_rows_but_one_cell(tmp_path: Path) -> None:
    triples = [("a", "v", "no"), ("a", "v", "yes"), ("b", "w", "no")]
    data = CrowdData.from_triples(triples)
    label = np.zeros((2, 2), int)
    done = Completion.from_filled(
        data, Filled(label=label, probability=np.ones(label.shape)), FACTS
    )
    write_long(done, tmp_path / "long.parquet")
    long = pd.read_parquet(tmp_path / "long.parquet")
    assert long["label"].tolist() == ["no", "yes", "no", "no", "no"]
    assert long["origin"].tolist() == ["observed", "observed", "filled", "filled", "observed"]
    write_wide(done, tmp_path / "wide.parquet")
    assert pd.read_parquet(tmp_path / "wide.parquet")["v"].tolist() == ["yes", "no"]


def test_a_worker_called_item_keeps_a_column_of_its_own(tmp_path: Path) -> None:
    data = CrowdData.from_triples([("a", "item", "no"), ("a", "item (2)", "yes")])
    nothing = np.full((1, 2), -1)
    done = Completion.from_filled(data, Filled(label=nothing, probability=np.zeros((1, 2))), FACTS)
    write_wide(done, tmp_path / "wide.parquet")
    table = pd.read_parquet(tmp_path / "wide.parquet")
    columns = {"item": ["a"], "origin": ["oo"], "item (2)": ["no"], "item (2) (2)": ["yes"]}
    assert table.to_dict("list") == columns


def test_other_suffixes_are_refused_and_nothing_is_left_of_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = half_filled(golden_crowd())
    with pytest.raises(DataError, match=r"\.parquet or \.csv, not as 'long\.xlsx'"):
        write_long(done, tmp_path / "long.xlsx")
    whole = completions._long_rows

    def full_disk(*arguments: Any) -> Any:
        if arguments[1]:  # not the first items
            raise OSError("no space left")
        return whole(*arguments)

    monkeypatch.setattr(completions, "_long_rows", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_long(done, tmp_path / "long.parquet")
    assert list(tmp_path.iterdir()) == []
