"""From an upload to its results in a real browser, over a real server and a real daemon."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import psutil
import pytest
from playwright.sync_api import Page, sync_playwright

from crowdcore.export.tables import labels
from crowdcore.export.writers import write_csv
from crowdcore.jobs import stop_daemon
from crowdcore.simulation.classes import simulate
from crowdcore.workspace import Workspace
from dashboard.server.startup import WELCOMED
from tests.dashboard.results import pets
from tests.dashboard.server import serving
from tests.export.finished import MTURK, finished

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
ROWS = [
    f"i{item};w{worker};{'cat' if (item + (worker == 4)) % 2 else 'dog'}"
    for item in range(40)
    for worker in range(5)
]
MESSY = "\n".join(["item;worker;label", *ROWS, ROWS[0], ";;", "i7;w9;cta"])
"""Semicolons and a byte order mark; a row twice, a blank one, a slip of the pen."""

PATIENCE = 60_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    home = Workspace(tmp_path_factory.mktemp("home"))
    home.set_setting(WELCOMED, True)
    return home


@pytest.fixture(scope="module")
def address(home: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("log") / "log"
    try:
        with serving(home, log, daemon=True) as server:
            yield f"http://localhost:{server.port}/?token={server.token}"
            maps = Path(f"/proc/{server.process.pid}/maps")
            assert not maps.exists() or "libtorch" not in maps.read_text(encoding="utf-8")
    finally:
        stop_daemon(home)


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 800, "height": 1000})
        page.set_default_timeout(PATIENCE)
        yield page
        browser.close()


def heading(page: Page, name: str) -> None:
    page.get_by_role("heading", name=name, exact=True).wait_for()


def upload(page: Page, paths: list[Path]) -> None:
    """Choose files of a new project; the page may still show where gold is added to an old one."""
    uploader = page.get_by_test_id("stFileUploader").filter(has_text="Labels file")
    uploader.locator("input").set_input_files(paths)


def settle(page: Page) -> None:
    """Wait until the page has answered what was typed."""
    page.wait_for_timeout(300)
    state = "document.querySelector('[data-testid=stApp]').getAttribute('data-test-script-state')"
    page.wait_for_function(f"{state} === 'notRunning'")


def overflow(page: Page) -> int:
    wide = "main => main.scrollWidth - main.clientWidth"
    return int(page.get_by_test_id("stMain").evaluate(wide))


def test_a_file_becomes_results_that_survive_a_reload(
    page: Page, address: str, tmp_path: Path
) -> None:
    (tmp_path / "pets.csv").write_text(MESSY, encoding="utf-8-sig")
    asked: list[str] = []
    errors: list[str] = []
    own = (address.partition("?")[0], "data:", "blob:")
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    heading(page, "Data")
    assert "token" not in page.url
    experts = "item,answer\ni1,cat\ni2,dog\ni3,cat\n"
    (tmp_path / "experts.csv").write_text(experts, encoding="utf-8")
    uploads = [tmp_path / "experts.csv", tmp_path / "pets.csv"]
    upload(page, uploads)
    page.get_by_text("holds answers of 3 of the 40 items").wait_for()
    page.get_by_role("button", name="Create project").click()
    heading(page, "Run")
    assert overflow(page) == 0
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("button", name="Open results").click()
    heading(page, "Overview")
    link = page.url
    page.reload()
    heading(page, "Overview")
    assert overflow(page) == 0
    assert page.url == link
    assert "project=" in link
    assert "run=" in link
    assert [url for url in asked if not url.startswith(own)] == []
    assert errors == []


def start_endless_run(page: Page, base: str) -> None:
    """Start Dawid-Skene so that it takes minutes unless somebody stops it."""
    page.goto(f"{base}run?method=ds")
    heading(page, "Dawid-Skene")
    for name, value in [("Max iterations", "10000"), ("Tolerance", "0")]:
        field = page.get_by_role("spinbutton", name=name)
        field.fill(value)
        field.press("Tab")
    page.get_by_role("button", name="Start run").click()


def test_stop_stops_and_the_exported_truths_are_those_of_the_run(
    page: Page, address: str, home: Workspace, tmp_path: Path
) -> None:
    crowd = simulate(items=4_000, workers=30, classes=3, labels_per_item=5, features=0, seed=2).data
    write_csv(labels(crowd), tmp_path / "crowd.csv", spreadsheet_safe=False)
    base = address.partition("?")[0]
    page.goto(address)
    page.goto(f"{base}data")
    heading(page, "Data")
    if home.projects():
        page.get_by_text("New data", exact=True).click()
    upload(page, [tmp_path / "crowd.csv"])
    page.get_by_role("button", name="Create project").click()
    heading(page, "Run")

    start_endless_run(page, base)
    page.get_by_text("step", exact=False).first.wait_for()
    project = home.projects()[0]
    # In the page: Streamlit has a button of this name too, on top while a script runs.
    page.get_by_test_id("stMain").get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("stopped").first.wait_for()
    (stopped,) = home.runs(project.id)
    assert stopped.status == "cancelled"
    assert stopped.pid is None or not psutil.pid_exists(stopped.pid)

    page.goto(f"{base}run?method=mv")
    heading(page, "Majority vote")
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("button", name="Open results").click()
    heading(page, "Overview")
    done = home.runs(project.id)[0]
    assert (done.method, done.status) == ("mv", "done")

    page.goto(f"{base}workers?project={project.id}&run={done.id}&worker={crowd.workers[0]}")
    heading(page, f"Worker {crowd.workers[0]}")
    evidence = home.workers(done.id).set_index("worker")["evidence"][crowd.workers[0]]
    page.get_by_text(evidence.split(" of ")[0], exact=False).first.wait_for()

    page.goto(f"{base}export?project={project.id}&run={done.id}&view=tables")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    download.value.save_as(tmp_path / "truths.csv")
    exported = pd.read_csv(tmp_path / "truths.csv", dtype={"item": str, "truth": str})
    kept = home.truths(done.id)[exported.columns]
    pd.testing.assert_frame_equal(exported, kept, check_dtype=False)
    assert len(exported) == crowd.n_items


def test_a_completed_matrix_is_drawn_compared_and_downloaded(
    page: Page, address: str, home: Workspace, tmp_path: Path
) -> None:
    crowd = simulate(items=60, workers=12, classes=3, labels_per_item=3, features=0, seed=1).data
    dataset = home.add_data(home.create_project("Sparse").id, crowd, name="sparse.csv")
    run = home.queue(dataset.id, "ds", complete="g_mv")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.goto(f"{address.partition('?')[0]}completion?project={dataset.project_id}")
    page.locator(".js-plotly-plot .heatmaplayer").first.wait_for()
    page.get_by_text("60 of 60 items").or_(page.get_by_text("all 60 items")).wait_for()
    assert overflow(page) == 0

    page.get_by_text("Truths that changed", exact=True).click()
    page.get_by_role("button", name="Run Dawid-Skene without completion").click()
    page.get_by_text("the same method, settings and seed").wait_for()

    page.get_by_text("Download", exact=True).first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    download.value.save_as(tmp_path / "completed.csv")
    exported = pd.read_csv(tmp_path / "completed.csv")
    assert exported["origin"].value_counts().to_dict() == {"observed": 180, "filled": 540}
    assert set(exported["worker"]) == set(crowd.workers)
    assert home.run(run.id).status == "done"
    assert errors == []


def test_results_go_back_to_the_file_and_to_tools(
    page: Page, address: str, home: Workspace
) -> None:
    batch = finished(MTURK, "batch.csv").data
    dataset = home.add_data(home.create_project("Way back").id, batch, name="batch.csv")
    run = home.queue(dataset.id, "mv")
    page.goto(address)
    page.goto(f"{address.partition('?')[0]}export?project={run.project_id}&run={run.id}")
    names = []
    for title in ("Your file with the truths", "Excel workbook", "Amazon Mechanical Turk"):
        page.get_by_text(title, exact=True).first.click()
        page.get_by_role("heading", name=title, exact=True).wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download").click()
        names.append(download.value.suggested_filename)
        if title.startswith("Your"):
            header = download.value.path().read_text().splitlines()[0]
            assert header.endswith('"Reject","truth","confidence","agrees"')
    assert names == ["batch-with-truths.csv", "way-back-mv.xlsx", "way-back-mv-mturk.zip"]
    assert overflow(page) == 0


def test_bad_workers_are_left_out_with_reasons_compared_and_reported(
    page: Page, address: str, home: Workspace, tmp_path: Path
) -> None:
    crowd = pets()
    dataset = home.add_data(home.create_project("Desk").id, crowd, name="desk.csv")
    run = home.queue(dataset.id, "ds")
    base, query = address.partition("?")[0], f"project={run.project_id}&run={run.id}"
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_viewport_size({"width": 1440, "height": 1400})
    page.goto(address)
    page.goto(f"{base}?{query}")
    page.get_by_role("button", name="Look at them").click()
    heading(page, "Workers")
    table = page.get_by_test_id("stDataFrame").first
    for row in (1, 2):
        table.click(position={"x": 18, "y": 35 * row + 18})
    heading(page, "2 workers ticked")
    page.get_by_role("button", name="See what it would change").click()
    page.get_by_text("Truths that would change", exact=True).wait_for()
    settle(page)
    reason = page.get_by_role("combobox", name="Reason")
    reason.click()
    reason.press_sequentially("Answers at random", delay=15)
    settle(page)
    reason.press("Enter")
    settle(page)
    name = page.get_by_role("textbox", name="Your name")
    name.fill("Ann")
    name.press("Tab")
    settle(page)
    page.get_by_role("button", name="Exclude 2 workers and run again").click()
    page.get_by_text("Since #1", exact=False).wait_for()
    decided = home.runs(run.project_id)[0]
    names = set(decided.excluded)
    assert names == {"always cat", "turned"}
    assert {made.reason for made in decided.decisions} == {"Answers at random"}

    page.get_by_test_id("stMain").get_by_role("button", name="Compare").click()
    heading(page, "Compare")
    page.get_by_text("Truths that changed", exact=True).first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").first.click()
    download.value.save_as(tmp_path / "runs.csv")
    assert pd.read_csv(tmp_path / "runs.csv")["decisions"].tolist() == [2, 0]

    page.goto(f"{base}export?project={run.project_id}&run={decided.id}&view=report")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the report").click()
    download.value.save_as(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(f"<td>{name}</td>" in report for name in names)
    assert "Answers at random" in report
    assert errors == []


def test_agreement_is_shown_before_any_run_and_its_pairs_are_written(
    page: Page, address: str, home: Workspace, tmp_path: Path
) -> None:
    data = pets()
    dataset = home.add_data(home.create_project("Fresh").id, data, name="fresh.csv")
    page.goto(address)
    page.goto(f"{address.partition('?')[0]}agreement?project={dataset.project_id}")
    page.locator(".js-plotly-plot .heatmaplayer").first.wait_for()
    assert overflow(page) == 0
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").last.click()
    download.value.save_as(tmp_path / "pairs.csv")
    pairs = pd.read_csv(tmp_path / "pairs.csv")
    assert set(pairs["first"]) | set(pairs["second"]) == set(data.workers) - {"stranger"}
    assert pairs["n_shared"].tolist() == [20] * 10
