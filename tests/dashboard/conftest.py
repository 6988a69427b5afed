"""Pages over a workspace of their own, with no daemon behind them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.data import CrowdData
from crowdcore.workspace import Dataset, Workspace

APP = Path(__file__).parents[2] / "dashboard" / "app.py"

OpenPage = Callable[..., AppTest]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Make an empty workspace and have the dashboard use it."""
    monkeypatch.setenv("CROWDCORE_HOME", str(tmp_path))
    monkeypatch.setattr("dashboard.server.startup.begin", lambda _root: threading.Thread())
    monkeypatch.setattr("crowdcore.jobs.ensure_daemon", lambda _workspace: None)
    return Workspace(tmp_path)


@pytest.fixture
def open_page(home: Workspace) -> OpenPage:
    """Open a page by name, with a query; it must not raise."""

    def open_(name: str = "data", **query: str) -> AppTest:
        page = AppTest.from_file(str(APP), default_timeout=30)
        page.run()
        for key, value in query.items():
            page.query_params[key] = value
        if name != "overview" or query:
            page.switch_page(f"views/{name}.py").run()
        assert not page.exception
        return page

    return open_


@pytest.fixture
def dataset(home: Workspace) -> Dataset:
    """Save a small project with gold."""
    triples = [
        (f"i{item}", f"w{worker}", "cat" if (item + worker // 4) % 2 else "dog")
        for item in range(12)
        for worker in range(5)
    ]
    gold = {"i0": "dog", "i1": "cat"}
    data = CrowdData.from_triples(triples, gold=gold)
    return home.add_data(home.create_project("Pets").id, data, name="pets.csv")
