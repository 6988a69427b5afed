"""What docs/develop/adding.md says: each thing is added in one place, and the rest follows."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "develop" / "adding.md").read_text(encoding="utf-8")
BLOCK = r":\n\n```\w+\n(?P<code>.*?)^```$"
NEW_FILE = re.compile(rf"^New file `(?P<path>[^`]+)`{BLOCK}", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(
    rf"^(?P<at>First|Last) entry of `(?P<name>\w+)` in `(?P<path>[^`]+)`{BLOCK}",
    re.MULTILINE | re.DOTALL,
)


def insert(path: Path, name: str, code: str, *, at: str) -> None:
    """Put an entry into the tuple that a module calls `name`."""
    source = path.read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == name:
            value = node.value  # type: ignore[attr-defined]
            line = value.lineno if at == "First" else value.end_lineno - 1
            lines = source.splitlines(keepends=True)
            entry = indent(code.rstrip() + ",\n", "    ")
            path.write_text("".join([*lines[:line], entry, *lines[line:]]), encoding="utf-8")
            return
    raise AssertionError(f"{path} has no {name}")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with everything added that the page adds, and nothing else."""
    folder = tmp_path_factory.mktemp("copy")
    ignore = shutil.ignore_patterns("__pycache__", "_build", "reference")
    for name in ("crowdcore", "dashboard", "docs", "sample_data", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for block in NEW_FILE.finditer(TEXT):
        assert not (folder / block["path"]).exists()
        (folder / block["path"]).write_text(block["code"], encoding="utf-8")
    for block in ENTRY.finditer(TEXT):
        insert(folder / block["path"], block["name"], block["code"], at=block["at"])
    return folder


def run_in(copy: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_adds_one_of_each_with_the_files_that_it_says() -> None:
    new = [block["path"] for block in NEW_FILE.finditer(TEXT)]
    changed = [block["path"] for block in ENTRY.finditer(TEXT)]
    assert len(new) == 4  # a method with its card, a page, a format
    assert len(changed) == 3  # a page, a verdict, a column


@pytest.mark.slow
def test_everything_follows_from_what_is_added(copy: Path) -> None:
    said = run_in(copy, "-m", "pytest", "tests/added.py", "-q", "-p", "no:cacheprovider")
    assert "5 passed" in said


@pytest.mark.slow
def test_the_added_method_keeps_every_promise_once_it_has_golden_numbers(copy: Path) -> None:
    run_in(copy, "-m", "tests.golden.renew", "squared_vote")
    options = ["-q", "-k", "squared_vote", "-p", "no:cacheprovider"]
    said = run_in(copy, "-m", "pytest", "tests/conformance", *options)
    assert int(re.findall(r"(\d+) passed", said)[0]) > 15


@pytest.mark.slow
def test_what_is_added_is_written_like_the_rest(copy: Path) -> None:
    new = [block["path"] for block in NEW_FILE.finditer(TEXT) if block["path"].endswith(".py")]
    changed = [block["path"] for block in ENTRY.finditer(TEXT)]
    run_in(copy, "-m", "ruff", "check", "--no-cache", *new, *changed)
    run_in(copy, "-m", "ruff", "format", "--no-cache", "--check", *new, *changed)
