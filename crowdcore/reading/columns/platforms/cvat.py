"""CVAT: its quality report, which holds no labels."""

from __future__ import annotations

from crowdcore.reading.columns.platforms import Platform

PLATFORMS = (
    Platform(
        title="CVAT (quality report)",
        headers=("DS (row) \\ GT (col) label",),
        seems="CVAT's quality report: how often each label was taken for which",
        refusal="Export the jobs of all annotators as 'CVAT for images 1.1', and give them in a "
        "zip.",
    ),
)
