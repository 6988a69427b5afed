"""The pictures of the guide, taken from the sample projects: `python -m docs.screenshots`.

It opens the dashboard over a workspace of its own, runs the methods whose pages are shown, and
photographs each page in a headless Chromium, 1440 pixels wide and light.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from crowdcore.jobs import stop_daemon
from crowdcore.workspace import RunRow, Workspace
from dashboard.server.launch import pick_port
from dashboard.server.startup import WELCOMED, add_sample

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "guide" / "pictures"
WIDTH_PIXELS = 1440
COLOURS = 256
MARGIN_PIXELS = 64
"""The empty strip above a page, where Streamlit keeps its menu."""

MAX_SECONDS = 600
"""How long the runs may take before the script gives up."""

MAX_DRAWING_SECONDS = 40
"""How long a page may go on moving, such as by the minutes since a run, before it is taken."""

STILL_PICTURES = 3
"""Pictures, one per second, that must be alike before a page counts as drawn."""

RUNS = {
    "auto": ("auto", None),
    "attention": ("hgnn", None),
    "spectral": ("mmlc_owf", None),
    "completion": ("mv", "wslc"),
}
"""What is run on the sample of digits: a method, and one that completes the labels first."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One picture: a page, the run that it shows, how high it is, and what is done before."""

    name: str
    page: str
    run: str = "auto"
    height: int = 1000
    query: dict[str, str] = field(default_factory=dict)
    act: Callable[[Page], None] = lambda _: None
    whole: bool = False  # with the sidebar


def _upload(page: Page) -> None:
    page.get_by_text("New data", exact=True).click()
    sample = ROOT / "sample_data" / "wide" / "labels.csv"
    uploader = page.get_by_test_id("stFileUploader").filter(has_text="Labels file")
    uploader.locator("input").set_input_files(sample)
    page.get_by_role("button", name="Create project").wait_for()


def _upload_and_scroll(page: Page) -> None:
    _upload(page)
    report = page.get_by_role("heading", name="What is in it")
    report.evaluate("heading => heading.scrollIntoView()")


SHOTS = (
    Shot(name="overview", page="", height=1090),
    Shot(name="upload", page="data", height=1150, act=_upload, whole=True),
    Shot(name="health", page="data", height=900, act=_upload_and_scroll),
    Shot(name="run", page="run", height=1000),
    Shot(name="truths", page="truths", height=1150, query={"show": "disputed"}),
    Shot(name="workers", page="workers", height=1500, query={"worker": "w54"}),
    Shot(name="items", page="items", height=1150),
    Shot(name="spend", page="spend", height=1100),
    Shot(name="attention", page="attention", run="attention", height=1150),
    Shot(name="spectral", page="spectral", run="spectral", height=1150),
    Shot(name="completion", page="completion", run="completion", height=1200),
    Shot(name="export", page="export"),
)


@contextmanager
def _served(home: Workspace) -> Iterator[str]:
    """The address of a dashboard over a workspace, for as long as it is needed."""
    port = pick_port("127.0.0.1", None)
    command = [sys.executable, "-c", "from crowdcore.cli import main; main()"]
    command += ["dashboard", "--no-browser", "--port", str(port), "--workspace", str(home.root)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    address = f"http://localhost:{port}/"
    try:
        _await(lambda: _answers(f"{address}_stcore/health"), "the dashboard to start")
        yield address
    finally:
        process.terminate()
        process.wait(20)
        stop_daemon(home)


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=1) as answer:
            return bool(answer.status == 200)  # noqa: PLR2004  (HTTP's OK)
    except OSError:
        return False


def _await(is_done: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + MAX_SECONDS
    while not is_done():
        if time.monotonic() > end:
            sys.exit(f"Waited {MAX_SECONDS} s for {what}.")
        time.sleep(0.5)


def _finished_runs(home: Workspace, shots: list[Shot]) -> dict[str, RunRow]:
    """Run what is shown, on the sample of digits."""
    project = add_sample(home, "digits")
    data = home.datasets(project)[0]
    needed = {shot.run for shot in shots}
    queued = {
        name: home.queue(data.id, method, params={}, complete=complete)
        for name, (method, complete) in RUNS.items()
        if name in needed
    }
    _await(lambda: not any(run.active for run in home.runs(project)), "the runs to end")
    rows = {name: home.run(run.id) for name, run in queued.items()}
    if failed := [row.label for row in rows.values() if row.status != "done"]:
        sys.exit(f"{', '.join(failed)} ended without a result.")
    return rows


def _take(page: Page, shot: Shot, address: str, runs: dict[str, RunRow]) -> None:
    row = runs[shot.run]
    page.set_viewport_size({"width": WIDTH_PIXELS, "height": shot.height})
    query = {"project": row.project_id, "run": row.id, **shot.query}
    page.goto(f"{address}{shot.page}?{urlencode(query)}")
    page.get_by_role("heading", level=1).wait_for()
    shot.act(page)
    part = page if shot.whole else page.get_by_test_id("stMain")
    picture = Image.open(io.BytesIO(_settled(part.screenshot))).convert("RGB")
    if not shot.whole:
        picture = picture.crop((0, MARGIN_PIXELS, *picture.size))
    few = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(PICTURES / f"{shot.name}.png", optimize=True)


def _settled(take: Callable[[], bytes]) -> bytes:
    """A picture that stays the same for a while: tables and charts draw themselves in the end."""
    last, n_same = take(), 0
    end = time.monotonic() + MAX_DRAWING_SECONDS
    while n_same < STILL_PICTURES and time.monotonic() < end:
        time.sleep(1)
        now = take()
        last, n_same = now, n_same + 1 if now == last else 0
    return last


def main(names: list[str]) -> None:
    """Take the pictures with these names, or all of them."""
    PICTURES.mkdir(exist_ok=True)
    shots = [shot for shot in SHOTS if not names or shot.name in names]
    folder = Path(tempfile.mkdtemp(prefix="crowdcore-pictures-"))
    home = Workspace(folder)
    home.set_setting(WELCOMED, True)
    try:
        with _served(home) as address, sync_playwright() as playwright:
            runs = _finished_runs(home, shots)
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
                args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
            )
            page = browser.new_page(color_scheme="light")
            token = (home.root / "token").read_text(encoding="ascii")
            page.goto(f"{address}?token={token}")
            for shot in shots:
                _take(page, shot, address, runs)
                sys.stdout.write(f"{PICTURES / shot.name}.png\n")
            browser.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
