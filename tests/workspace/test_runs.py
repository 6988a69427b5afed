"""Runs: what is checked before they are queued, and what their rows and results say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.registry import fit
from crowdcore.run import Progress
from crowdcore.workspace import Dataset, Workspace, run_states
from crowdcore.workspace.data_files import read_json, write_json
from crowdcore.workspace.result_files import read_provenance, read_result, write_result
from tests.crowds import golden_crowd
from tests.workspace.samples import assert_same_result, made_result, run_python, small_data


def test_a_queued_run_says_all_that_was_asked_for(workspace: Workspace, dataset: Dataset) -> None:
    row = workspace.queue(
        dataset.id, "ds", params={"max_iter": 7}, seed=3, device="cpu", excluded=["bob", "bob"]
    )
    assert row == Workspace(workspace.root).run(row.id)
    assert (row.status, row.active, row.method, row.title) == ("queued", True, "ds", "Dawid-Skene")
    assert (row.seed, row.device, row.excluded) == (3, "cpu", ("bob",))
    assert row.params["max_iter"] == 7
    assert "tol" in row.params, "defaults are kept too, for they may change"
    assert (row.project_id, row.dataset_id) == (dataset.project_id, dataset.id)


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"method": "dss"}, "Did you mean"),
        ({"params": {"max_iter": 0}}, "'max_iter' of ds is wrong"),
        ({"params": {"colour": 1}}, "no setting 'colour'"),
        ({"seed": -1}, "seed is a whole number"),
        ({"seed": 2**63}, "seed is a whole number"),
        ({"device": "abacus"}, "no device 'abacus'"),
        ({"params": {"calibrate": "gold"}}, "needs 30 items with gold; there are 2"),
        ({"params": {"calibrate": "gold", "use_gold": True}}, "used cannot calibrate it"),
        ({"excluded": ["eve"]}, "no worker called 'eve'"),
        ({"excluded": ["ann", "bob"]}, "no label left"),
        ({"dataset_id": "0" * 16}, "no data set"),
    ],
)
def test_a_run_that_cannot_work_is_refused_before_it_is_queued(
    workspace: Workspace, dataset: Dataset, wish: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        workspace.queue(**{"dataset_id": dataset.id, "method": "ds", **wish})
    assert workspace.runs(dataset.project_id) == []


def test_gold_that_is_not_there_is_told_in_the_words_of_the_fit(
    workspace: Workspace, dataset: Dataset
) -> None:
    data = replace(small_data(7), gold=None)
    without = workspace.add_data(dataset.project_id, data, name="no-gold.csv")
    for params in ({"use_gold": True}, {"calibrate": "gold"}):
        with pytest.raises(DataError) as queued:
            workspace.queue(without.id, "ds", params=params)
        with pytest.raises(DataError) as fitted:
            fit(data, "ds", **params)
        assert str(queued.value) == str(fitted.value)


def test_data_that_a_method_cannot_use_are_refused_without_being_read(
    workspace: Workspace, dataset: Dataset
) -> None:
    ratings = CrowdData(
        item=np.array([0]),
        worker=np.array([0]),
        label=np.array([1.5]),
        items=("a",),
        workers=("w",),
        kind="ratings",
    )
    rated = workspace.add_data(dataset.project_id, ratings, name="ratings.csv")
    (workspace.root / "data" / rated.id / "labels.parquet").unlink()
    assert (
        "'mv' works on classes or sets; these data are ratings"
        in workspace.unmet(rated.id, "mv")[0]
    )
    assert workspace.unmet(dataset.id, "mv") == []
    with pytest.raises(DataError, match="these data are ratings"):
        workspace.queue(rated.id, "mv")


def test_runs_are_listed_newest_first_with_labels_of_their_own(
    workspace: Workspace, dataset: Dataset
) -> None:
    for method in ("mv", "ds", "mv"):
        workspace.queue(dataset.id, method)
    labels = [row.label for row in workspace.runs(dataset.project_id)]
    assert labels == ["#3 Majority vote", "#2 Dawid-Skene", "#1 Majority vote"]


def test_a_run_that_waits_is_cancelled_at_once(workspace: Workspace, dataset: Dataset) -> None:
    row = workspace.queue(dataset.id, "mv")
    workspace.cancel(row.id)
    ended = workspace.run(row.id)
    assert (ended.status, ended.active) == ("cancelled", False)
    assert ended.finished is not None
    assert run_states.claim(workspace.catalogue) is None


def test_a_run_that_has_ended_stays_as_it_is_when_cancelled(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = workspace.queue(dataset.id, "mv")
    workspace.save_result(row.id, made_result(small_data()))
    workspace.cancel(row.id)
    assert workspace.run(row.id).status == "done"
    assert not workspace.run(row.id).stopping


def test_a_run_again_has_everything_of_the_first(workspace: Workspace, dataset: Dataset) -> None:
    first = workspace.queue(
        dataset.id, "ds", params={"max_iter": 7}, seed=3, device="cpu", excluded=["bob"]
    )
    workspace.cancel(first.id)
    second = workspace.run_again(first.id)
    assert second.status == "queued"
    same = ("dataset_id", "method", "params", "seed", "device", "excluded")
    assert [getattr(first, name) for name in same] == [getattr(second, name) for name in same]


def test_a_run_again_begins_from_where_the_first_began(
    workspace: Workspace, dataset: Dataset
) -> None:
    start = workspace.queue(dataset.id, "mv")
    assert run_states.claim(workspace.catalogue) == start.id
    workspace.save_result(start.id, fit(workspace.load_data(dataset.id), "mv"))
    first = workspace.queue(dataset.id, "ds", warm_from=start.id)
    assert workspace.run_again(first.id).warm_from == start.id


def test_runs_are_claimed_in_order_and_only_once(workspace: Workspace, dataset: Dataset) -> None:
    rows = [workspace.queue(dataset.id, "mv") for _ in range(3)]
    claimed = [run_states.claim(workspace.catalogue) for _ in range(4)]
    assert claimed == [rows[0].id, rows[1].id, rows[2].id, None]
    assert workspace.run(rows[0].id).started is not None


def test_the_curve_can_be_read_while_the_run_works(workspace: Workspace, dataset: Dataset) -> None:
    row = workspace.queue(dataset.id, "ds")
    assert workspace.history(row.id).empty
    for step in (1, 5):
        progress = Progress(stage="EM", step=step, total=9, speed=2.0, metrics={"loglik": -step})
        run_states.append_progress(workspace.run_folder(row.id), progress)
    with (workspace.run_folder(row.id) / run_states.PROGRESS).open("a") as file:
        file.write('{"stage": "EM", "st')
    curve = workspace.history(row.id)
    assert curve.to_dict("list") == {"stage": ["EM", "EM"], "step": [0, 4], "loglik": [-1, -5]}


def test_progress_is_in_the_row_and_a_wish_to_stop_is_told_back(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = workspace.queue(dataset.id, "ds")
    run_states.claim(workspace.catalogue)
    progress = Progress(stage="EM", step=3, total=9, speed=2.5, metrics={"loglik": -0.5})
    assert run_states.report(workspace.catalogue, row.id, progress)
    now = workspace.run(row.id)
    assert (now.stage, now.step, now.total, now.speed) == ("EM", 3, 9, 2.5)
    assert now.metrics == {"loglik": -0.5}
    assert now.share == pytest.approx(1 / 3)
    workspace.cancel(row.id)
    assert workspace.run(row.id).stopping
    assert not run_states.report(workspace.catalogue, row.id, progress)


def test_a_result_comes_back_bit_by_bit(workspace: Workspace, dataset: Dataset) -> None:
    row = workspace.queue(dataset.id, "mv")
    result = made_result(small_data())
    workspace.save_result(row.id, result)
    assert_same_result(Workspace(workspace.root).load_result(row.id), result)


def test_a_result_without_confusion_stays_without_but_the_tables_have_the_audits(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = workspace.queue(dataset.id, "mv")
    result = made_result(small_data()).with_fields(confusion=None, artefacts={}, history=[])
    workspace.save_result(row.id, result)
    assert_same_result(workspace.load_result(row.id), result)
    matrices = workspace.confusion(row.id)
    assert matrices.shape == (2, 2, 2)
    np.testing.assert_allclose(matrices.sum(2), 1)


def test_the_row_of_a_finished_run_has_its_summary(workspace: Workspace, dataset: Dataset) -> None:
    row = workspace.queue(dataset.id, "mv")
    result = made_result(small_data())
    workspace.save_result(row.id, result)
    done, score = workspace.run(row.id), result.score()
    assert score is not None
    assert (done.status, done.seconds) == ("done", result.provenance.seconds)
    assert (done.accuracy, done.n_tied) == (score.accuracy, int(result.tied.sum()))
    assert done.finished is not None


def test_truths_are_read_without_their_probabilities_if_asked(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = workspace.queue(dataset.id, "mv")
    result = made_result(small_data())
    workspace.save_result(row.id, result)
    table = workspace.truths(row.id, probabilities=False)
    assert table.equals(result.truths()[table.columns])
    assert table.columns.tolist()[-2:] == ["score:ease", "score:margin"]


def test_scores_of_earlier_versions_get_their_prefix(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = workspace.queue(dataset.id, "mv")
    result = made_result(small_data())
    workspace.save_result(row.id, result)
    (workspace.run_folder(row.id) / "result" / "checksums.json").unlink()  # they had none
    for name in ("truths", "workers"):
        path = workspace.run_folder(row.id) / "result" / f"{name}.parquet"
        written = pd.read_parquet(path, partitioning=None)
        written.rename(columns=lambda column: column.removeprefix("score:")).to_parquet(path)
    assert workspace.truths(row.id).columns.equals(result.truths().columns)
    assert workspace.workers(row.id).columns.equals(result.workers().columns)


def test_the_tables_are_those_of_the_result(workspace: Workspace) -> None:
    data = golden_crowd()
    project = workspace.create_project("Golden")
    dataset = workspace.add_data(project.id, data, name="labels.csv")
    row = workspace.queue(dataset.id, "ds", excluded=[data.workers[0]])
    result = fit(data.without_workers([data.workers[0]]), "ds", **row.params)
    workspace.save_result(row.id, result)

    assert_same_result(workspace.load_result(row.id), result)
    assert workspace.truths(row.id).equals(result.truths())
    assert workspace.workers(row.id).equals(result.workers())
    assert result.confusion is not None
    assert np.array_equal(workspace.confusion(row.id), result.confusion)
    assert workspace.history(row.id)["loglik"].tolist() == [one["loglik"] for one in result.history]
    provenance = workspace.provenance(row.id)
    assert (provenance["method"], provenance["data"]) == ("ds", result.data.fingerprint)
    assert provenance["excluded"] == [data.workers[0]]


def test_a_result_of_other_data_or_a_second_one_is_refused(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = workspace.queue(dataset.id, "mv")
    with pytest.raises(DataError, match="not about the data"):
        workspace.save_result(row.id, made_result(small_data(1)))
    workspace.save_result(row.id, made_result(small_data()))
    with pytest.raises(DataError, match="already has a result"):
        workspace.save_result(row.id, made_result(small_data()))


def test_a_run_without_a_result_says_so(workspace: Workspace, dataset: Dataset) -> None:
    row = workspace.queue(dataset.id, "mv")
    for read in (workspace.truths, workspace.workers, workspace.confusion, workspace.load_result):
        with pytest.raises(DataError, match="#1 Majority vote has no result; it is queued"):
            read(row.id)


def test_a_result_that_was_written_before_its_process_died_is_kept(
    workspace: Workspace, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = workspace.queue(dataset.id, "mv")
    run_states.claim(workspace.catalogue)
    with monkeypatch.context() as patch:
        patch.setattr(run_states, "complete", lambda *_: None)
        workspace.save_result(row.id, made_result(small_data()))
    assert workspace.run(row.id).status == "running"
    folder = workspace.run_folder(row.id)
    run_states.end(workspace.catalogue, row.id, "lost", "It is gone.", folder=folder)
    assert workspace.run(row.id).status == "done"
    assert workspace.run(row.id).n_tied is not None


def test_reading_everything_imports_no_torch(workspace: Workspace, dataset: Dataset) -> None:
    row = workspace.queue(dataset.id, "mv")
    workspace.save_result(row.id, made_result(small_data()))
    code = """if True:
        import sys
        from pathlib import Path
        import crowdcore.jobs
        from crowdcore.workspace import Workspace
        assert not {"torch", "pandas", "pyarrow"} & set(sys.modules), "importing is cheap"
        workspace = Workspace(Path(sys.argv[1]))
        run, dataset = sys.argv[2:]
        workspace.truths(run), workspace.workers(run), workspace.confusion(run)
        workspace.history(run), workspace.provenance(run), workspace.log(run)
        workspace.item_table(dataset), workspace.label_table(dataset), workspace.report(dataset)
        workspace.load_data(dataset), workspace.load_result(run)
        workspace.unmet(dataset, "ds"), workspace.run_again(run)
        print("torch" in sys.modules)
    """
    assert run_python(code, workspace.root, row.id, dataset.id).strip() == "False"


def test_the_data_of_a_run_with_exclusions_are_read_once_for_a_fit(
    workspace: Workspace, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = workspace.queue(dataset.id, "mv", excluded=["bob"])
    data = workspace.run_data(row.id)
    with monkeypatch.context() as patch:
        patch.setattr(workspace, "load_data", None)
        workspace.save_result(row.id, made_result(data))
    assert_same_result(workspace.load_result(row.id), made_result(data))
    other = workspace.queue(dataset.id, "mv", excluded=["bob"])
    with pytest.raises(DataError, match="not about the data"):
        workspace.save_result(other.id, made_result(small_data()))


def test_a_run_can_begin_only_from_a_finished_one_of_its_project(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    data = golden_crowd()
    dataset = workspace.add_data(workspace.create_project("One").id, data, name="labels.csv")
    first = workspace.queue(dataset.id, "ds")
    with pytest.raises(DataError, match="finished run of the same project"):
        workspace.queue(dataset.id, "ds", warm_from=first.id)
    workspace.save_result(first.id, fit(data, "ds"))
    again = workspace.queue(dataset.id, "ds", warm_from=first.id)
    assert workspace.run(again.id).warm_from == first.id
    beliefs = workspace.warm_start(first.id)
    assert beliefs is not None
    np.testing.assert_allclose(beliefs.posterior_for(data), fit(data, "ds").posterior)


def test_a_completion_is_checked_kept_and_repeated(workspace: Workspace, dataset: Dataset) -> None:
    with pytest.raises(DataError, match="infers truths"):
        workspace.queue(dataset.id, "mv", complete="ds")
    row = workspace.queue(dataset.id, "mv", complete="g_mv")
    assert row.completion == {"method": "g_mv", "params": {}}
    assert workspace.run_again(row.id).completion == row.completion
    data = workspace.load_data(dataset.id)
    result = fit(data, "mv", complete="g_mv")
    workspace.save_result(row.id, result)
    assert_same_result(workspace.load_result(row.id), result)


def test_a_result_of_a_version_that_estimated_its_accuracy_opens_without_the_estimate(
    tmp_path: Path,
) -> None:
    result = made_result(small_data())
    write_result(result, tmp_path)
    facts = read_json(tmp_path / "provenance.json")
    write_json(tmp_path / "provenance.json", {**facts, "expected_accuracy": [0.8, 0.7, 0.9]})
    assert_same_result(read_result(tmp_path, result.data), result)
    assert read_provenance(tmp_path) == facts
