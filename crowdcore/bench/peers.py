"""The peers that crowdcore is measured against, in an environment of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdcore.data import DataError

PACKAGES = (
    "crowd-kit==1.4.2",
    "krippendorff==0.9.0",
    # crowd-kit 1.4.2 breaks with scikit-learn 1.7 and is slower with pandas 3.
    "scikit-learn==1.6.1",
    "pandas==2.3.3",
    "numpy==2.2.6",
    "scipy==1.15.3",
)
MARK = "crowdcore-peers.json"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A counterpart in crowd-kit, and how it is told to make a number of steps.

    A name with a point is a function of another package.
    """

    name: str
    steps: str = ""  # the parameter that bounds the steps
    params: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    def settings(self, steps: int) -> dict[str, Any]:
        """Return settings with which it makes exactly these steps.

        Parameters
        ----------
        steps : int
            How many.

        Returns
        -------
        dict of str to object
            Arguments of the peer's class.
        """
        return {**self.params, **({self.steps: steps} if self.steps else {})}


_NEVER = {"tol": -1e300}  # no gain is ever below this, so no step is saved
_ONE_COIN = Peer(name="OneCoinDawidSkene", steps="n_iter", params=_NEVER)
PEERS = {
    "mv": Peer(name="MajorityVote"),
    "wawa": Peer(name="Wawa"),
    "zbs": Peer(name="ZeroBasedSkill", steps="n_iter"),
    "ds": Peer(name="DawidSkene", steps="n_iter", params=_NEVER),
    "fds": Peer(
        name="DawidSkene",
        steps="n_iter",
        params=_NEVER,
        note="crowd-kit has no fast Dawid-Skene; fds is held against its Dawid-Skene.",
    ),
    "hds": _ONE_COIN,
    "zc": _ONE_COIN,
    "glad": Peer(name="GLAD", steps="n_iter", params=_NEVER),
    "mace": Peer(name="MACE", steps="n_iter", params={"n_restarts": 10}),
    "mmsr": Peer(name="MMSR", steps="n_iter", params=_NEVER),
    "kos": Peer(name="KOS", steps="n_iter"),
    "alpha": Peer(
        name="krippendorff.alpha",
        note="krippendorff.alpha gets a matrix of workers and items, made of the codes; ours finds "
        "an interval besides.",
    ),
}


def default_folder() -> Path:
    """Return where the environment lies if no other folder is given.

    Returns
    -------
    Path
        A folder in the user's cache.
    """
    from platformdirs import user_cache_path

    return user_cache_path("crowdcore") / "peers"


def python_of(folder: Path) -> Path:
    """Return the Python of a finished environment.

    Parameters
    ----------
    folder : Path
        The environment's folder.

    Returns
    -------
    Path
        The interpreter.

    Raises
    ------
    DataError
        There is no finished environment.
    """
    if not is_ready(folder):
        into = "" if folder == default_folder() else f" --into {folder}"
        raise DataError(
            f"There is no environment with the peers in {folder}",
            fix=f"Make it with `crowdcore bench peers{into}`.",
        )
    return _python(folder)


def is_ready(folder: Path) -> bool:
    """Tell whether the environment is there, finished and of today's versions.

    Parameters
    ----------
    folder : Path
        The environment's folder.

    Returns
    -------
    bool
        True if it can be used.
    """
    mark = folder / MARK
    return mark.exists() and json.loads(mark.read_text(encoding="utf-8")) == list(PACKAGES)


def make_environment(folder: Path) -> None:
    """Install the peers into an environment of their own; an unfinished one is continued.

    Parameters
    ----------
    folder : Path
        Where to make it.

    Raises
    ------
    DataError
        The folder holds other files, or an installation failed.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise DataError(f"{folder} holds other files", fix="Choose an empty folder with --into.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text("[]", encoding="utf-8")  # ours, but not finished
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([str(_python(folder)), "-m", "pip", "install", "--quiet", *PACKAGES])
    _run([str(_python(folder)), "-c", "import crowdkit.aggregation, krippendorff"])
    (folder / MARK).write_text(json.dumps(PACKAGES), encoding="utf-8")


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise DataError(
            f"Making the peers' environment failed: {lines[-1]}",
            fix="It needs Python 3.11 to 3.13 and a package registry that pip can reach.",
        )
