"""Calling the command line, here or as a process of its own."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import crowdcore
from crowdcore.cli import app

ROOT = Path(crowdcore.__file__).parent.parent


def call(*arguments: str | Path, typed: str | None = None) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=typed)


def spawn(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell would, with nobody looking at a terminal."""
    command = [sys.executable, "-c", "from crowdcore.cli import main; main()"]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=ROOT,
        **options,
    )  # fmt: skip


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
