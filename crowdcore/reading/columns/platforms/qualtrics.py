"""Qualtrics: survey responses, of which previews, tests and spam are marked."""

from __future__ import annotations

from crowdcore.reading.columns.platforms import Hints, Platform

PLATFORMS = (
    Platform(
        title="Qualtrics",
        headers=("ResponseId", "RecordedDate", "Finished", "Status"),
        hints=lambda columns: Hints(),
        rejected={
            "Status": ("Survey Preview", "Survey Test", "Spam", "Possible Spam", "Imported"),
            "DistributionChannel": ("preview", "test"),
        },
    ),
)
