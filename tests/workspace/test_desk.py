"""The ledger of a project, and runs that go by it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from crowdcore import fit
from crowdcore.data import CrowdData, DataError
from crowdcore.decisions import Decision
from crowdcore.jobs.fit_process import execute
from crowdcore.workspace import DamagedError, StorageError, Workspace, ledger, run_states
from crowdcore.workspace.records import RunRow


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture
def data() -> CrowdData:
    triples = [
        (f"i{n}", f"w{w}", "yes" if (n + w) % 5 else "no") for n in range(20) for w in range(4)
    ]
    return CrowdData.from_triples(triples)


@pytest.fixture
def run(workspace: Workspace, data: CrowdData) -> RunRow:
    project = workspace.create_project("Birds")
    dataset = workspace.add_data(project.id, data, name="birds.csv")
    row = workspace.queue(dataset.id, "ds")
    workspace.save_result(_claimed(workspace, row), fit(data, "ds"))
    return workspace.run(row.id)


def _claimed(workspace: Workspace, row: RunRow) -> str:
    assert run_states.claim(workspace.catalogue) == row.id
    return row.id


def exclude(workspace: Workspace, run: RunRow, *names: str) -> list[Decision]:
    return workspace.decide(
        run.project_id, "exclude", names, by="Ann", reason="answers at random", run_id=run.id
    )


def test_decisions_are_kept_with_what_the_run_said(workspace: Workspace, run: RunRow) -> None:
    made = exclude(workspace, run, "w1", "w2")
    again = Workspace(workspace.root).decisions(run.project_id)
    assert again == made
    assert again[0].evidence["worker"] == "w1"
    assert again[0].evidence["n_labels"] == 20
    assert again[0].evidence["verdict"]
    truth = workspace.decide(run.project_id, "truth", ["i3"], value="no", by="Ann", run_id=run.id)
    assert truth[0].dataset == run.dataset_id
    assert 0 <= truth[0].evidence["confidence"] <= 1


def test_a_run_goes_by_what_holds_and_says_so(workspace: Workspace, run: RunRow) -> None:
    exclude(workspace, run, "w1", "w2")
    workspace.decide(run.project_id, "keep", ["w2"], by="Bob", run_id=run.id)
    workspace.decide(run.project_id, "truth", ["i3"], value="no", by="Ann", run_id=run.id)
    queued = workspace.run_decided(run.id)
    assert queued.label == "#2 Dawid-Skene without w1 with 1 decided truth"
    assert [made.subject for made in queued.decisions] == ["w1", "i3"]
    assert queued.params["use_gold"] is True
    assert queued.warm_from == run.id
    execute(workspace, _claimed(workspace, queued))
    assert workspace.run(queued.id).status == "done"
    result = workspace.load_result(queued.id)
    assert result.data.n_labels == 60
    assert result.truths().set_index("item")["truth"]["i3"] == "no"
    assert workspace.provenance(queued.id)["decisions"][0]["subject"] == "w1"
    with pytest.raises(DataError, match="already goes by all decisions"):
        workspace.run_decided(queued.id)


def test_a_run_on_data_without_a_decided_item_says_what_does_not_fit(
    workspace: Workspace, run: RunRow
) -> None:
    workspace.decide(run.project_id, "truth", ["elsewhere"], value="no", by="Ann")
    queued = workspace.run_decided(run.id)
    execute(workspace, _claimed(workspace, queued))
    notes = workspace.load_result(queued.id).provenance.notes
    assert any("'elsewhere' is not in these data" in note for note in notes)


def test_a_subject_that_is_not_in_the_run_is_refused(workspace: Workspace, run: RunRow) -> None:
    with pytest.raises(DataError, match="no worker called 'w9'"):
        exclude(workspace, run, "w1", "w9")
    with pytest.raises(DataError, match="no decision 'x'"):
        workspace.decide(run.project_id, "undo", ["x"], by="Ann")
    assert workspace.decisions(run.project_id) == []


def test_imported_decisions_are_added_once(workspace: Workspace, run: RunRow) -> None:
    made = exclude(workspace, run, "w1", "w2")
    other = workspace.create_project("Other").id
    assert workspace.import_decisions(other, made) == 2
    assert workspace.import_decisions(other, made) == 0
    assert workspace.standing(other).excluded == ("w1", "w2")


def test_a_changed_or_missing_line_is_noticed(workspace: Workspace, run: RunRow) -> None:
    exclude(workspace, run, "w1")
    exclude(workspace, run, "w2")
    exclude(workspace, run, "w3")
    path = workspace.root / "projects" / run.project_id / ledger.FILE
    whole = path.read_text()
    path.write_text(whole.replace("at random", "at length", 1))
    with pytest.raises(DamagedError, match="Line 1 of the decisions"):
        workspace.decisions(run.project_id)
    lines = whole.splitlines(keepends=True)
    path.write_text(lines[0] + lines[2])
    with pytest.raises(DamagedError, match="Line 2 of the decisions"):
        exclude(workspace, run, "w1")


def test_what_a_crash_left_half_written_is_cut_off(workspace: Workspace, run: RunRow) -> None:
    first = exclude(workspace, run, "w1")
    path = workspace.root / "projects" / run.project_id / ledger.FILE
    with path.open("ab") as file:
        file.write(b'{"check": "abc", "entr')
    assert workspace.decisions(run.project_id) == first
    second = exclude(workspace, run, "w2")
    assert workspace.decisions(run.project_id) == [*first, *second]


def test_a_full_disk_keeps_none_of_the_decision(
    workspace: Workspace, run: RunRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = exclude(workspace, run, "w1")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="there is no room"):
            exclude(workspace, run, "w2")
    assert workspace.decisions(run.project_id) == first


def test_runs_are_compared_on_gold_and_on_what_was_decided_since(
    workspace: Workspace, run: RunRow
) -> None:
    exclude(workspace, run, "w1")
    queued = workspace.run_decided(run.id)
    execute(workspace, _claimed(workspace, queued))
    comparison = workspace.compare(run.id, queued.id)
    assert (comparison.labels_before, comparison.labels_after) == (80, 60)
    assert ("left out", "nobody", "w1") in comparison.settings
    assert comparison.accuracy is None
    workspace.decide(run.project_id, "truth", ["i3"], value="no", by="Ann", run_id=run.id)
    accuracy = workspace.compare(run.id, queued.id).accuracy
    assert accuracy is not None
    assert accuracy.n == 1
    third = workspace.run_decided(queued.id)
    execute(workspace, _claimed(workspace, third))
    assert workspace.compare(queued.id, third.id).accuracy is None  # the third has seen it
    other = workspace.create_project("Other")
    dataset = workspace.add_data(other.id, workspace.run_data(run.id), name="same")
    elsewhere = workspace.queue(dataset.id, "mv")
    execute(workspace, _claimed(workspace, elsewhere))
    with pytest.raises(DataError, match="different projects"):
        workspace.compare(run.id, elsewhere.id)


def test_a_preview_is_compared_listed_nowhere_and_gone_with_the_next(
    workspace: Workspace, run: RunRow
) -> None:
    preview = workspace.preview(run.id, exclude=["w1"])
    assert (preview.preview, preview.number, preview.excluded) == (True, -1, ("w1",))
    execute(workspace, _claimed(workspace, preview))
    comparison = workspace.compare(run.id, preview.id)
    assert (comparison.labels_before, comparison.labels_after) == (80, 60)
    assert [row.id for row in workspace.runs(run.project_id)] == [run.id]
    assert workspace.decisions(run.project_id) == []
    again = workspace.preview(run.id, exclude=["w2"])
    assert not workspace.run_folder(preview.id).exists()
    with pytest.raises(DataError, match="There is no run"):
        workspace.run(preview.id)
    workspace.discard_previews(run.project_id)
    with pytest.raises(DataError, match="There is no run"):
        workspace.run(again.id)
    assert workspace.queue(run.dataset_id, "mv").number == 2


def test_a_run_gets_a_name_that_is_shown_everywhere(workspace: Workspace, run: RunRow) -> None:
    assert workspace.rename_run(run.id, " first  try ").label == "#1 first try"
    assert workspace.rename_run(run.id, "").label == "#1 Dawid-Skene"
    with pytest.raises(DataError, match="at most 60"):
        workspace.rename_run(run.id, "x" * 61)
