from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.io.beliefs import read_beliefs
from crowdcore.io.writers import write_csv
from crowdcore.registry import fit
from tests.crowds import golden_crowd


def test_beliefs_come_back_from_the_file_that_a_run_wrote(tmp_path: Path) -> None:
    result = fit(golden_crowd(), "ds")
    write_csv(result.truths(), tmp_path / "truths.csv")
    found = read_beliefs(tmp_path)
    np.testing.assert_allclose(found.about(result.data), result.posterior, atol=1e-9)


def test_scores_of_items_and_workers_come_back_too(tmp_path: Path) -> None:
    result = fit(golden_crowd(), "glad")
    write_csv(result.truths(), tmp_path / "truths.csv")
    write_csv(result.workers(), tmp_path / "workers.csv")
    found, data = read_beliefs(tmp_path), result.data
    np.testing.assert_allclose(
        found.of_items("difficulty", data, otherwise=0), result.item_scores["difficulty"]
    )
    ability = result.worker_scores["ability"]
    assert ability.min() < 0  # no sign is taken for the start of a formula
    np.testing.assert_allclose(found.of_workers("ability", data, otherwise=0), ability)
    assert set(found.item_scores) == {"difficulty"}
    assert "verdict" not in found.worker_scores


def test_names_that_look_like_formulas_come_back_as_they_were(tmp_path: Path) -> None:
    data = CrowdData.from_triples([("=i", "w", "-x"), ("=i", "v", "+y"), ("007", "w", "-x")])
    write_csv(fit(data, "mv").truths(), tmp_path / "truths.csv")
    found = read_beliefs(tmp_path)
    assert (found.items, set(found.classes)) == (data.items, set(data.classes))


def test_a_folder_without_truths_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no truths\.csv"):
        read_beliefs(tmp_path)
    (tmp_path / "truths.csv").write_text("item,truth\na,b\n")
    with pytest.raises(DataError, match="no p: columns"):
        read_beliefs(tmp_path)
    (tmp_path / "truths.csv").write_text("item,p:x\na,zero\n")
    with pytest.raises(DataError, match="not a number"):
        read_beliefs(tmp_path)
