from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdcore.projection import project
from crowdcore.workspace import Workspace, projections
from tests.dashboard.results import pets, save_run


def test_places_are_made_beside_the_run_and_found_again(tmp_path: Path) -> None:
    home = Workspace(tmp_path)
    run = save_run(home, pets(), "mv")
    points = np.random.default_rng(0).normal(size=(30, 4))
    assert projections.read(home, run.id, "workers", "isomap", 30) is None
    process = projections.start(home, run.id, "workers", "isomap", points)
    assert process.wait(60) == 0
    found = projections.read(home, run.id, "workers", "isomap", 30)
    np.testing.assert_array_equal(found, project(points, "isomap"))
    assert projections.read(home, run.id, "items", "isomap", 30) is None
    assert projections.read(home, run.id, "workers", "isomap", 29) is None  # of other points
    home.delete_run(run.id)
    assert not home.run_folder(run.id).exists()


def test_points_that_cannot_be_placed_leave_nothing_behind(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home = Workspace(tmp_path)
    run = save_run(home, pets(), "mv")
    process = projections.start(home, run.id, "workers", "isomap", np.full((9, 2), np.inf))
    assert process.wait(60) != 0
    assert "not finite" in capfd.readouterr().err
    assert list((home.run_folder(run.id) / projections.FOLDER).iterdir()) == []


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    home = Workspace(tmp_path)
    run = save_run(home, pets(), "mv")
    with pytest.raises(ValueError, match="no name for points"):
        projections.read(home, run.id, "../workers", "pca", 1)
