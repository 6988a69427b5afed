"""Workers chosen on the plane: how far from the oracle, what they confuse, and a run without."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.evidence import label_counts
from crowdcore.audit.spectral import blends, distance
from dashboard import opening, reads, spectral_space, state, worker_panel
from dashboard.charts.palette import verdict_words
from dashboard.charts.spectral import MOST_EXPERTS, expert_bars
from dashboard.charts.workers import confusion_heatmap
from dashboard.paging import chosen_row
from dashboard.text import count, escape_md, percents

if TYPE_CHECKING:
    from crowdcore.artefacts.spectral import SpectralSpace
    from crowdcore.workspace import RunRow

MOST_MATRICES = 3
WIDE_CLASSES = 6
"""Classes up to which so many matrices fit side by side; of more classes, one less."""

_NARROW = """<style>
.st-key-spectral_matrices [data-testid="stColumn"] { min-width: min(100%, 17rem); }
</style>"""

FULL_ROWS = 8


def draw(run: RunRow, space: SpectralSpace, centre: str, codes: tuple[int, ...]) -> None:
    """Show the workers with these codes, those farthest from the oracle first."""
    oracle = space.oracle[space.centres.index(centre)]
    apart = distance(space.workers, oracle)
    order = np.array(codes)[np.argsort(-apart[list(codes)], kind="stable")]
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"{count(len(codes), 'worker')} chosen", anchor=False)
        st.button(
            "Close", icon=":material/close:", key="spectral_close", type="tertiary", on_click=_close
        )
    _exclusion(run, codes)
    left, right = opening.side_by_side(3, 2)
    with left:
        place = _table(run, order, apart)
        focus = int(order[place])
        name = reads.result(run.id).data.workers[focus]
        if st.button(
            f"Open {escape_md(name, limit=40)} among the workers",
            icon=":material/arrow_forward:",
            key="spectral_open_worker",
        ):
            state.goto("workers", worker=name)
    with right:
        _bars(space, oracle, focus, name)
    _matrices(run, [focus, *(int(code) for code in order if code != focus)])


def _close() -> None:
    spectral_space.choose(())
    # A new key for the chart, which would otherwise still hold what was drawn around.
    state.keep("spectral_closed", (state.kept("spectral_closed") or 0) + 1)


def _exclusion(run: RunRow, codes: tuple[int, ...]) -> None:
    names = reads.result(run.id).data.workers
    everyone = len(codes) >= reads.active_workers(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        go = st.button(
            f"Exclude {count(len(codes), 'worker')} and run again",
            icon=":material/person_off:",
            key="spectral_exclude",
            disabled=everyone,
            help="Without them there would be no labels." if everyone else None,
        )
        st.caption(
            f"Queues {escape_md(run.title)} with the same settings and seed, without any label of "
            "theirs. This run and the data stay as they are. Being far from the oracle alone is no "
            "reason: look at what they confuse first."
        )
    if go:
        worker_panel.queue_without(run, [*run.excluded, *(names[code] for code in codes)])


def _table(run: RunRow, order: np.ndarray[Any, Any], apart: np.ndarray[Any, Any]) -> int:
    """Draw the chosen workers, and return the place of the one in focus."""
    against = spectral_space.basis(run)
    workers = reads.workers(run.id).iloc[order]
    share, n = spectral_space.accuracy(workers, against)
    cells = pd.DataFrame(
        {
            "worker": workers["worker"].to_numpy(),
            "labels": workers["n_labels"].to_numpy(),
            "accuracy": percents(share),
            "of": n,
            "verdict": [verdict_words(word) for word in workers["verdict"]],
            "apart": 100 * apart[order],
        }
    )
    key = f"spectral_workers_{run.id}_{zlib.crc32(order.tobytes()):08x}"
    picked = chosen_row(
        st.dataframe(
            cells,
            key=key,
            hide_index=True,
            height=320 if len(cells) > FULL_ROWS else "content",
            column_config=_columns(spectral_space.AGAINST[against]),
            on_select="rerun",
            selection_mode="single-row",
            placeholder="",
            alt="The chosen workers",
        )
    )
    words = "The farthest from the oracle first."
    st.caption(words + (" Select a row for its experts." if len(cells) > 1 else ""))
    return picked or 0


def _columns(against: str) -> dict[str, Any]:
    column = st.column_config
    return {
        "worker": column.TextColumn("Worker", pinned=True, width=85),
        "labels": column.NumberColumn("Labels", format="localized", width=60),
        "accuracy": column.ProgressColumn(
            "Accuracy",
            min_value=0,
            max_value=100,
            format="%.1f%%",
            width=105,
            help=f"Against {against}.",
        ),
        "of": column.NumberColumn("of", format="localized", width=50, help="Labels compared."),
        "verdict": column.TextColumn("Verdict", width=125),
        "apart": column.NumberColumn(
            "Distance",
            format="%.0f%%",
            width=75,
            help="From the oracle: what part of the worker's blend of experts is not in the "
            "oracle's. 0% is the same blend, 100% nothing shared. Measured in the space itself, "
            "not on the plane.",
        ),
    }


def _bars(space: SpectralSpace, oracle: np.ndarray[Any, Any], focus: int, name: str) -> None:
    st.markdown(f"**Experts of {escape_md(name, limit=40)}, beside the oracle's**")
    own, centre = blends(np.stack([space.workers[focus], oracle]))
    st.plotly_chart(
        expert_bars(own, centre, name, theme=opening.theme()),
        key=f"spectral_bars_{focus}",
        config={"displayModeBar": False},
        alt="The worker's share on each expert beside the oracle's",
    )
    if len(own) > MOST_EXPERTS:
        st.caption(f"The {MOST_EXPERTS} heaviest of {count(len(own))} experts.")


def _matrices(run: RunRow, codes: list[int]) -> None:
    result = reads.result(run.id)
    st.markdown("**What they say when the truth is …**")
    most = MOST_MATRICES if result.data.n_classes <= WIDE_CLASSES else MOST_MATRICES - 1
    st.html(_NARROW)
    with st.container(key="spectral_matrices"):
        columns = st.columns(most, gap="medium")
    for column, code in zip(columns, codes, strict=False):
        name = result.data.workers[code]
        figure = confusion_heatmap(
            reads.confusion(run.id)[code],
            label_counts(result, name),
            result.data.classes,
            show_counts=False,
            theme=opening.theme(),
        )
        figure.update_traces(showscale=False, selector={"type": "heatmap"})
        with column:
            st.markdown(escape_md(name, limit=40))
            st.plotly_chart(
                figure,
                key=f"spectral_matrix_{run.id}_{code}",
                config={"displayModeBar": False},
                alt="Confusion matrix: rows are truths, columns what the worker gave",
            )
    words = "Estimates of this run; rows add to 1."
    if len(codes) > most:
        words += f" {most} of {count(len(codes))} workers: the one in focus and the "
        words += "farthest from the oracle."
    st.caption(words)
