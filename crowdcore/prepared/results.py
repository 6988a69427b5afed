"""The folder of results of a prepared run, read a few rows at a time, and followed while it runs.

| file | holds |
|---|---|
| truths/bucket=0000.parquet | the truths of a bucket |
| workers.parquet | the workers |
| result.json | everything that is not a table |
| _SUCCESS | is there when all else is |
| .state/progress.json | how far the run is |
| .state/stop | asks the run to stop |
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdcore.data import DataError

if TYPE_CHECKING:
    import pandas as pd

TRUTHS, WORKERS, RESULT, SUCCESS, STATE = (
    "truths",
    "workers.parquet",
    "result.json",
    "_SUCCESS",
    ".state",
)
PROGRESS, STOP = "progress.json", "stop"


class ResultsFolder:
    """Finished results of a run on a prepared folder.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    DataError
        If there are no finished results in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / SUCCESS).is_file():
            raise DataError(
                f"There are no finished results in {str(path)!r}",
                fix="Give the --out folder of a `crowdcore run` on a prepared folder.",
            )

    @cached_property
    def record(self) -> dict[str, Any]:
        """What `result.json` says."""
        record: dict[str, Any] = json.loads((self.path / RESULT).read_text(encoding="utf-8"))
        return record

    @cached_property
    def _pages(self) -> list[tuple[Path, int]]:
        """The row groups of all buckets, in their order: file and number."""
        import pyarrow.parquet as pq

        pages = []
        for path in sorted((self.path / TRUTHS).glob("bucket=*.parquet")):
            pages += [(path, group) for group in range(pq.read_metadata(path).num_row_groups)]
        return pages

    @property
    def n_pages(self) -> int:
        """How many pages of truths there are."""
        return len(self._pages)

    def truths(self, page: int, columns: list[str] | None = None) -> pd.DataFrame:
        """Read one page of truths, a row group of one bucket.

        Parameters
        ----------
        page
            From 0.
        columns
            Which columns; all unless given.

        Returns
        -------
        pandas.DataFrame
        """
        import pyarrow.parquet as pq

        path, group = self._pages[page]
        frame: pd.DataFrame = pq.ParquetFile(path).read_row_group(group, columns).to_pandas()
        return frame

    def workers(self, columns: list[str] | None = None) -> pd.DataFrame:
        """Read the workers, with those of some columns that there are, or all."""
        import pandas as pd
        import pyarrow.parquet as pq

        if columns is not None:
            names = pq.read_schema(self.path / WORKERS).names
            columns = [name for name in columns if name in names]
        return pd.read_parquet(self.path / WORKERS, columns=columns)


def write_progress(out: Path, stage: str, step: int, total: int) -> None:
    """Leave word of how far a run is."""
    path = out / STATE / PROGRESS
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps({"stage": stage, "step": step, "total": total}), "utf-8")
    partial.rename(path)


def read_progress(out: Path) -> dict[str, Any] | None:
    """Read how far a run is; None where none is under way."""
    try:
        progress: dict[str, Any] = json.loads((out / STATE / PROGRESS).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return progress


def ask_to_stop(out: Path) -> None:
    """Let a run stop at its next step; it can be gone on with later."""
    (out / STATE).mkdir(parents=True, exist_ok=True)
    (out / STATE / STOP).touch()
