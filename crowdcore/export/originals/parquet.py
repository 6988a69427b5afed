"""Parquet: columns are put behind those of the file, with the types and marks of the others."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crowdcore.export.originals import AddedColumns, misfit
from crowdcore.reading.parsing.original import Original


def write(original: Original, added: AddedColumns, path: Path) -> None:
    """Write the file with further columns.

    Parameters
    ----------
    original
        The file.
    added
        What is put behind its columns.
    path
        Where to write.

    Raises
    ------
    DataError
        If the file does not hold as many rows as were read from it.
    """
    table = pq.read_table(pa.BufferReader(original.content().buffer))
    if table.num_rows != len(added):
        raise misfit(original.name, table.num_rows, len(added))
    for at, name in enumerate(added.names):
        table = table.append_column(name, pa.array(added.column(at)))
    pq.write_table(table, path, compression="zstd")
