"""The command line and what is around it: pipes, keys, terminals, the dashboard."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crowdcore.cli.terminal import table
from tests.cli.calling import ROOT, call, spawn


def test_a_pipe_gets_the_answer_and_no_progress_bar(labels: Path) -> None:
    done = spawn("run", labels, "-m", "ds")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Dawid-Skene" in done.stdout
    assert "\x1b" not in done.stdout
    bad = spawn("run", labels.with_name("none.csv"), "-m", "ds")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.count("\n") == 1


def test_ctrl_c_ends_quietly_with_130(tmp_path: Path) -> None:
    crowd = tmp_path / "crowd"
    call("simulate", "--out", crowd, "--items", "20000", "--features", "0")
    # Shells start background jobs with Ctrl-C ignored, and children inherit that.
    begin = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    begin += "import crowdcore.run as r, sys; tell = r.Run.loop\n"
    begin += "def loop(*a):\n sys.stdout.write('go'); sys.stdout.flush(); return tell(*a)\n"
    begin += "r.Run.loop = loop\nfrom crowdcore.cli import main; main()"
    arguments = [
        "run",
        str(crowd / "labels.csv"),
        "-m",
        "ds",
        "-p",
        "max_iter=10000",
        "-p",
        "tol=0",
    ]
    with subprocess.Popen(
        [sys.executable, "-c", begin, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.read(2) == b"go"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == b""


@pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal on Windows")
def test_a_terminal_shows_progress() -> None:
    import pty

    code = (
        "from crowdcore.cli.terminal import progress; from crowdcore.run import Progress\n"
        "with progress() as watch:\n"
        "    watch(Progress(stage='EM', step=3, total=7, speed=1.0, metrics={'loglik': -1.25}))\n"
    )
    ours, theirs = pty.openpty()
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True, cwd=ROOT, env=terminal)
    os.close(theirs)
    seen = os.read(ours, 1 << 16)
    os.close(ours)
    assert b"EM" in seen
    assert b"3/7" in seen
    assert b"loglik -1.25" in seen


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from crowdcore.cli import app\n"
        "heavy = {'numpy', 'pandas', 'torch', 'pyarrow', 'streamlit', 'pydantic'}\n"
        "sys.stdout.write(' '.join(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == ""


def test_the_dashboard_is_started_with_what_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dashboard.server.launch

    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(dashboard.server.launch, "main", lambda **options: calls.append(options))
    wishes = ["--port", "8600", "--host", "0.0.0.0", "--no-browser", "--workspace", str(tmp_path)]
    assert call("dashboard", *wishes).exit_code == 0
    assert call("dashboard").exit_code == 0
    asked = {"port": 8600, "workspace": tmp_path, "host": "0.0.0.0", "browser": False}
    usual = {"port": None, "workspace": None, "host": "127.0.0.1", "browser": True}
    assert calls == [asked, usual]


def test_tables_line_up() -> None:
    assert table(["a", "bb"], [["long", "1"], ["x", "22"]]) == (
        "a     bb\n----  --\nlong   1\nx     22"
    )
