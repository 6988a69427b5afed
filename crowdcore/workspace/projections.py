"""A run's points on a plane: made once, by a process of their own, and kept in the run's folder."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import crowdcore

if TYPE_CHECKING:
    from crowdcore.data import Floats
    from crowdcore.projection import Kind
    from crowdcore.workspace.workspace import Workspace

FOLDER = "projections"

_NAME = re.compile(r"[a-z]+")


def read(workspace: Workspace, run_id: str, name: str, kind: Kind, n: int) -> Floats | None:
    """The places [n, 2] of what a run has so many of, if they are made."""
    path = _path(workspace, run_id, name, kind)
    if not path.exists():
        return None
    placed: Floats = np.load(path, allow_pickle=False)
    return placed if len(placed) == n else None  # another version sampled in another way


def start(
    workspace: Workspace,
    run_id: str,
    name: str,
    kind: Kind,
    points: NDArray[Any],
    *,
    seed: int = 0,
) -> subprocess.Popen[bytes]:
    """Begin to place points [n, d]; when the process has ended with 0, `read` finds them."""
    path = _path(workspace, run_id, name, kind)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # The points go in as a file without a name, which ends with the process.
    with tempfile.TemporaryFile() as source:
        np.save(source, np.ascontiguousarray(points), allow_pickle=False)
        source.seek(0)
        return subprocess.Popen(
            [sys.executable, "-m", "crowdcore.projection", str(path), kind, str(seed)],
            stdin=source,
            stdout=subprocess.DEVNULL,
            cwd=Path(crowdcore.__file__).parents[1],  # where this very crowdcore is found
        )


def _path(workspace: Workspace, run_id: str, name: str, kind: Kind) -> Path:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for points; lower-case letters are")
    return workspace.run_folder(run_id) / FOLDER / f"{name}-{kind}.npy"
