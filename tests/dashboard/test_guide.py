"""The guide inside the dashboard: the chapters of docs/guide, and the way to them."""

from __future__ import annotations

import re

import pytest

from crowdcore.audit.verdicts import VERDICTS
from dashboard.guide import chapters
from dashboard.pages import PAGES
from tests.dashboard.conftest import OpenPage

NAMES = [page.name for page in PAGES if page.name != "guide"]


def test_every_chapter_is_shown_whole(open_page: OpenPage) -> None:
    page = open_page("guide")
    for name, title in chapters.titles().items():
        page.query_params["chapter"] = name
        page.run()
        assert page.title[0].value == title
        shown = "\n".join(part.value for part in page.markdown)
        for heading in re.findall(r"^#+ .+$", chapters.text(name), re.MULTILINE):
            assert heading in shown
        pictures = re.findall(r"^!\[", chapters.text(name), re.MULTILINE)
        assert len(page.get("image")) == len(pictures)
        assert ".md" not in shown  # links lead to chapters, not to files


def test_an_unknown_chapter_is_the_first_one(open_page: OpenPage) -> None:
    assert open_page("guide", chapter="of an old link").title[0].value == "Guide"


def test_every_page_has_a_chapter_of_its_name() -> None:
    assert [chapters.chapter_of(name) for name in NAMES] == NAMES


@pytest.mark.parametrize("name", ["data", "workers"])
def test_a_page_leads_to_its_chapter(open_page: OpenPage, name: str) -> None:
    links = [link.proto for link in open_page(name).sidebar.get("page_link")]
    about = next(link for link in links if link.label == "About this page")
    assert about.page == "guide"
    assert about.query_string == f"chapter={name}"


def test_a_page_without_a_chapter_leads_to_the_contents() -> None:
    assert chapters.chapter_of("of tomorrow") == chapters.FIRST


def test_every_verdict_is_explained_in_the_guide() -> None:
    text = chapters.text("workers")
    for verdict in VERDICTS:
        assert f"### {verdict.name.capitalize()}" in text
        for sentence in (verdict.meaning, verdict.caveat, verdict.advice):
            assert sentence in text


def test_the_guide_is_the_one_of_the_documents() -> None:
    assert {path.stem for path in chapters.folder().glob("*.md")} == set(chapters.titles())
