"""FeatureRows: features as a file has them, before they are matched to items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.reading.findings import Finding


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRows:
    """Features as a file has them.

    Parameters
    ----------
    file
        The file's name, for messages.
    values
        The features [rows, D], or pictures [rows, C, H, W].
    ids
        The item of each row; None where rows have no names.
    names
        The names of the features; empty where they have none.
    first_row
        The number of the first row in messages.
    findings
        What was found while they were read.
    """

    file: str
    values: NDArray[np.float32]
    ids: tuple[str, ...] | None
    names: tuple[str, ...] = ()
    first_row: int = 1
    findings: tuple[Finding, ...] = ()

    def checked(self) -> FeatureRows:
        """Return the same rows, if every number is finite.

        Returns
        -------
        FeatureRows

        Raises
        ------
        DataError
            If a number is not finite.
        """
        finite = np.isfinite(self.values).all(tuple(range(1, self.values.ndim)))
        if not finite.all():
            raise DataError(
                "A feature is not a finite number",
                file=self.file,
                row=int(np.flatnonzero(~finite)[0]) + self.first_row,
                fix="Fill in or remove missing values.",
            )
        return self
