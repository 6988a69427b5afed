from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Match, Route, Router
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.export.targets import find_obstacle, get_target, targets
from crowdcore.export.writers import frame_bytes
from crowdcore.registry import fit
from crowdcore.simulation.spans import simulate_spans
from crowdcore.workspace import Dataset, RunRow, Workspace
from dashboard.server import downloads
from tests.dashboard.results import everything_said, open_view, pets, save_run
from tests.engine.learning.test_classifier import left_by, of_table
from tests.export.finished import MTURK, finished


def read(content: bytes, fmt: downloads.Format) -> pd.DataFrame:
    file = io.BytesIO(content)
    if fmt == "parquet":
        return pd.read_parquet(file)
    if fmt == "jsonl":
        return pd.read_json(file, lines=True, dtype=False)
    return pd.read_csv(file, keep_default_na=False)


def downloads_of(page: AppTest) -> list[str]:
    return [str(one.proto.label) for one in page.get("download_button")]


def preview_of(page: AppTest) -> pd.DataFrame:
    frame: pd.DataFrame = page.dataframe[0].value
    return frame


def test_without_a_project_the_page_says_where_to_begin(home: Workspace) -> None:
    assert open_view("export", view="tables").subheader[0].value == "There is no project yet"


def test_without_a_run_there_is_nothing_to_export(dataset: Dataset) -> None:
    page = open_view("export", view="tables")
    assert page.subheader[0].value == "No run has finished yet"
    assert not page.get("download_button")


def test_truths_come_hard_by_default_and_with_probabilities_on_demand(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("export", view="tables")
    assert list(preview_of(page)) == ["item", "truth", "confidence", "n_labels", "tied"]
    assert len(preview_of(page)) == 20
    assert any("The first 20 of 21 rows" in one.value for one in page.caption)
    page.toggle(key="export_soft").set_value(True).run()
    assert list(preview_of(page))[-2:] == ["p:cat", "p:dog"]
    assert not page.exception


def test_cleaned_labels_leave_out_excluded_workers_and_add_the_truth(home: Workspace) -> None:
    run = save_run(home, pets(), excluded=["turned"])
    page = open_view("export", view="tables")
    page.radio(key="export_what").set_value("Cleaned labels").run()
    assert "1 excluded worker" in everything_said(page)
    frame = downloads.export_frame(home, run.id, "labels")
    assert len(frame) == 81
    assert "turned" not in set(frame["worker"])
    truths = home.truths(run.id).set_index("item")["truth"]
    assert (frame["truth"].astype(str) == frame["item"].astype(str).map(truths)).all()


def test_every_choice_of_what_and_how_has_a_download(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("export", view="tables")
    for what in ("Truths", "Workers", "Cleaned labels"):
        page.radio(key="export_what").set_value(what)
        for fmt in get_args(downloads.Format):
            page.selectbox(key="export_format").set_value(fmt).run()
            assert not page.exception
            assert downloads_of(page) == ["Download", "How it was made (JSON)"]


def test_the_page_says_that_formulas_are_neutralised(home: Workspace) -> None:
    save_run(home, pets())
    assert "leading apostrophe" in everything_said(open_view("export", view="tables"))


@pytest.mark.parametrize("fmt", get_args(downloads.Format))
@pytest.mark.parametrize("kind", get_args(downloads.Kind))
def test_an_export_reads_back_as_what_was_saved(
    home: Workspace, kind: downloads.Kind, fmt: downloads.Format
) -> None:
    run = save_run(home, pets())
    frame = downloads.export_frame(home, run.id, kind)
    back = read(frame_bytes(frame, fmt), fmt)
    assert list(back) == list(frame)
    for name in frame:
        want = frame[name]
        if pd.api.types.is_numeric_dtype(want):
            got = pd.to_numeric(back[name], errors="coerce")
            assert got.to_numpy(float) == pytest.approx(
                want.to_numpy(float), nan_ok=True, abs=1e-12
            )
        else:
            assert back[name].astype(str).tolist() == want.astype(str).tolist()


def test_formulas_are_neutralised_for_spreadsheets_and_exact_for_programs(home: Workspace) -> None:
    data = CrowdData.from_triples([("=1+1", "@w", "-1"), ("=1+1", "x", "-1")])
    frame = downloads.export_frame(home, save_run(home, data, "mv").id, "truths")
    safe = read(frame_bytes(frame, "csv"), "csv")
    exact = read(frame_bytes(frame, "csv-exact"), "csv-exact")
    assert safe["item"].tolist() == ["'=1+1"]
    assert exact["item"].tolist() == ["=1+1"]
    assert safe["truth"].astype(str).tolist() == ["-1"]  # a plain number stays one


def test_how_it_was_made_is_told_in_full(home: Workspace) -> None:
    run = save_run(home, pets(), excluded=["turned"], max_iter=17)
    page = open_view("export", view="tables")
    facts = json.loads(page.json[0].value)
    assert facts["data"]["fingerprint"] == pets().fingerprint
    assert facts["run"]["method"] == "ds"
    assert facts["run"]["params"]["max_iter"] == 17
    assert facts["run"]["seed"] == run.seed
    assert facts["run"]["excluded"] == ["turned"]
    assert {"version", "torch"} <= set(facts["run"])
    assert facts["export"] == {"table": "truths", "format": "csv", "rows": 21}


def test_a_big_file_is_streamed_from_the_servers_own_route(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = save_run(
        home, CrowdData.from_triples([(f"i{i}", "w", "a" * 1_000) for i in range(60_000)]), "mv"
    )
    monkeypatch.setenv(downloads.SERVED, "1")
    page = open_view("export", view="tables")
    (link,) = page.get("link_button")
    assert link.proto.url == downloads.export_url(run.id, "truths", "csv")
    assert downloads_of(page) == ["How it was made (JSON)"]
    monkeypatch.delenv(downloads.SERVED)
    page.run()  # `streamlit run` has no such route: then the button has to do
    assert not page.get("link_button")


def save_classifier(home: Workspace) -> RunRow:
    data = of_table()
    dataset = home.add_data(home.create_project("Texts").id, data, name="texts.csv")
    run = home.queue(dataset.id, "mv")
    home.save_result(run.id, left_by(data))
    return home.run(run.id)


def test_a_classifier_is_offered_where_the_run_has_one(home: Workspace) -> None:
    save_run(home, pets())
    assert "Download the classifier" not in downloads_of(open_view("export", view="tables"))
    run = save_classifier(home)
    page = open_view("export", view="tables", project=run.project_id, run=run.id)
    assert "Download the classifier" in downloads_of(page)
    name = downloads.file_name(home, run.id, "classifier", "zip")
    assert f"crowdcore predict {name}" in page.code[0].value
    path = downloads.classifier_path(home, run.id)
    assert path is not None
    assert Classifier.load(path).classes == ("a", "b")


def test_a_tagger_is_offered_with_what_it_takes(home: Workspace) -> None:
    data = simulate_spans(texts=12, workers=3, types=1, annotations_per_text=2).data
    dataset = home.add_data(home.create_project("Spans").id, data, name="spans.jsonl")
    run = home.queue(dataset.id, "dl_mv")
    home.save_result(run.id, fit(data, "dl_mv", epochs=1, held_out=0))
    page = open_view("export", view="tables", project=run.project_id, run=run.id)
    assert any("it marks spans in new texts" in caption.value for caption in page.caption)
    assert page.code[0].value.endswith(" NEW_TEXTS --out predicted.jsonl")


def test_a_big_classifier_is_streamed(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    run = save_classifier(home)
    monkeypatch.setenv(downloads.SERVED, "1")
    path = downloads.classifier_path(home, run.id)
    assert path is not None
    with path.open("r+b") as file:
        file.truncate(60_000_000)  # a hole: it takes no room
    (link,) = open_view("export", view="tables").get("link_button")
    assert link.proto.url == downloads.export_url(run.id, "classifier", "zip")


def test_the_route_serves_classifiers_and_nothing_else(home: Workspace) -> None:
    run, other = save_classifier(home), save_run(home, pets())
    routes = Router(downloads.routes(home))

    def get(url: str) -> Response:
        scope: dict[str, Any] = {"type": "http", "method": "GET", "path": url, "headers": []}
        for route in routes.routes:
            match, found = route.matches(scope)
            if match is Match.FULL and isinstance(route, Route):
                answer: Response = route.endpoint(Request({**scope, **found}))
                return answer
        raise AssertionError(f"no route for {url}")

    answer = get(downloads.export_url(run.id, "classifier", "zip"))
    assert isinstance(answer, FileResponse)
    assert Classifier.load(Path(answer.path)).classes == ("a", "b")
    assert ".zip" in answer.headers["content-disposition"]
    for wrong in (other.id, "0" * len(run.id), "..", "%2e%2e%2fx"):
        assert get(downloads.export_url(wrong, "classifier", "zip")).status_code == 404
    assert get(f"/api/export/{run.id}/classifier.csv").status_code == 404


def test_data_never_reach_markdown_unescaped(home: Workspace) -> None:
    beacon = "![x](http://evil.example/p.png)"
    save_run(home, pets(), project=f"P {beacon}")
    said = everything_said(open_view("export", view="tables"))
    assert "evil" in said
    assert "![" not in said


def save_given(home: Workspace, *, excluded: list[str] | None = None) -> RunRow:
    """A run on labels that came from a file."""
    return save_run(home, finished(MTURK, "batch.csv").data, "mv", excluded=excluded or [])


def test_the_given_file_is_the_first_choice_and_shows_what_is_added(home: Workspace) -> None:
    save_given(home)
    page = open_view("export")
    options = page.radio(key="export_target").options
    assert options[:3] == ["Your file with the truths", "Excel workbook", "Amazon Mechanical Turk"]
    assert "Toloka" not in options
    assert list(preview_of(page))[:4] == ["truth", "confidence", "agrees", "HITId"]
    assert "It needs the assignments of Toloka" in everything_said(page)
    assert downloads_of(page) == ["Download"]


def test_the_page_says_whose_work_a_file_rejects(home: Workspace) -> None:
    run = save_given(home)
    page = open_view("export")
    page.radio(key="export_target").set_value(get_target("mturk")).run()
    assert "Nobody's work is rejected" in everything_said(page)
    without = save_given(home, excluded=["W3"])
    page = open_view("export", project=without.project_id, run=without.id)
    page.radio(key="export_target").set_value(get_target("mturk")).run()
    assert "The work of 1 worker is rejected" in everything_said(page)
    assert run.id != without.id


def test_every_possible_target_can_be_downloaded_and_leaves_nothing(home: Workspace) -> None:
    run = save_given(home)
    page = open_view("export")
    finished_run = home.finished(run.id)
    possible = [each for each in targets().values() if not find_obstacle(each, finished_run)]
    assert len(possible) == len(page.radio(key="export_target").options)
    for target in possible:
        page.radio(key="export_target").set_value(target).run()
        assert not page.exception
        assert downloads.target_bytes(home, run.id, target.id, True)
    assert not list(home.root.glob(".tmp-export-*"))


def test_data_without_a_file_offer_the_rest(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("export")
    assert page.radio(key="export_target").options[0] == "Excel workbook"
    assert "was not kept" in everything_said(page)


def test_the_route_serves_files_for_tools_and_nothing_else(home: Workspace) -> None:
    run = save_given(home)
    client = TestClient(Starlette(routes=downloads.routes(home)))
    answer = client.get(downloads.target_url(run.id, "same", for_spreadsheets=False))
    assert answer.status_code == 200
    assert "batch-with-truths.csv" in answer.headers["content-disposition"]
    assert answer.text.splitlines()[0].endswith('"Reject","truth","confidence","agrees"')
    for url in (f"/api/files/{run.id}/toloka", f"/api/files/{run.id}/word", "/api/files/x/same"):
        assert client.get(url).status_code == 404
    assert not list(home.root.glob(".tmp-export-*"))


def test_spans_go_to_the_tools_that_take_them(home: Workspace) -> None:
    crowd = simulate_spans(texts=6, workers=4, types=2, annotations_per_text=3, seed=1).data
    run = save_run(home, crowd, "token_mv", project="Spans")
    page = open_view("export", project=run.project_id, run=run.id)
    offered = [target.id for target in targets().values() if target.span_files is not None]
    assert offered == ["labelstudio", "spacy", "conll"]
    for id in offered:
        page.radio(key="export_target").set_value(get_target(id)).run()
        assert not page.exception
        assert downloads.target_bytes(home, run.id, id, True)
