"""The completion page where it compares truths, shows embeddings and offers downloads."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.requests import Request
from starlette.responses import FileResponse
from streamlit.testing.v1 import AppTest

from crowdcore.artefacts.completion import Completion
from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.workspace import Workspace, run_states
from dashboard.completion import export, truths
from dashboard.server import downloads
from tests.completing import sparse_pets
from tests.dashboard.results import charts, everything_said, key_like, open_view, pets, save_run
from tests.dashboard.test_completion import OpenPage, metrics, save_completed, table

TURNED = np.array([1, 1, 0, 1, 0, 0])[:, None]


def test_truths_are_first_compared_with_a_vote_and_the_run_is_offered(home: Workspace) -> None:
    run = save_completed(home, label=TURNED)
    page = open_view("completion", view="truths")
    assert "Compared with the majority vote of the given labels, for now" in everything_said(page)
    assert metrics(page)["Flipped truths"] == "2 of 6"  # i0 and i5
    assert metrics(page)["Settled truths"] == "1 of 6"  # the tie
    assert metrics(page)["Flips on gold"] == "+0 / −1"
    assert "Right on gold" not in metrics(page)
    page.button(key="completion_counterpart").click().run()
    assert not page.exception
    queued = home.runs(run.project_id)[0]
    assert (queued.status, queued.method, queued.completion) == ("queued", "ds", None)
    assert (queued.params, queued.seed) == (run.params, run.seed)
    assert "without completion is waiting" in everything_said(page)
    assert not any(one.key == "completion_counterpart" for one in page.button)


def test_a_failed_counterpart_is_told_of_and_can_be_tried_again(home: Workspace) -> None:
    run = save_completed(home)
    other = home.queue(run.dataset_id, "ds")
    run_states.claim(home.catalogue)
    run_states.end(
        home.catalogue, other.id, "failed", "It broke.", folder=home.run_folder(other.id)
    )
    page = open_view("completion", view="truths")
    assert "It broke" in everything_said(page)
    page.button(key="completion_counterpart").click().run()
    assert home.runs(run.project_id)[0].status == "queued"


def test_truths_are_compared_with_the_same_method_where_it_was_run(
    home: Workspace, open_page: OpenPage
) -> None:
    run = save_completed(home, label=TURNED)
    save_run(home, sparse_pets(), "ds", max_iter=3)  # other settings are another method
    page = open_view("completion", view="truths", run=run.id)
    assert "for now" in everything_said(page)
    other = save_run(home, sparse_pets(), "ds")
    page = open_page("completion", view="truths", run=run.id)
    assert f"Compared with \\#{other.number}" in everything_said(page)
    told = metrics(page)
    before, after = home.load_result(other.id), home.load_result(run.id)
    flipped = np.flatnonzero((before.truth != after.truth) & ~before.tied)
    assert told["Flipped truths"] == f"{len(flipped)} of 6"
    assert told["Right on gold"] == "75.0%"
    frame = table(page, "was")
    assert set(frame["item"]) == {before.data.items[row] for row in flipped}
    first = frame.set_index("item").loc["i0"]
    assert (first["was"], first["now"], first["gold"]) == ("cat", "dog", "cat")
    assert first["right"] == "✕ was right"
    assert first["given"] == "2 × cat, 1 × dog"
    assert first["filled"] == "2 × dog"
    page.session_state[key_like(page, "completion_items")] = {
        "selection": {"rows": [frame["item"].tolist().index("i0")]}
    }
    page.run()
    page.button(key="completion_open_item").click().run()
    assert page.title[0].value == "Truths"
    assert page.query_params["item"] == "i0"


def test_what_was_open_is_listed_apart_and_gold_narrows(home: Workspace) -> None:
    save_completed(home, label=TURNED)
    page = open_view("completion", view="truths")
    assert table(page, "was")["item"].tolist() == ["i0", "i5"]
    page.toggle(key="completion_with_gold").set_value(True).run()
    assert table(page, "was")["item"].tolist() == ["i0"]
    page.button_group(key="completion_changes").set_value("settled").run()
    assert table(page, "was")["was"].tolist() == ["undecided"]
    page.button_group(key="completion_changes").set_value("opened").run()
    assert "No truth is opened" in page.info[-1].value


def test_many_changes_come_a_page_at_a_time(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truths, "PAGE_ROWS", 1)
    save_completed(home, label=TURNED)
    page = open_view("completion", view="truths")
    first = table(page, "was")["item"].tolist()
    page.number_input[0].set_value(2).run()
    assert table(page, "was")["item"].tolist() != first


def points(figure: dict[str, Any]) -> int:
    return sum(len(trace["text"]) for trace in figure["data"])


def test_embeddings_of_a_worker_are_shown_with_and_without_transfer(home: Workspace) -> None:
    data, rng = sparse_pets(), np.random.default_rng(0)
    apart = np.column_stack([10.0 * data.label, rng.normal(size=data.n_labels)])
    deep = rng.normal(size=(data.n_labels, 5)).astype(np.float32)
    points_by_label = LabelEmbeddings(with_transfer=apart.astype(np.float32), without_transfer=deep)
    save_completed(home, artefacts=[points_by_label])
    page = open_view("completion", view="space")
    first, second = charts(page)
    assert points(first) == points(second) == 4  # ann has the most labels, 4 of 5 with gold
    assert "4 of 5 labels: those with gold" in everything_said(page)
    said = everything_said(page)
    assert said.count("Nearest neighbour of the same") == 2
    assert "Two of 5 dimensions" in said
    page.button_group[-1].set_value("label").run()
    assert points(charts(page)[0]) == 5
    page.selectbox(key="choose:Worker").select("cy").run()
    assert page.query_params["worker"] == "cy"
    assert points(charts(page)[0]) == 4
    page.selectbox(key="choose:Worker").select("new").run()
    assert not page.exception
    assert "Too few points" in everything_said(page)


def test_embeddings_that_are_missing_or_not_finite_are_told_of(home: Workspace) -> None:
    data = sparse_pets()
    places = np.ones((data.n_labels, 2), np.float32)
    places[data.worker == data.workers.index("turned")] = np.nan
    save_completed(home, artefacts=[LabelEmbeddings(with_transfer=places)])
    page = open_view("completion", view="space")
    assert len(charts(page)) == 1
    assert "This run did not try it" in everything_said(page)
    page.selectbox(key="choose:Worker").select("turned").run()
    assert not page.exception
    assert "placed none of this worker's labels" in everything_said(page)


def test_without_embeddings_no_such_view_is_offered(home: Workspace) -> None:
    save_completed(home)
    page = open_view("completion", view="space")
    assert "space" not in page.button_group(key="completion_view").options
    assert "Matrix" in page.button_group(key="completion_view").options
    assert charts(page)[0]["data"][0]["type"] == "heatmap"


def read(content: bytes, fmt: downloads.Format) -> pd.DataFrame:
    file = io.BytesIO(content)
    if fmt == "parquet":
        return pd.read_parquet(file)
    return pd.read_csv(file, dtype={"item": str, "worker": str, "label": str})


@pytest.mark.parametrize("fmt", downloads.completed_formats())
def test_a_downloaded_matrix_reads_back_as_it_was(home: Workspace, fmt: downloads.Format) -> None:
    run = save_completed(home)
    completion = home.load_result(run.id).artefact(Completion)
    assert completion is not None
    back = read(downloads.completed_bytes(home, run.id, "completed-long", fmt), fmt)
    assert list(back) == ["item", "worker", "label", "origin", "probability"]
    assert back["origin"].value_counts().to_dict() == {"filled": 16, "observed": 14}
    listed = completion.listed()
    want = {
        (listed.items[i], listed.workers[w], listed.classes[k])
        for i, w, k in zip(listed.item, listed.worker, listed.label, strict=True)
    }
    assert set(zip(back["item"], back["worker"], back["label"], strict=True)) == want
    assert (back["probability"].notna() == (back["origin"] == "filled")).all()
    wide = read(downloads.completed_bytes(home, run.id, "completed-wide", fmt), fmt).set_index(
        "item"
    )
    assert all(wide.loc[item, worker] == label for item, worker, label in want)
    assert not [path for path in home.root.iterdir() if path.name.startswith(".tmp-export-")]


def downloads_of(page: AppTest) -> list[str]:
    return [str(one.proto.label) for one in page.get("download_button")]


@pytest.mark.parametrize("where", ["completion", "export"])
def test_every_form_and_format_can_be_downloaded(home: Workspace, where: str) -> None:
    save_completed(home)
    page = open_view(where, view="export" if where == "completion" else "tables")
    if where == "export":
        page.radio(key="export_what").set_value("Completed matrix").run()
    assert list(table(page, "origin")) == ["item", "worker", "label", "origin", "probability"]
    for form in ("long", "wide"):
        page.radio(key="completion_form").set_value(form).run()
        for fmt in downloads.completed_formats():
            page.selectbox(key="completion_format").set_value(fmt).run()
            assert not page.exception
            assert downloads_of(page) == ["Download", "How it was made (JSON)"]
    assert list(table(page, "ann")) == ["item", "origin", "ann", "bob", "cy", "turned", "new"]
    assert table(page, "ann")["turned"].tolist() == ["dog", "dog", "dog", "dog", "cat", "dog"]


def test_the_export_page_offers_a_matrix_only_where_there_is_one(home: Workspace) -> None:
    save_run(home, pets(), "ds")
    assert (
        "Completed matrix"
        not in open_view("export", view="tables").radio(key="export_what").options
    )


def test_a_large_matrix_is_streamed_from_the_servers_own_route(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = save_completed(home)
    monkeypatch.setenv(downloads.SERVED, "1")
    monkeypatch.setattr(export, "MAX_LABELS", 20)
    page = open_view("completion", view="export")
    (link,) = page.get("link_button")
    assert link.proto.url == downloads.export_url(run.id, "completed-long", "csv")
    plain = save_run(home, pets(), "mv")
    route = next(one for one in downloads.routes(home) if "{kind}" in one.path)

    def get(run_id: str, kind: str, fmt: str) -> Any:
        parts = {"run_id": run_id, "kind": kind, "fmt": fmt}
        return route.endpoint(Request({"type": "http", "path_params": parts, "headers": []}))

    answer = get(run.id, "completed-long", "parquet")
    assert isinstance(answer, FileResponse)
    assert len(pd.read_parquet(answer.path)) == 30
    for wrong in [(run.id, "completed-long", "jsonl"), (plain.id, "completed-wide", "csv")]:
        assert get(*wrong).status_code == 404
