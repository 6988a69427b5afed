"""From an upload to its results in a real browser, over a real server and a real daemon."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from crowdcore.jobs import stop_daemon
from crowdcore.workspace import Workspace
from dashboard.launch import pick_port
from dashboard.startup import WELCOMED
from tests.dashboard.test_launch import HOST, ROOT, wait_until_healthy

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
LABELS = "item,worker,label\n" + "\n".join(
    f"i{item},w{worker},{'cat' if (item + (worker == 4)) % 2 else 'dog'}"
    for item in range(40)
    for worker in range(5)
)
PATIENCE = 60_000


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home, log = Workspace(tmp_path_factory.mktemp("home")), tmp_path_factory.mktemp("log") / "log"
    home.set_setting(WELCOMED, True)
    port = pick_port(HOST, None)
    code = (
        "from pathlib import Path; from dashboard.launch import main; "
        f"main({port}, Path({str(home.root)!r}), browser=False)"
    )
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_healthy(process, port, log)
        token = (home.root / "token").read_text(encoding="ascii")
        yield f"http://localhost:{port}/?token={token}"
        maps = Path(f"/proc/{process.pid}/maps")
        assert not maps.exists() or "libtorch" not in maps.read_text(encoding="utf-8")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
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


def overflow(page: Page) -> int:
    wide = "main => main.scrollWidth - main.clientWidth"
    return int(page.get_by_test_id("stMain").evaluate(wide))


def test_a_file_becomes_results_that_survive_a_reload(
    page: Page, address: str, tmp_path: Path
) -> None:
    (tmp_path / "pets.csv").write_text(LABELS, encoding="utf-8")
    asked: list[str] = []
    errors: list[str] = []
    own = (address.partition("?")[0], "data:", "blob:")
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    heading(page, "Data")
    assert "token" not in page.url
    page.locator('input[type="file"]').first.set_input_files(tmp_path / "pets.csv")
    page.get_by_role("button", name="Create project").click()
    heading(page, "Run")
    assert overflow(page) == 0
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("button", name="Open results").click()
    heading(page, "Truths")
    link = page.url
    page.reload()
    heading(page, "Truths")
    assert page.url == link
    assert "project=" in link
    assert "run=" in link
    assert [url for url in asked if not url.startswith(own)] == []
    assert errors == []
