"""AdverseWorkers: whom a completing method did not learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class AdverseWorkers(Artefact):
    """Workers whose labels are unrelated or opposed to what others say of the same items."""

    name: ClassVar[str] = "completion:workers"
    adverse: Array  # [W] bool
