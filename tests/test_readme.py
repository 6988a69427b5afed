from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)

MAX_LINES = 60
"""One screen, with the picture."""


def test_the_readme_fits_on_one_screen() -> None:
    assert len(TEXT.splitlines()) <= MAX_LINES
    for block in [*PYTHON, *SHELL]:
        assert len([line for line in block.splitlines() if line.strip()]) <= 5


@pytest.mark.parametrize("code", PYTHON)
def test_python_in_the_readme_runs(code: str, tmp_path: Path) -> None:
    for name in ("labels.csv", "gold.csv"):
        shutil.copy(ROOT / "sample_data" / "relevance" / name, tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "verdict" in done.stdout


def commands() -> list[list[str]]:
    lines = [line.split("#")[0].strip() for block in SHELL for line in block.splitlines()]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [shlex.split(part)[1:] for part in parts if part.startswith("crowdcore ")]


def test_the_readme_shows_commands() -> None:
    assert len(commands()) == 5


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_in_the_readme_exist_with_their_options(words: list[str]) -> None:
    from crowdcore.cli import app

    options = [word for word in words if word.startswith("--")]
    names = []
    command = get_command(app)
    for word in words:
        below = getattr(command, "commands", {})
        if word not in below:
            break
        names.append(word)
        command = below[word]
    assert names
    shown = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "200"}).output
    for option in options:
        assert option in shown


def test_make_targets_in_the_readme_exist() -> None:
    targets = set(re.findall(r"make (\w+)", TEXT))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"dashboard", "test", "docs", "install"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_readme_promises_no_accuracy() -> None:
    """The mean over the sets that `auto` was chosen on is not what a user may expect."""
    assert not re.search(r"\d\s?%|0?\.\d{2,}", TEXT.replace("3.11", ""))
