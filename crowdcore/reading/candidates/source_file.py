"""SourceFile: a parsed file with everything that the rules for its readings look at."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.candidates.ticks import find_ticks
from crowdcore.reading.columns.names import worker_strength
from crowdcore.reading.columns.platforms import Hints, Platform
from crowdcore.reading.columns.profile import TableProfile
from crowdcore.reading.columns.roles import inferred_columns
from crowdcore.reading.parsing.derived import gather_ticks
from crowdcore.reading.parsing.table import Table


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceFile:
    """A parsed file with everything that the rules look at.

    Parameters
    ----------
    table
        The table, with answers taken out of their cells and ticks gathered, and without what an
        earlier run inferred.
    measures
        Measures of its columns.
    platform, hints
        The platform that it comes from, and what that says about the columns.
    """

    table: Table
    measures: Measures
    platform: Platform | None
    hints: Hints


def look_at(table: Table, platform: Platform | None) -> SourceFile:
    """Prepare a table for the rules.

    Parameters
    ----------
    table
        The table as it was parsed.
    platform
        The platform that it comes from.

    Returns
    -------
    SourceFile
    """
    columns = table.columns
    if platform is not None and platform.derive is not None:
        table = platform.derive(table)
    if inferred := inferred_columns(table.columns):
        table = replace(table, data=table.data.drop_columns(list(inferred)), _coded={})
    hints = platform.hints(table.columns) if platform and platform.hints else Hints()
    measures = Measures(profile=TableProfile.from_table(table))
    worker = hints.worker or any(worker_strength(column) > 1 for column in table.columns)
    ticks = find_ticks(measures, hints.answers or table.columns) if worker else []
    for group in ticks:
        table = gather_ticks(table, group.name, group.members)
    if ticks:
        members = {column for group in ticks for column in group.members}
        names = [group.name for group in ticks]
        others = [c for c in table.columns if c not in members and c not in names]
        at = min(table.columns.index(column) for column in members)
        before = [column for column in others if table.columns.index(column) < at]
        order = [*before, *names, *(column for column in others if column not in before)]
        table = replace(table, data=table.data.select(order), _coded={})
        measures = Measures(profile=TableProfile.from_table(table))
        if hints.answers:
            kept = [column for column in hints.answers if column not in members]
            hints = replace(hints, answers=(*names, *kept))
    if table.columns != columns:
        table = replace(table, source_columns=table.source_columns or columns)
    return SourceFile(table=table, measures=measures, platform=platform, hints=hints)
