"""FindingKind: what a check of the health report looks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Area = Literal["file", "labels", "spans", "gold", "features"]


@dataclass(frozen=True, kw_only=True)
class FindingKind:
    """What a check looks for.

    Parameters
    ----------
    id
        The stable name: in reports, in ``--fix ID``, in the guide.
    area
        The part of the input that it is about.
    title
        What was counted, as a noun phrase; stands before the number.
    meaning
        Why it matters and what the reader does about it by itself.
    fix
        What can be done, as the report says it; empty where nothing needs to be done.
    """

    id: str
    area: Area
    title: str
    meaning: str
    fix: str = ""
