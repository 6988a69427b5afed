"""The pages of ratings: truths with spreads, one item, workers, and what does not apply."""

from __future__ import annotations

import pytest

from crowdcore.registry import fit
from crowdcore.samples import load_sample
from crowdcore.workspace import RunRow, Workspace
from tests.dashboard.conftest import OpenPage
from tests.dashboard.results import everything_said


@pytest.fixture
def run(home: Workspace) -> RunRow:
    project = home.create_project("rated")
    data = load_sample("quality")
    dataset = home.add_data(project.id, data, name="ratings")
    row = home.queue(dataset.id, "gauss")
    home.save_result(row.id, fit(data, "gauss"))
    return home.run(row.id)


def test_truths_are_numbers_with_intervals_and_errors_against_gold(
    open_page: OpenPage, run: RunRow
) -> None:
    page = open_page("truths", project=run.project_id, run=run.id)
    assert not page.exception
    said = everything_said(page)
    assert "RMSE vs. gold" in said
    assert "confidence" not in said.lower()
    assert run.headline.startswith("RMSE")


def test_an_item_shows_its_ratings(open_page: OpenPage, run: RunRow) -> None:
    page = open_page("truths", project=run.project_id, run=run.id, item="answer 004")
    assert not page.exception
    assert "95% interval" in everything_said(page)


def test_workers_have_bias_slope_and_noise(open_page: OpenPage, run: RunRow) -> None:
    page = open_page("workers", project=run.project_id, run=run.id)
    assert not page.exception
    assert "Usual noise" in everything_said(page)


def test_a_strict_worker_is_not_to_be_dismissed(
    open_page: OpenPage, run: RunRow, home: Workspace
) -> None:
    workers = home.workers(run.id)
    name = workers[workers["verdict"] == "strict"]["worker"].iloc[0]
    page = open_page("workers", project=run.project_id, run=run.id, worker=name)
    assert not page.exception
    assert "do not dismiss" in everything_said(page)


@pytest.mark.parametrize("name", ["attention", "spectral", "completion"])
def test_pages_for_classes_say_so_in_a_sentence(
    open_page: OpenPage, run: RunRow, name: str
) -> None:
    page = open_page(name, project=run.project_id, run=run.id)
    assert not page.exception
    assert "The labels of this run are numbers" in everything_said(page)


def test_export_offers_no_probabilities(open_page: OpenPage, run: RunRow) -> None:
    page = open_page("export", project=run.project_id, run=run.id)
    assert not page.exception
    assert "probability of every class" not in everything_said(page)
