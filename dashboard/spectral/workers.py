"""Workers chosen on the plane: how far from the oracle, what they confuse, and a run without."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.evidence import label_counts
from crowdcore.audit.spectral import blends, distance
from crowdcore.wording import count, percents
from dashboard import cache, layout, state, widgets
from dashboard.charts.palette import verdict_words
from dashboard.charts.spectral import MAX_EXPERTS, expert_bars
from dashboard.charts.workers import confusion_heatmap
from dashboard.decisions import about_workers
from dashboard.spectral import space as spectral_space
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.artefacts.spectral import SpectralSpace
    from crowdcore.workspace import RunRow

MAX_MATRICES = 3
WIDE_CLASSES = 6
"""Classes up to which so many matrices fit side by side; of more classes, one less."""

_NARROW = """<style>
.st-key-spectral_matrices [data-testid="stColumn"] { min-width: min(100%, 17rem); }
</style>"""

MAX_PIXELS = 320


def draw(run: RunRow, space: SpectralSpace, centre: str, codes: tuple[int, ...]) -> None:
    """Show the workers with these codes, those farthest from the oracle first."""
    oracle = space.oracle[space.centres.index(centre)]
    distances = distance(space.workers, oracle)
    order = np.array(codes)[np.argsort(-distances[list(codes)], kind="stable")]
    st.divider()
    widgets.panel_heading(
        f"{count(len(codes), 'worker')} chosen", key="spectral_close", on_close=_close
    )
    names = cache.result(run.id).data.workers
    about_workers.draw(
        run,
        [names[code] for code in codes],
        page="spectral",
        note="Being far from the oracle alone is no reason: look at what they confuse first.",
    )
    left_column, right_column = layout.side_by_side(3, 2)
    with left_column:
        name = _draw_table(run, order, distances)
        widgets.open_worker(name, key="spectral_open_worker")
    focus = cache.result(run.id).data.workers.index(name)
    with right_column:
        _draw_bars(space, oracle, focus, name)
    _draw_matrices(run, [focus, *(int(code) for code in order if code != focus)])


def _close() -> None:
    spectral_space.choose(())
    # A new key for the chart, which would otherwise still hold what was drawn around.
    state.keep("spectral_closed", (state.kept("spectral_closed") or 0) + 1)


def _draw_table(run: RunRow, order: np.ndarray[Any, Any], distances: np.ndarray[Any, Any]) -> str:
    """Draw the chosen workers, and return the name of the one in focus."""
    against = spectral_space.basis(run)
    workers = cache.workers(run.id).iloc[order]
    share, n = spectral_space.accuracy(workers, against)
    cells = pd.DataFrame(
        {
            "worker": workers["worker"].to_numpy(),
            "labels": workers["n_labels"].to_numpy(),
            "accuracy": percents(share),
            "of": n,
            "verdict": [verdict_words(verdict) for verdict in workers["verdict"]],
            "distance": 100 * distances[order],
        }
    )
    name = widgets.table(
        cells,
        key=f"spectral_workers_{run.id}_{zlib.crc32(order.tobytes()):08x}",
        alt="The chosen workers",
        columns=_columns(spectral_space.AGAINST[against]),
        select="worker",
        height=MAX_PIXELS,
    )
    hint = " Select a row for its experts." if len(cells) > 1 else ""
    st.caption(f"The farthest from the oracle first.{hint}")
    return name or str(cells["worker"].iloc[0])


def _columns(against: str) -> dict[str, Any]:
    column = st.column_config
    return {
        "worker": column.TextColumn("Worker", pinned=True, width=85),
        "labels": column.NumberColumn("Labels", format="localized", width=60),
        "accuracy": widgets.percent_bar("Accuracy", width=105, help=f"Against {against}."),
        "of": column.NumberColumn("of", format="localized", width=50, help="Labels compared."),
        "verdict": column.TextColumn("Verdict", width=125),
        "distance": column.NumberColumn(
            "Distance",
            format="%.0f%%",
            width=75,
            help="From the oracle: the share of the worker's blend of experts that is not in the "
            "oracle's. 0% is the same blend, 100% nothing shared. Measured in the space itself, "
            "not on the plane.",
        ),
    }


def _draw_bars(space: SpectralSpace, oracle: np.ndarray[Any, Any], focus: int, name: str) -> None:
    st.markdown(f"**Experts of {escape_md(name, limit=40)}, beside the oracle's**")
    worker_blend, oracle_blend = blends(np.stack([space.workers[focus], oracle]))
    widgets.chart(
        expert_bars(worker_blend, oracle_blend, name, theme=layout.theme()),
        key=f"spectral_bars_{focus}",
        alt="The worker's share on each expert beside the oracle's",
    )
    if len(worker_blend) > MAX_EXPERTS:
        st.caption(f"The {MAX_EXPERTS} heaviest of {count(len(worker_blend))} experts.")


def _draw_matrices(run: RunRow, codes: list[int]) -> None:
    result = cache.result(run.id)
    st.markdown("**What they say when the truth is …**")
    n_matrices = MAX_MATRICES if result.data.n_classes <= WIDE_CLASSES else MAX_MATRICES - 1
    st.html(_NARROW)
    with st.container(key="spectral_matrices"):
        columns = st.columns(n_matrices, gap="medium")
    for column, code in zip(columns, codes, strict=False):
        name = result.data.workers[code]
        figure = confusion_heatmap(
            cache.confusion(run.id)[code],
            label_counts(result, name),
            result.data.classes,
            show_counts=False,
            theme=layout.theme(),
        )
        figure.update_traces(showscale=False, selector={"type": "heatmap"})
        with column:
            st.markdown(escape_md(name, limit=40))
            widgets.chart(
                figure,
                key=f"spectral_matrix_{run.id}_{code}",
                alt="Confusion matrix: rows are truths, columns what the worker gave",
            )
    note = "Estimates of this run; rows add to 1."
    if len(codes) > n_matrices:
        note += (
            f" {n_matrices} of {count(len(codes))} workers: the one in focus and the farthest "
            "from the oracle."
        )
    st.caption(note)
