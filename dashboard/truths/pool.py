"""What a pool is made of: its methods, their weights, and how far they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.artefacts.pool_members import PoolMembers
from dashboard import cache, layout, widgets
from dashboard.charts.pool import agreement_map

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def members_of(run: RunRow) -> PoolMembers | None:
    """What the run's result says of its members; None for a method that has none."""
    members = cache.result(run.id).artefact(PoolMembers)
    # Runs of earlier versions lack the weights.
    return None if members is None or members.weights is None else members


def draw(members: PoolMembers) -> None:
    """Show every member with its weight, and on how many items it agrees with the others."""
    assert members.weights is not None  # or there would be nothing to show
    widgets.chart(
        agreement_map(
            members.names,
            members.titles,
            members.weights,
            members.agreement,
            theme=layout.theme(),
        ),
        key="truths_members",
        alt="How far the members of the pool agree",
    )
    st.caption(
        "The share of items on which two methods find the same truth; behind a member's name its "
        f"weight in the pool. The votes themselves weigh {members.votes}. Each member is a run "
        "of its own."
    )
