"""What a pool is made of: its methods, their weights, and how far they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import reads
from dashboard.text import count, percents

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def members_of(run: RunRow) -> dict[str, Any] | None:
    """What the run's result says of its members; None for a method that has none."""
    members: dict[str, Any] | None = reads.result(run.id).artefacts.get("members")
    return members


def draw(members: dict[str, Any]) -> None:
    """Show every member with its weight, and on how many items it agrees with the others."""
    import pandas as pd

    names, agreement = members["names"], percents(members["agreement"])
    cells = {"title": members["titles"], "weight": members["weights"], "pool": agreement[:, 0]}
    cells |= {name: agreement[:, place + 1] for place, name in enumerate(names)}
    column = st.column_config
    st.dataframe(
        pd.DataFrame(cells),
        key="truths_members",
        hide_index=True,
        column_config={
            "title": column.TextColumn("Method", width=150),
            "weight": column.NumberColumn("Weight", width=65),
            **{
                name: column.NumberColumn(name, format="%.1f%%", width=70)
                for name in ("pool", *names)
            },
        },
        alt="Members of the pool with their weights and how far they agree",
    )
    st.caption(
        "On what part of the items two methods find the same truth. The votes themselves are one "
        f"more voice, of weight {count(members['votes'])}. Each member is a run of its own."
    )
