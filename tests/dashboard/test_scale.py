"""The page of large data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.jobs.prepared_run import PreparedRequest, run_part
from crowdcore.prepared.prepare import prepare
from crowdcore.prepared.results import write_progress
from crowdcore.workspace import Workspace
from tests.dashboard.results import everything_said
from tests.prepared.test_parts import write_labels

OpenPage = Callable[..., AppTest]


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    write_labels(tmp_path / "labels.csv", gold_items=20)
    return prepare([tmp_path / "labels.csv"], tmp_path / "prepared").path


def test_a_prepared_folder_is_opened_by_its_path_and_run_in_parts(
    home: Workspace, open_page: OpenPage, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[tuple[Path, Path, dict[str, object]]] = []

    def launch(folder: Path, out: Path, **options: object) -> None:
        launched.append((folder, out, options))

    monkeypatch.setattr("dashboard.scale.prepared.launch", launch)
    page = open_page("scale", folder=str(prepared))
    assert not page.exception
    assert [metric.value for metric in page.metric][1] == "400"
    page.number_input(key="scale_parts").set_value(2)
    page.button[0].click().run()
    assert not page.exception
    out = prepared.with_name("prepared-results")
    assert launched == [(prepared, out, {"method": "auto", "seed": 0, "n_parts": 2})]


def test_results_are_shown_a_page_at_a_time(
    home: Workspace, open_page: OpenPage, prepared: Path, tmp_path: Path
) -> None:
    run_part(PreparedRequest(folder=prepared, out=tmp_path / "out", method="ds"))
    page = open_page("scale", folder=str(tmp_path / "out"))
    assert not page.exception
    workers, truths = (table.value for table in page.dataframe)
    assert len(workers) == 25
    assert {"worker", "verdict", "evidence"} <= set(workers.columns)
    assert 0 < len(truths) < 400  # of one bucket
    before = truths["item"].tolist()
    page.number_input(key="scale_page").set_value(2).run()
    assert page.dataframe[1].value["item"].tolist() != before
    assert any(metric.label == "Right against gold" for metric in page.metric)


def test_a_run_that_is_going_can_be_stopped(
    home: Workspace, open_page: OpenPage, tmp_path: Path
) -> None:
    (tmp_path / "out" / ".state").mkdir(parents=True)
    write_progress(tmp_path / "out", "EM", 3, 100)
    page = open_page("scale", folder=str(tmp_path / "out"))
    page.button(key="scale_stop").click().run()
    assert not page.exception
    assert (tmp_path / "out" / ".state" / "stop").exists()


def test_a_folder_that_is_neither_says_what_to_do(
    home: Workspace, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page("scale", folder=str(tmp_path))
    assert "neither a prepared folder" in everything_said(page)
