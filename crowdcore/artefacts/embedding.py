"""Embedding: a point in a learnt space for every worker and every item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class Embedding(Artefact):
    """States of workers and items in the last layer before the answer."""

    name: ClassVar[str] = "embedding"
    workers: Array  # [W, d]
    items: Array  # [N, d]
