"""LabelEmbeddings: where a completing method places the items that a worker labelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelEmbeddings(Artefact):
    """A point per label, of its item in the space of its worker's network."""

    name: ClassVar[str] = "completion:embeddings"
    with_transfer: Array = field(metadata={"key": "with"})  # [L, d]
    without_transfer: Array | None = field(default=None, metadata={"key": "without"})  # [L, d]
