"""Argilla: records once they are laid out flat, a row per response."""

from __future__ import annotations

from crowdcore.reading.columns.platforms import Hints, Platform
from crowdcore.reading.parsing.nested.argilla import STATUS, USER

PLATFORMS = (
    Platform(
        title="Argilla",
        headers=(USER, STATUS),
        hints=lambda columns: Hints(worker=USER),
        rejected={STATUS: ("draft", "discarded", "pending")},
    ),
)
