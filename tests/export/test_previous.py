from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.export.previous import read_warm_start
from crowdcore.export.writers import write_csv
from crowdcore.registry import fit
from tests.crowds import golden_crowd


def test_beliefs_come_back_from_the_file_that_a_run_wrote(tmp_path: Path) -> None:
    result = fit(golden_crowd(), "ds")
    write_csv(result.truths(), tmp_path / "truths.csv")
    beliefs = read_warm_start(tmp_path)
    np.testing.assert_allclose(beliefs.posterior_for(result.data), result.posterior, atol=1e-9)


def test_scores_of_items_and_workers_come_back_too(tmp_path: Path) -> None:
    result = fit(golden_crowd(), "glad")
    write_csv(result.truths(), tmp_path / "truths.csv")
    write_csv(result.workers(), tmp_path / "workers.csv")
    beliefs, data = read_warm_start(tmp_path), result.data
    np.testing.assert_allclose(
        beliefs.item_scores_for("difficulty", data, default=0), result.item_scores["difficulty"]
    )
    ability = result.worker_scores["ability"]
    assert ability.min() < 0  # no sign is taken for the start of a formula
    np.testing.assert_allclose(beliefs.worker_scores_for("ability", data, default=0), ability)
    assert set(beliefs.item_scores) == {"difficulty"}
    assert set(beliefs.worker_scores) == {"ability"}


def test_scores_come_back_from_files_of_earlier_versions(tmp_path: Path) -> None:
    result = fit(golden_crowd(), "glad")
    for name, table in (("truths", result.truths()), ("workers", result.workers())):
        earlier = table.rename(columns=lambda column: column.removeprefix("score:"))
        write_csv(earlier, tmp_path / f"{name}.csv")
    beliefs = read_warm_start(tmp_path)
    assert (set(beliefs.item_scores), set(beliefs.worker_scores)) == ({"difficulty"}, {"ability"})
    np.testing.assert_allclose(beliefs.item_scores["difficulty"], result.item_scores["difficulty"])


def test_numbers_that_somebody_added_are_no_scores(tmp_path: Path) -> None:
    result = fit(golden_crowd(), "glad")
    write_csv(result.truths().assign(remark=1.0), tmp_path / "truths.csv")
    assert set(read_warm_start(tmp_path).item_scores) == {"difficulty"}


def test_names_that_look_like_formulas_come_back_as_they_were(tmp_path: Path) -> None:
    data = CrowdData.from_triples([("=i", "w", "-x"), ("=i", "v", "+y"), ("007", "w", "-x")])
    write_csv(fit(data, "mv").truths(), tmp_path / "truths.csv")
    beliefs = read_warm_start(tmp_path)
    assert (beliefs.items, set(beliefs.classes)) == (data.items, set(data.classes))


def test_a_folder_without_truths_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no truths\.csv"):
        read_warm_start(tmp_path)
    (tmp_path / "truths.csv").write_text("item,truth\na,b\n")
    with pytest.raises(DataError, match="no p: columns"):
        read_warm_start(tmp_path)
    (tmp_path / "truths.csv").write_text("item,p:x\na,zero\n")
    with pytest.raises(DataError, match="not a number"):
        read_warm_start(tmp_path)
