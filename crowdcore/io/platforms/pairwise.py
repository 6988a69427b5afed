"""Pairwise comparisons, as crowd-kit has them: a winner for each pair, not a label an item."""

from __future__ import annotations

from crowdcore.io.platforms import Platform

PLATFORMS = (
    Platform(
        title="pairwise comparisons",
        headers=("left", "right", "label"),
        refusal="Comparisons of two items are not labels of one; name the roles to read them so.",
    ),
)
