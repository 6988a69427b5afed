"""A workspace with a data set, for tests that need no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdcore.workspace import Dataset, Workspace
from tests.workspace.samples import small_data


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture
def dataset(workspace: Workspace) -> Dataset:
    project = workspace.create_project("Birds")
    return workspace.add_data(project.id, small_data(), name="labels.csv")
