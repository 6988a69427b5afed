"""Finished runs for the pages of results, saved without a daemon."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData, fit
from crowdcore.workspace import RunRow, Workspace

VIEWS = Path(__file__).parents[2] / "dashboard" / "views"
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
    "hgGAWjR9awAAAABJRU5ErkJggg=="
)


def pets(*, details: Mapping[str, Sequence[str]] | None = None) -> CrowdData:
    """Three good workers, one who always says cat, one who sees it the wrong way round.

    i0 to i9 have gold. "solo" has one label, of a worker of whom nothing else is known.
    """
    names = ["cat", "dog"]
    triples = []
    for item in range(20):
        truth = item % 2
        triples += [(f"i{item}", f"good{w}", names[truth]) for w in range(3)]
        triples += [(f"i{item}", "always cat", "cat"), (f"i{item}", "turned", names[1 - truth])]
    triples.append(("solo", "stranger", "dog"))
    data = CrowdData.from_triples(triples, gold={f"i{i}": names[i % 2] for i in range(10)})
    if details is None:
        return data
    return replace(data, details={name: tuple(values) for name, values in details.items()})


def save_run(
    home: Workspace,
    data: CrowdData,
    method: str = "ds",
    *,
    excluded: Sequence[str] = (),
    project: str = "Pets",
    **params: Any,
) -> RunRow:
    """Fit here and now, and save the result as a finished run."""
    known = {one.name: one.id for one in home.projects()}
    project_id = known.get(project) or home.create_project(project).id
    dataset = home.add_data(project_id, data, name="pets.csv")
    run = home.queue(dataset.id, method, params=params, excluded=excluded)
    home.save_result(run.id, fit(home.run_data(run.id), method, **params))
    return home.run(run.id)


def open_view(name: str, **query: str) -> AppTest:
    """Open a page by itself, without the frame around it; it must not raise."""
    page = AppTest.from_file(str(VIEWS / f"{name}.py"), default_timeout=30)
    for key, value in query.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


def everything_said(page: AppTest) -> str:
    """All Markdown on a page, where data must be escaped."""
    groups = [
        page.title,
        page.subheader,
        page.markdown,
        page.caption,
        page.info,
        page.warning,
        page.error,
    ]
    words = [str(one.value) for group in groups for one in group]
    words += [str(one.label) for one in [*page.button, *page.metric]]
    return "\n".join(words)


def charts(page: AppTest) -> list[dict[str, Any]]:
    """The Plotly figures of a page."""
    return [json.loads(one.proto.spec) for one in page.get("plotly_chart")]


def decoded(values: Any) -> list[float]:
    """Numbers of a figure, which are packed where there was an array."""
    if not isinstance(values, dict):
        return list(values)
    return list(np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist())


def key_like(page: AppTest, start: str) -> str:
    """The one session key that starts so."""
    (key,) = [key for key in page.session_state if str(key).startswith(start)]
    return str(key)
