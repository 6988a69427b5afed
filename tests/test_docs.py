"""The documents build without a warning, leave nothing out, and lead nowhere that is not there."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from typer.main import get_command

import crowdcore
from crowdcore.audit.verdicts import VERDICTS
from crowdcore.cli import app
from crowdcore.export.columns import TableColumn
from crowdcore.reading import FINDINGS
from crowdcore.registry import methods
from dashboard.guide import chapters
from dashboard.server.downloads import SERVED
from docs import generator
from docs.generator.files import TABLES
from docs.generator.lists import ENVIRONMENT

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
SOURCES = [
    path
    for path in [*FRONT, *sorted(DOCS.rglob("*.md"))]
    if not {"reference", "_build"} & set(path.relative_to(ROOT).parts)
]
HOSTS = {"arxiv.org", "doi.org", "keepachangelog.com", "localhost", "semver.org"}
"""Whom the documents may name; another one is added here on purpose."""


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    return generator.reference()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The built pages, as `make docs` builds them."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    options = re.search(r"-m sphinx (.+) docs docs/_build/html", makefile)
    assert options is not None
    command = [
        sys.executable,
        "-m",
        "sphinx",
        *options[1].split(),
        str(DOCS),
        str(tmp_path / "html"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return tmp_path / "html"


class Page(HTMLParser):
    """The links, anchors and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and "href" in values:
            self.loaded.append(values["href"])
        if "src" in values:
            self.loaded.append(values["src"])


def test_the_pages_build_and_lead_nowhere_that_is_not_there(site: Path) -> None:
    """One test, so that two processes do not build the pages twice."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    assert not broken_links(pages)
    loaded = {link for page in pages.values() for link in page.loaded}
    assert loaded
    assert not [link for link in loaded if urlsplit(link).netloc]  # nothing from the internet


def broken_links(pages: dict[Path, Page]) -> list[str]:
    """Links inside the pages to files or anchors that do not exist."""
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name in {"genindex.html", "search.html"}:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            there = target in pages or (target.is_file() and not anchor)
            if not there or (anchor and anchor not in pages[target].anchors):
                broken.append(f"{path.name}: {link}")
    return broken


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_in_markdown_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        parts = urlsplit(link)
        if parts.netloc or not parts.path or parts.path.startswith("../reference/"):
            continue  # the reference is there once it is built; the test of pages looks at it
        assert (path.parent / parts.path).exists(), link


def test_no_page_names_a_machine(reference: dict[str, str]) -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in SOURCES}
    for name, text in {**texts, **reference}.items():
        assert not re.search(r"(?<![\w.])/(work|home|root|Users|tmp|mnt|opt)/", text), name
        addresses = set(re.findall(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", text))
        assert addresses <= {"127.0.0.1", "0.0.0.0"}, name
        hosts = {urlsplit(link).hostname for link in re.findall(r"https?://[^\s)>\"'`]+", text)}
        assert hosts <= HOSTS, name


def headings(text: str) -> set[str]:
    """The headings of a page, without the marks of code."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^#+ (.+)$", plain, flags=re.MULTILINE)
    return {heading.replace("`", "") for heading in found}


def commands() -> list[str]:
    """Every command, groups and those inside them."""
    names = []
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        names += [name, *(f"{name} {below}" for below in getattr(command, "commands", {}))]
    return names


def test_every_command_has_a_heading(reference: dict[str, str]) -> None:
    assert len(commands()) > 10
    assert headings(reference["commands"]) >= {f"crowdcore {name}" for name in commands()}


def test_every_public_name_has_a_heading(reference: dict[str, str]) -> None:
    assert headings(reference["python"]) >= set(crowdcore.__all__) - {"__version__"}


def test_every_method_has_a_page_with_its_card_and_settings(reference: dict[str, str]) -> None:
    for method in [*methods("aggregate").values(), *methods("complete").values()]:
        page = reference[f"methods/{method.id}"]
        assert {method.title, "Idea", "Settings"} <= headings(page)
        for name in method.config.model_fields:
            assert f"| `{name}` |" in page
        assert f"[`{method.id}`](methods/{method.id}.md)" in reference["methods"]


def test_every_finding_has_a_heading_in_the_guide(reference: dict[str, str]) -> None:
    assert headings(chapters.text("health")) >= {kind.title for kind in FINDINGS}
    for kind in FINDINGS:
        assert f"| `{kind.id}` |" in reference["findings"]


def test_every_verdict_has_a_heading_in_the_guide(reference: dict[str, str]) -> None:
    assert headings(chapters.text("workers")) >= {one.name.capitalize() for one in VERDICTS}
    for verdict in VERDICTS:
        assert f"| {verdict.name} |" in reference["verdicts"]


def column_lists() -> dict[str, tuple[TableColumn[Any], ...]]:
    """Every list of columns in the code, by module and name."""
    found = {}
    for package in ("crowdcore.audit", "crowdcore.export"):
        for info in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
            for name, value in vars(import_module(info.name)).items():
                if isinstance(value, tuple) and value and isinstance(value[0], TableColumn):
                    found[f"{info.name}.{name}"] = value
    return found


def test_every_column_has_a_heading_below_its_table(reference: dict[str, str]) -> None:
    documented = [written.columns for written in TABLES]
    for name, columns in column_lists().items():
        assert columns in documented, f"{name} is missing in docs/generator/files.py"
    sections = re.split(r"^## ", reference["files"], flags=re.MULTILINE)[1:]
    for written, section in zip(TABLES, sections, strict=False):
        names = [column if isinstance(column, str) else column.name for column in written.columns]
        assert section.startswith(written.title)
        assert headings(section) == set(names)


def test_every_environment_variable_is_explained(reference: dict[str, str]) -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("crowdcore", "dashboard")
        for path in (ROOT / folder).rglob("*.py")
    )
    named = set(re.findall(r'"(CROWDCORE_[A-Z_]+)"', source))
    assert named - {SERVED} == set(ENVIRONMENT)  # SERVED is a note of the launcher to itself
    for name in ENVIRONMENT:
        assert f"| `{name}` |" in reference["settings"]


def named_in_develop() -> set[str]:
    """Dotted names and paths in the notes for developers, outside of blocks of code."""
    names: set[str] = set()
    for path in (DOCS / "develop").glob("*.md"):
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        text = re.sub(r"^New file .+$", "", text, flags=re.M)
        names |= set(re.findall(r"`([A-Za-z_][\w.]*[./][\w./]+)`", text))
    return names


def is_there(name: str) -> bool:
    """Whether a path is in the repository, or a dotted name in the code."""
    if "/" in name or name.endswith((".py", ".md", ".txt", ".toml")):
        return (ROOT / name).exists() or bool(list(ROOT.glob(f"[a-z]*/**/{name}")))
    for package in ("crowdcore", "crowdcore.workspace", "dashboard"):
        try:
            resolve_name(f"{package}.{name.removeprefix('crowdcore.').removeprefix('dashboard.')}")
        except (ImportError, AttributeError):
            continue
        return True
    return False


@pytest.mark.parametrize("name", sorted(named_in_develop()))
def test_what_the_notes_for_developers_name_is_there(name: str) -> None:
    assert is_there(name)


def test_the_twenty_questions_are_answered_by_their_files() -> None:
    text = (DOCS / "develop" / "questions.md").read_text(encoding="utf-8")
    answers = re.findall(r"\| (.+\?) \| `(.+)` \| `(.+)` \|", text)
    assert len(answers) == 20
    for question, path, name in answers:
        code = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"\b{name}\b", code), question
