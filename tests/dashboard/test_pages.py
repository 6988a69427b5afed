"""Pages are entries of one list, and none of them names a method."""

from __future__ import annotations

import ast
from itertools import pairwise

import pytest

from crowdcore.registry import methods, methods_leaving
from crowdcore.workspace import Workspace
from dashboard.pages import PAGES, Page, get_page
from dashboard.text import escape_md
from tests.dashboard.results import everything_said, open_view, pets, save_run
from tests.workspace.samples import ROOT

SOURCES = sorted((ROOT / "dashboard").rglob("*.py"))
SHOWING = [page for page in PAGES if page.shows]

NO_METHODS = {
    ("dashboard/views/run.py", "auto"): "a device",
    ("dashboard/run/progress.py", "auto"): "a device",
    ("dashboard/completion/truths.py", "auto"): "an arrow of st.metric",
    ("dashboard/widgets.py", "auto"): "an arrow of st.metric",
}
"""Where the id of a method means something else."""


def test_every_page_has_its_script_and_every_script_its_page() -> None:
    scripts = {path.stem for path in (ROOT / "dashboard" / "views").glob("*.py")} - {"__init__"}
    assert {page.name for page in PAGES} == scripts
    assert len({page.title for page in PAGES}) == len(PAGES)


def test_pages_of_a_section_stand_together() -> None:
    changes = [before.section != after.section for before, after in pairwise(PAGES)]
    assert sum(changes) == len({page.section for page in PAGES}) - 1


def test_a_page_that_there_is_not_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no page 'nowhere'"):
        get_page("nowhere")


def test_no_source_of_the_dashboard_names_a_method() -> None:
    ids = {*methods(), *methods("complete")}
    named = {
        (path.relative_to(ROOT).as_posix(), node.value)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ids
    }
    assert named <= set(NO_METHODS)


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.name)
def test_a_page_that_has_nothing_to_show_leads_to_a_method_that_leaves_it(
    home: Workspace, page: Page
) -> None:
    best = methods_leaving(*page.shows)[0]
    save_run(home, pets(), "mv")
    view = open_view(page.name)
    assert escape_md(best.title) in view.button(key=f"{page.name}_run").label
    others = [escape_md(method.title) for method in methods_leaving(*page.shows)[1:]]
    assert all(title in everything_said(view) for title in others)
