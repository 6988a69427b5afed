"""Labelbox: the older export as a table, whose answers are JSON in a cell."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from crowdcore.reading.columns.platforms import Hints, Platform
from crowdcore.reading.parsing.nested.labelbox import OLDER, older_row
from crowdcore.reading.parsing.table import Table


def _derive(table: Table) -> Table:
    rows = [older_row(record) for record in table.preview(table.n_rows)]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {
        name: pa.array(["" if row.get(name) is None else _text(row[name]) for row in rows])
        for name in names
    }
    source = table.source_columns or table.columns
    return replace(table, data=pa.table(columns), source_columns=source, _coded={})


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)


PLATFORMS = (
    Platform(
        title="Labelbox (older export)",
        headers=OLDER,
        hints=lambda columns: Hints(
            worker="created_by",
            items=(("data_row",),),
            time="created_at",
            duration="seconds_to_create",
        ),
        derive=_derive,
    ),
)
