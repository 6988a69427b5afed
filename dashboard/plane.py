"""Points on a plane: PCA at once, slow ways in a process of their own while the page goes on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.projection import project
from crowdcore.wording import count, duration
from crowdcore.workspace import projections
from dashboard import state

if TYPE_CHECKING:
    import subprocess

    from crowdcore.data import Floats
    from crowdcore.projection import Kind

MAX_POINTS = 4_000
"""Points that are placed; of more a seeded sample."""

POLL_SECONDS = 1.0

KINDS: dict[Kind, str] = {"pca": "PCA", "umap": "UMAP", "isomap": "Isomap"}


@dataclass(frozen=True, kw_only=True)
class _Work:
    process: subprocess.Popen[bytes]
    began: float


def sample(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows to place: all of them, or a sample that is always the same."""
    if len(rows) <= MAX_POINTS:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, MAX_POINTS, replace=False))


def positions(run_id: str, name: str, kind: Kind, points: NDArray[Any]) -> Floats | None:
    """Return where a run's points [n, d] lie on the plane [n, 2].

    None while that is being worked out: then the page says so, and draws itself anew at the end.

    Parameters
    ----------
    run_id
        The run whose folder keeps the positions.
    name
        What the points are, such as "workers"; with `kind` it names the file.
    kind
        How they are placed; PCA at once, the others in a process of their own.
    points
        The points [n, d].

    """
    if kind == "pca":
        return project(points)
    saved = projections.read(state.workspace(), run_id, name, kind, len(points))
    if saved is None:
        _wait(run_id, name, kind, points)
    return saved


@st.fragment(run_every=POLL_SECONDS)
def _wait(run_id: str, name: str, kind: Kind, points: NDArray[Any]) -> None:
    work = _work(run_id, name, kind, points)
    code = work.process.poll()
    ready = projections.read(state.workspace(), run_id, name, kind, len(points)) is not None
    if ready:
        st.rerun()
    if code is None:
        passed = duration(time.monotonic() - work.began)
        st.info(
            f"{KINDS[kind]} is placing {count(len(points))} points, for {passed} so far. The first "
            "time takes about a minute; the page shows them by itself, and keeps them.",
            icon=":material/hourglass_top:",
        )
        return
    st.error(
        f"{KINDS[kind]} ended without a result (exit code {code}). The server's log says why.",
        icon=":material/error:",
    )
    if st.button("Try again", key=f"placing_again_{name}_{kind}"):
        _work.clear(run_id, name, kind)
        st.rerun()


@st.cache_resource(max_entries=16, show_spinner=False)
def _work(run_id: str, name: str, kind: Kind, _points: NDArray[Any]) -> _Work:
    """Start the process once, however many tabs ask for it."""
    process = projections.start(state.workspace(), run_id, name, kind, _points)
    return _Work(process=process, began=time.monotonic())
