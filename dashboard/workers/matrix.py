"""Who agrees with whom on the Workers page, whatever method the run used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import cache
from dashboard.agreement import pairs

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow, shown: pd.DataFrame, ticked: Sequence[str]) -> None:
    """Draw, when asked to, the agreement of the ticked workers, else of those in the table.

    Parameters
    ----------
    run
        The run that is open.
    shown
        The workers in the table, in its order.
    ticked
        Who is ticked.
    """
    panel = st.expander(
        "Who agrees with whom",
        icon=":material/grid_on:",
        key=f"workers_matrix_{run.id}",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        busy = shown.sort_values("n_labels", ascending=False, kind="stable")["worker"]
        others = [name for name in busy if name not in set(ticked)]
        names = (*ticked, *others)[: pairs.MAX_SHOWN]
        if len(names) < 2:  # noqa: PLR2004  (a pair)
            st.caption("Two workers are needed to compare.")
            return
        st.caption(
            f"{len(names):,} workers: those who are ticked, then those of the table with the most "
            "labels. Agreement alone proves nothing: two good workers agree because both are right."
        )
        pairs.draw(cache.worker_pairs(run.id, tuple(names)), key="workers_pairs", can_open=True)
