"""Prolific: the demographic export, which holds no labels."""

from __future__ import annotations

from crowdcore.reading.columns.platforms import Platform

PLATFORMS = (
    Platform(
        title="Prolific (demographics)",
        headers=("Submission id", "Participant id"),
        seems="Prolific's list of participants",
        refusal="It says who took part, not what they answered: give the file of their answers.",
    ),
)
