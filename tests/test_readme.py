from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tests.readme import README, parts, table

TEXT = README.read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SHELL = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)


def test_the_table_of_methods_is_what_the_registry_says() -> None:
    assert parts()[1].strip() == table()


@pytest.mark.parametrize("code", PYTHON)
def test_python_in_the_readme_runs(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "verdict" in done.stdout


def commands() -> list[list[str]]:
    lines = [line.split("#")[0].strip() for block in SHELL for line in block.splitlines()]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [shlex.split(part)[1:] for part in parts if part.startswith("crowdcore ")]


def test_the_readme_shows_commands() -> None:
    assert len(commands()) > 5


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
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    assert {"dashboard", "test", "install"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
