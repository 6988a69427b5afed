"""Start a run on a prepared folder beside the dashboard, in processes of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from crowdcore.prepared.results import STATE, STOP

LOG = "run.log"


def launch(folder: Path, out: Path, *, method: str, seed: int, n_parts: int) -> None:
    """Start `crowdcore run` on a prepared folder; it goes on when the dashboard ends.

    Parameters
    ----------
    folder
        The prepared folder.
    out
        Where results go.
    method, seed
        Of the fit.
    n_parts
        How many processes work together.
    """
    state = out / STATE
    state.mkdir(parents=True, exist_ok=True)
    (state / STOP).unlink(missing_ok=True)
    command = [sys.executable, "-m", "crowdcore", "run", str(folder), "--out", str(out)]
    command += ["--method", method, "--seed", str(seed), "--parts", str(n_parts)]
    with (state / LOG).open("wb") as log:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def last_words(out: Path) -> str:
    """Return the last line that a run said, for a run that ended without results."""
    try:
        lines = (out / STATE / LOG).read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""
