"""Deciding items by keyboard, an audit and a spend plan in a real browser."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page

from crowdcore.simulation.classes import simulate
from crowdcore.workspace import RunRow, Workspace
from tests.dashboard.results import save_run
from tests.dashboard.test_browser import address, home, overflow, page
from tests.export.finished import MTURK, finished

pytestmark = [pytest.mark.browser, pytest.mark.slow]

__all__ = ["address", "home", "page"]


@pytest.fixture(scope="module", autouse=True)
def runs(home: Workspace) -> dict[str, RunRow]:
    """Save runs before there is a daemon, which would take them up as well."""
    data = simulate(items=80, workers=10, classes=3, labels_per_item=4, features=0, seed=5).data
    batch = finished(MTURK, "batch.csv").data
    return {
        "keyboard": save_run(home, replace(data, gold=None), project="By keyboard"),
        "batch": save_run(home, batch, "mv", project="Next batch"),
    }


def open_page(page: Page, address: str, name: str, run: RunRow, view: str = "") -> None:
    page.goto(address)
    query = f"?project={run.project_id}&run={run.id}{view and f'&view={view}'}"
    page.goto(f"{address.partition('?')[0]}{name}{query}")


def sign(page: Page) -> None:
    field = page.get_by_role("textbox", name="Your name").first
    field.fill("Ann")
    field.press("Tab")
    page.get_by_role("heading", name="What is").wait_for()


def test_items_are_decided_by_keyboard_refitted_audited_and_listed(
    page: Page,
    address: str,
    home: Workspace,
    runs: dict[str, RunRow],
) -> None:
    run = runs["keyboard"]
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_page(page, address, "items", run)
    sign(page)
    for number in (1, 2, 3):
        item = home.worklist(run.id).table(1)["item"].iloc[0]
        page.get_by_role("heading", name=f"What is {item}?").wait_for()
        page.get_by_role("heading", name="Items", exact=True).click()  # out of any field
        page.keyboard.press(str(number))
        page.get_by_text(f"Refit with {number} new decision").first.wait_for()
    truths = home.standing(run.project_id, run.dataset_id).truths
    assert len(truths) == 3
    assert {made.by for made in truths.values()} == {"Ann"}
    assert overflow(page) == 0
    with page.expect_download() as download:
        page.get_by_role("button", name="Download 77 items").click()
    listed = pd.read_csv(download.value.path())
    assert len(listed) == 77
    assert not set(listed["item"]) & set(truths)

    page.get_by_role("button", name="Refit with 3 new decisions").click()
    page.get_by_role("button", name="Open it", exact=True).click()
    page.get_by_text("Refit with 0 new decisions").first.wait_for()
    assert len(home.runs(run.project_id)[0].decisions) == 3

    page.get_by_text("Audit sample", exact=True).click()
    page.get_by_text("±10 points", exact=False).click()
    page.get_by_test_id("stBaseButton-primary").click()
    page.get_by_text("Labels and truth are hidden").wait_for()
    page.get_by_role("heading", name="Items", exact=True).click()
    page.keyboard.press("1")
    page.get_by_text("1 of", exact=False).first.wait_for()
    page.get_by_text("Item 2 of").wait_for()
    (audit,) = home.audits(run.id)
    assert audit.estimate.n_decided >= 1
    assert errors == []


def test_a_plan_becomes_a_batch_for_the_platform(
    page: Page,
    address: str,
    home: Workspace,
    runs: dict[str, RunRow],
) -> None:
    run = runs["batch"]
    open_page(page, address, "spend", run)
    page.get_by_text("Labels to buy").wait_for()
    page.get_by_text("Amazon Mechanical Turk", exact=True).wait_for()
    assert overflow(page) == 0
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the batch").click()
    with zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())) as batch:
        names = batch.namelist()
        assert "workers.csv" in names
        plan = home.plan_spending(run.id, budget=20, price=0.05)
        parts = [name for name in names if name.startswith("batch-")]
        rows = sum(len(pd.read_csv(batch.open(name))) for name in parts)
        assert rows == len(plan.items)
