"""Rows: features as a file has them, before they are matched to items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.io.health import Finding


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Features [rows, D] or [rows, C, H, W]; `ids` is None where rows have no names."""

    file: str
    values: NDArray[np.float32]
    ids: tuple[str, ...] | None
    names: tuple[str, ...] = ()
    first: int = 1  # the number of the first row in messages
    findings: tuple[Finding, ...] = ()

    def checked(self) -> Rows:
        """The same rows, if every number is finite."""
        finite = np.isfinite(self.values).all(tuple(range(1, self.values.ndim)))
        if not finite.all():
            raise DataError(
                "A feature is not a finite number",
                file=self.file,
                row=int(np.flatnonzero(~finite)[0]) + self.first,
                fix="Fill in or remove missing values.",
            )
        return self
