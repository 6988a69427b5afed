"""The plane of a spectral space: workers as points, the oracle as a star, and who is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.spectral import blends, density, distance
from crowdcore.wording import count, percent, percent_of
from dashboard import cache, layout, plane, state, widgets
from dashboard.charts.palette import plain
from dashboard.charts.spectral import Mark, spectral_scatter
from dashboard.spectral.centres import centre_name

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.artefacts.spectral import SpectralSpace
    from crowdcore.data import Floats
    from crowdcore.projection import Kind
    from crowdcore.workspace import RunRow

Against = Literal["gold", "truths"]

KINDS: tuple[Kind, ...] = ("isomap", "umap", "pca")
AGAINST: dict[Against, str] = {"gold": "gold", "truths": "the inferred truths"}
FITTED = "oracle fitted to gold"


def accuracy(workers: pd.DataFrame, against: Against) -> tuple[Floats, NDArray[Any]]:
    """Return how often workers are right [W], NaN where unknown, and of how many labels."""
    names = ("gold_accuracy", "gold_n") if against == "gold" else ("accuracy", "n_compared")
    share, n = (workers[name].to_numpy() for name in names)
    return share.astype(np.float64), n


def basis(run: RunRow) -> Against:
    """Return what accuracies are measured against: gold that the fit has not seen, if any."""
    fresh = cache.result(run.id).score() is not None
    return "gold" if fresh and state.selection("against") != "truths" else "truths"


def chosen(run: RunRow) -> tuple[int, ...]:
    """Return the codes of the workers that the URL selects, without those without labels."""
    data = cache.result(run.id).data
    name, listed = state.selection("worker"), state.selection("chosen") or ""
    codes = {int(code) for code in listed.split(".") if code.isdecimal()}
    if not listed and name in data.workers:
        codes = {data.workers.index(name)}
    return tuple(
        sorted(code for code in codes if code < data.n_workers and data.labels_per_worker[code])
    )


def choose(codes: tuple[int, ...]) -> None:
    """Write the chosen workers to the URL."""
    state.select("worker", None)
    state.select("chosen", ".".join(map(str, codes)) or None)


def draw(run: RunRow, space: SpectralSpace, centre: str) -> None:
    """Show the workers where the method places them, around the oracles."""
    kind = _controls(run)
    labels = cache.result(run.id).data.labels_per_worker
    labelled = np.flatnonzero(labels)
    rows = plane.sample(labelled)
    oracles = space.oracle if space.bound is None else np.vstack([space.oracle, space.bound])
    points = blends(np.vstack([space.workers[rows], oracles]))
    positions = plane.positions(run.id, "spectral", kind, points)
    if positions is None:
        return
    _draw_scatter(run, space, centre, kind=kind, rows=rows, positions=positions)
    against = basis(run)
    notes = [
        f"Colour is accuracy against {AGAINST[against]}"
        + (", which the fit has not seen" if against == "gold" else "")
        + "; area is the number of labels; lines are density.",
        "Small stars are the other centres. The axes have no meaning but nearness.",
    ]
    if len(rows) < len(labelled):
        drawn = f"{count(len(rows))} of {count(len(labelled))} workers"
        notes.append(f"{drawn} drawn, chosen at random, always the same.")
    if n_unlabelled := len(labels) - len(labelled):
        notes.append(f"{count(n_unlabelled, 'worker')} without labels in this run left out.")
    st.caption(" ".join(notes) + " **Click a worker, or draw a loop around several.**")


def _controls(run: RunRow) -> Kind:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    linked = state.selection("plane")
    kind = row.segmented_control(
        "Placed by",
        list(KINDS),
        default=next((kind for kind in KINDS if kind == linked), KINDS[0]),
        format_func=plane.KINDS.__getitem__,
        key="spectral_kind",
        help="Isomap keeps distances along the crowd, as in the paper. UMAP keeps neighbours "
        "together and shows groups. PCA keeps large distances and is there at once.",
    )
    state.select("plane", None if kind in (None, KINDS[0]) else kind)
    if cache.result(run.id).score() is not None:
        against = row.segmented_control(
            "Accuracy against",
            list(AGAINST),
            default=basis(run),
            format_func=str.capitalize,
            key="spectral_against",
        )
        state.select("against", "truths" if against == "truths" else None)
    return kind or KINDS[0]


def _draw_scatter(
    run: RunRow,
    space: SpectralSpace,
    centre: str,
    *,
    kind: Kind,
    rows: NDArray[np.intp],
    positions: Floats,
) -> None:
    key = f"spectral_plane_{run.id}_{kind}_{state.kept('spectral_closed') or 0}"
    codes = _clicked_workers(run, key)
    if state.is_new(key, codes) and codes:
        choose(codes)
    workers, against = cache.workers(run.id), basis(run)
    share, _ = accuracy(workers, against)
    widgets.chart(
        spectral_scatter(
            positions[: len(rows)],
            workers["worker"].to_numpy(object)[rows],
            np.array(_texts(workers, against, _distances(space, centre), rows), dtype=object),
            shares=share[rows],
            against=against,
            labels=cache.result(run.id).data.labels_per_worker[rows],
            marks=_marks(space, centre, positions[len(rows) :]),
            density=density(positions[: len(rows)]),
            chosen=np.isin(rows, chosen(run)),
            theme=layout.theme(),
        ),
        key=key,
        alt="The workers where the method places them, with the oracle as a star",
        select="lasso",
    )


def _clicked_workers(run: RunRow, key: str) -> tuple[int, ...]:
    """Return the workers inside a chart's selection; the stars are none."""
    names = {str(point[0]) for point in widgets.clicked_points(key) if point}
    workers = cache.result(run.id).data.workers
    return tuple(code for code, name in enumerate(workers) if name in names)


def _distances(space: SpectralSpace, centre: str) -> Floats:
    return distance(space.workers, space.oracle[space.centres.index(centre)])


def _texts(
    workers: pd.DataFrame, against: Against, distances: Floats, rows: NDArray[np.intp]
) -> list[str]:
    share, n = accuracy(workers, against)
    names, labels, verdicts = (
        workers[name].to_numpy(object) for name in ("worker", "n_labels", "verdict")
    )
    return [
        f"<b>{plain(names[row], 40)}</b><br>{count(labels[row], 'label')}<br>"
        + (f"right {percent_of(share[row], n[row], 1)}<br>" if n[row] else "")
        + f"{percent(distances[row], 0)} away from the oracle<br>{plain(verdicts[row])}"
        for row in rows
    ]


def _marks(space: SpectralSpace, centre: str, positions: Floats) -> list[Mark]:
    marks = [
        Mark(
            name=f"oracle: {plain(centre_name(name), 40)}",
            position=position,
            symbol="star" if name == centre else "star-open",
            strong=name == centre,
        )
        for name, position in zip(space.centres, positions, strict=False)
    ]
    if space.bound is not None:
        marks.append(Mark(name=FITTED, position=positions[-1], symbol="diamond-open", strong=False))
    return marks
