"""SourceFile: a parsed file with everything that the rules for its readings look at."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.candidates.rank_columns import find_ranks, gather_ranks
from crowdcore.reading.candidates.ticks import TickGroup, find_loose_ticks, find_ticks
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
    loose_ticks
        Columns of ticks that may be one question, or a question each.
    """

    table: Table
    measures: Measures
    platform: Platform | None
    hints: Hints
    loose_ticks: TickGroup | None = None


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
    asked = hints.answers or table.columns
    ticks = find_ticks(measures, asked) if worker else []
    ticked = {column for group in ticks for column in group.members}
    free = [c for c in asked if c not in ticked and c not in (hints.worker, *hints.gold.values())]
    loose = find_loose_ticks(measures, free) if worker else None
    ranked = find_ranks(measures, free) if worker else []
    for group in [*ticks, *([loose] if loose else [])]:
        table = gather_ticks(table, group.name, group.members)
    for name, columns_of_ranks in ranked:
        table = gather_ranks(table, name, columns_of_ranks)
    replaced = ticked | {column for _, members in ranked for column in members}
    names = [*(group.name for group in ticks), *(name for name, _ in ranked)]
    if loose is not None and loose.first:
        names.append(loose.name)
    if names or loose is not None:
        table = _with_gathered(table, names, replaced, loose)
        measures = Measures(profile=TableProfile.from_table(table))
        if hints.answers:
            kept = [column for column in hints.answers if column not in replaced]
            also = [loose.name] if loose is not None and loose.name not in names else []
            hints = replace(hints, answers=(*names, *kept, *also))
    if table.columns != columns:
        table = replace(table, source_columns=table.source_columns or columns)
    return SourceFile(
        table=table, measures=measures, platform=platform, hints=hints, loose_ticks=loose
    )


def _with_gathered(
    table: Table, names: Sequence[str], replaced: Collection[str], loose: TickGroup | None
) -> Table:
    """Put gathered columns where the first of their members stood, in place of these."""
    members = {*replaced, *(loose.members if loose is not None and loose.first else ())}
    others = [c for c in table.columns if c not in replaced and c not in names]
    at = min((table.columns.index(column) for column in members), default=len(others))
    before = [column for column in others if table.columns.index(column) < at]
    order = [*before, *names, *(column for column in others if column not in before)]
    return replace(table, data=table.data.select(order), _coded={})
