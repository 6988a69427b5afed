"""Settings that methods for comparisons share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import Field

from crowdcore.config import Config


class RankingConfig(Config):
    """Settings of every method for comparisons."""

    excuses: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"fake_cuda": "Its sparse systems of equations are solved on the host, by scipy."}
    )

    tol: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="Stop once scores move by less than this share of their standard errors.",
    )
