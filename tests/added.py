"""What follows from the blocks of docs/develop/adding.md; test_adding runs this in a copy."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

import crowdcore
from crowdcore.audit.verdicts import WORST_FIRST
from crowdcore.cli import app
from crowdcore.data import CrowdData
from crowdcore.workspace import Workspace
from dashboard.guide import chapters
from dashboard.pages import PAGES
from docs import generator
from tests.dashboard.results import save_run

ROOT = Path(crowdcore.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    return generator.reference()


@pytest.fixture(scope="module")
def crowd() -> CrowdData:
    """Three workers who always agree, and one who answers at random."""
    rng = np.random.default_rng(0)
    truth = rng.choice(["cat", "dog"], 40)
    triples = [(f"i{n}", f"w{worker}", truth[n]) for n in range(40) for worker in range(3)]
    guesses = rng.choice(["cat", "dog"], 40)
    return CrowdData.from_triples(triples + [(f"i{n}", "guess", guesses[n]) for n in range(40)])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("CROWDCORE_HOME", str(tmp_path))
    monkeypatch.setattr("dashboard.server.startup.begin", lambda _root: threading.Thread())
    monkeypatch.setattr("crowdcore.jobs.ensure_daemon", lambda _workspace: None)
    return Workspace(tmp_path)


def opened(name: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
    page.run()
    page.switch_page(f"views/{name}.py").run()
    assert not page.exception
    return page


def test_the_method_is_listed_runs_has_a_form_and_a_page(
    crowd: CrowdData, home: Workspace, reference: dict[str, str]
) -> None:
    result = crowdcore.fit(crowd, "squared_vote", power=3)
    assert result.provenance.title == "Squared vote"
    assert "squared_vote" in CliRunner().invoke(app, ["methods"]).stdout
    assert "| `power` |" in reference["methods/squared_vote"]
    assert "methods/squared_vote.md" in reference["methods"]
    save_run(home, crowd, "squared_vote")
    page = opened("run")
    page.query_params["method"] = "squared_vote"
    page.run()
    assert "Power" in [field.label for field in page.number_input]


def test_the_page_is_in_the_navigation_and_draws(crowd: CrowdData, home: Workspace) -> None:
    save_run(home, crowd, "mv")
    assert PAGES[-1].name == "classes"
    page = opened("classes")
    assert page.title[0].value == "Classes"
    links = [link.proto for link in page.sidebar.get("page_link")]
    assert [link.query_string for link in links] == ["chapter=index"]  # it has no chapter yet


def test_the_format_is_read_and_named_in_the_guide(crowd: CrowdData, tmp_path: Path) -> None:
    names = {"item": crowd.items, "worker": crowd.workers, "label": crowd.classes}
    arrays = {role: np.array(names[role])[getattr(crowd, role)] for role in names}
    np.savez(tmp_path / "labels.npz", **arrays)
    assert crowdcore.read_labels(tmp_path / "labels.npz").fingerprint == crowd.fingerprint
    assert "- NumPy archive" in chapters.text("data")


def test_the_verdict_is_given_shown_and_explained(
    crowd: CrowdData, home: Workspace, reference: dict[str, str]
) -> None:
    workers = crowdcore.fit(crowd, "mv").workers()
    assert (workers["verdict"] == "hardly ever wrong").sum() == 3
    assert workers["evidence"][0] == "Hardly ever wrong in 40 comparable labels."
    assert "hardly ever wrong" in WORST_FIRST
    assert "### Hardly ever wrong" in chapters.text("workers")
    assert "| hardly ever wrong |" in reference["verdicts"]
    save_run(home, crowd, "mv")
    pills = opened("workers").get("button_group")
    assert any(
        "hardly ever wrong" in option.content for pill in pills for option in pill.proto.options
    )


def test_the_column_is_written_shown_and_documented(
    crowd: CrowdData, home: Workspace, tmp_path: Path, reference: dict[str, str]
) -> None:
    assert "favourite_share" in crowdcore.fit(crowd, "mv").workers().columns
    assert "### `favourite_share`" in reference["files"]
    run = save_run(home, crowd, "mv")
    assert "favourite_share" in home.workers(run.id).columns
    assert "favourite_share" in opened("workers").dataframe[0].value.columns
