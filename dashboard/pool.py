"""What a pool is made of: its methods, their weights, and how far they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import opening, reads
from dashboard.charts.pool import agreement_map

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def members_of(run: RunRow) -> dict[str, Any] | None:
    """What the run's result says of its members; None for a method that has none."""
    members: dict[str, Any] = reads.result(run.id).artefacts.get("members", {})
    return members if "votes" in members else None  # runs of earlier versions lack the weights


def draw(members: dict[str, Any]) -> None:
    """Show every member with its weight, and on how many items it agrees with the others."""
    st.plotly_chart(
        agreement_map(
            members["names"],
            members["titles"],
            members["weights"],
            members["agreement"],
            theme=opening.theme(),
        ),
        key="truths_members",
        config={"displayModeBar": False},
        alt="How far the members of the pool agree",
    )
    st.caption(
        "On what part of the items two methods find the same truth; behind a member's name its "
        f"weight in the pool. The votes themselves weigh {members['votes']}. Each member is a run "
        "of its own."
    )
