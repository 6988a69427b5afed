"""Who agrees with whom: every two of some workers, with how much they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.wording import count
from dashboard import layout, widgets
from dashboard.charts.agreement import pair_map

if TYPE_CHECKING:
    from crowdcore.audit.agreements.worker_pairs import WorkerPairs

MAX_SHOWN = 24
"""Workers of a matrix whose names can be read."""

MAX_PIXELS = 420


def choose(workers: Sequence[str], suggested: Sequence[str], *, key: str) -> tuple[str, ...]:
    """Let the reader choose whom to compare.

    Parameters
    ----------
    workers
        All workers.
    suggested
        Who is compared at first, of whom the first `MAX_SHOWN` are taken.
    key
        The widget's key.

    Returns
    -------
    The names, as they were chosen.
    """
    chosen = st.multiselect(
        "Workers",
        list(workers),
        default=list(suggested[:MAX_SHOWN]),
        key=key,
        max_selections=MAX_SHOWN,
    )
    return tuple(chosen)


def draw(pairs: WorkerPairs, *, key: str, can_open: bool) -> None:
    """Draw the matrix, and list its pairs.

    Parameters
    ----------
    pairs
        The workers against each other.
    key
        The beginning of the widgets' keys.
    can_open
        Whether a pair leads to its first worker on the Workers page.
    """
    table = pairs.table()
    if table.empty:
        st.info("No two of these workers labelled the same item.", icon=":material/info:")
        return
    st.caption(f"{pairs.measure} The second number is how many they share.")
    left, right = layout.side_by_side(4, 3)
    with left:
        widgets.chart(
            pair_map(pairs, theme=layout.theme()),
            key=f"{key}_map",
            alt="How far every two workers agree",
        )
    with right:
        column = st.column_config
        value = column.NumberColumn("Agree", format="%.2f", help=pairs.measure, width=70)
        worker = widgets.table(
            table,
            key=f"{key}_table",
            alt="Pairs of workers, those who share most first",
            select="first" if can_open else None,
            height=MAX_PIXELS,
            columns={
                "first": column.TextColumn("Worker", width=90),
                "second": column.TextColumn("and", width=90),
                "n_shared": column.NumberColumn("Shared", format="localized", width=75),
                "agreement": value,
                "agreement_low": column.NumberColumn(
                    "from", format="%.2f", help="95% interval", width=60
                ),
                "agreement_high": column.NumberColumn(
                    "to", format="%.2f", help="95% interval", width=60
                ),
            },
        )
        with st.container(horizontal=True):
            widgets.download_csv(table, "agreement-pairs.csv", key=f"{key}_csv")
            if can_open:
                widgets.open_worker(worker, key=f"{key}_open")
        st.caption(f"{count(len(table), 'pair')} with something shared.")
