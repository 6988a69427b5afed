"""Pools: their members become runs, all of them or none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdcore.registry import fit
from crowdcore.workspace import Workspace, folders, run_states
from tests.crowds import golden_crowd
from tests.workspace.samples import assert_same_result, made_result, small_data


def test_the_members_of_a_pool_become_runs_of_their_own(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    data = golden_crowd()
    dataset = workspace.add_data(workspace.create_project("Pool").id, data, name="labels.csv")
    pool = workspace.queue(dataset.id, "auto")
    result = fit(data, "auto")
    workspace.save_result(pool.id, result)
    members = [row for row in workspace.runs(dataset.project_id) if row.member_of == pool.id]
    assert {row.method for row in members} == {one.provenance.method for one in result.members}
    assert all(row.status == "done" for row in members)
    for row in members:
        alone = fit(data, row.method, **row.params)
        np.testing.assert_allclose(workspace.load_result(row.id).posterior, alone.posterior)


def test_a_pool_and_its_members_are_saved_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    data = small_data()
    dataset = workspace.add_data(workspace.create_project("Pool").id, data, name="labels.csv")
    pool = workspace.queue(dataset.id, "mv")
    run_states.claim(workspace.catalogue)
    members = tuple(made_result(data) for _ in range(4))
    result = replace(made_result(data), members=members)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_states, "_numbered", killed)  # the members are about to be listed
        with pytest.raises(KeyboardInterrupt):
            workspace.save_result(pool.id, result)
    again = Workspace(tmp_path)
    assert [row.status for row in again.runs(dataset.project_id)] == ["running"]

    folder = again.run_folder(pool.id)
    run_states.end(again.catalogue, pool.id, "lost", "It is gone.", folder=folder)

    rows = again.runs(dataset.project_id)
    assert [row.status for row in rows] == ["done"] * 5
    assert [row.number for row in rows] == [5, 4, 3, 2, 1]
    assert [row.member_of for row in rows] == [pool.id] * 4 + [None]
    for row in rows[:4]:
        assert_same_result(again.load_result(row.id), members[0])


def test_members_of_a_pool_that_was_never_saved_go_to_the_trash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    data = small_data()
    dataset = workspace.add_data(workspace.create_project("Pool").id, data, name="labels.csv")
    pool = workspace.queue(dataset.id, "mv")
    publish = folders.publish

    def killed(folder: Path, target: Path) -> None:
        if target.name == "result":
            raise KeyboardInterrupt
        publish(folder, target)

    monkeypatch.setattr(folders, "publish", killed)
    with pytest.raises(KeyboardInterrupt):
        workspace.save_result(pool.id, replace(made_result(data), members=(made_result(data),)))
    monkeypatch.undo()
    assert len(list((tmp_path / "runs").iterdir())) == 2
    again = Workspace(tmp_path)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [pool.id]
    assert again.unlisted() == []
