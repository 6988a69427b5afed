"""Parquet files."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq

from crowdcore.data import DataError
from crowdcore.reading.parsing.formats import Format, ParseOptions
from crowdcore.reading.parsing.source import Content
from crowdcore.reading.parsing.table import Table

_MAGIC = b"PAR1"


def _matches(content: Content) -> float:
    return float(content.head.startswith(_MAGIC))


def _read(content: Content, options: ParseOptions) -> Table:
    del options  # a Parquet file names its columns itself
    try:
        data = pq.read_table(pa.BufferReader(content.buffer))
        data.validate(full=True)  # text that is not UTF-8 would only fail much later
        names = Counter(data.column_names)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"The Parquet file is damaged: {str(error).splitlines()[0]}",
            file=content.name,
            fix="Write the file again.",
        ) from None
    if repeated := [name for name, times in names.items() if times > 1]:
        raise DataError("Two columns have the same name", file=content.name, column=repeated[0])
    return Table(name=content.name, data=data, description="Read as Parquet.")


FORMAT = Format(title="Parquet", matches=_matches, read=_read)
