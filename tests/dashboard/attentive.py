"""Runs that leave attention behind, and picking from the page that shows it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData, fit
from crowdcore.projection import project
from crowdcore.results.result import Result
from crowdcore.workspace import RunRow, Workspace
from tests.attending import attending
from tests.dashboard.results import (
    key_like,
)


def copied() -> CrowdData:
    """Good workers of three classes, and "copy", who repeats all that "model" says, also wrong."""
    rng = np.random.default_rng(0)
    names, triples = ["bird", "cat", "dog"], []
    for item in range(60):
        truth = item % 3
        said = {f"good{w}": truth if rng.random() < 0.9 else (truth + 1) % 3 for w in range(5)}
        said["model"] = truth if rng.random() < 0.6 else (truth + 1 + int(rng.integers(2))) % 3
        said["copy"] = said["model"]
        triples += [(f"i{item}", worker, names[code]) for worker, code in said.items()]
    return CrowdData.from_triples(triples)


def save(home: Workspace, result: Result, project_name: str = "Pets") -> RunRow:
    """Save a result by hand as a finished run."""
    known = {one.name: one.id for one in home.projects()}
    project_id = known.get(project_name) or home.create_project(project_name).id
    dataset = home.add_data(project_id, result.data, name="pets.csv")
    run = home.queue(dataset.id, "ds")
    home.save_result(run.id, result)
    return home.run(run.id)


def save_attending(home: Workspace, data: CrowdData | None = None, **how: Any) -> RunRow:
    return save(home, attending(fit(copied() if data is None else data, "ds"), **how))


def table(page: AppTest, column: str) -> pd.DataFrame:
    """The first table that has a column of that name."""
    return next(one.value for one in page.dataframe if column in one.value)


def pick_cell(page: AppTest, key: str, row: int, column: int) -> None:
    points = [{"customdata": {"0": row, "1": column}}]
    page.session_state[key_like(page, key)] = {"selection": {"points": points}}
    page.run()
    assert not page.exception


def pick_row(page: AppTest, key: str, row: int) -> None:
    page.session_state[key_like(page, key)] = {"selection": {"rows": [row]}}
    page.run()
    assert not page.exception


def fake_start(code: int, made: list[str]) -> Any:
    """A start of a projection that is over at once: with places, or with an exit code."""

    def start(home: Workspace, run_id: str, what: str, kind: str, points: Any) -> Any:
        made.append(what)
        folder = home.run_folder(run_id) / "projections"
        folder.mkdir(exist_ok=True)
        if code == 0:
            np.save(folder / f"{what}-{kind}.npy", project(points))
        process = subprocess.Popen([sys.executable, "-c", f"raise SystemExit({code})"])
        process.wait()
        return process

    return start
