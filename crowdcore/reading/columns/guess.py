"""Settle the roles of a table's columns: by its best reading, or as somebody chose them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.candidates.propose import propose_readings
from crowdcore.reading.candidates.reading import Candidate, Readings
from crowdcore.reading.columns.names import item_strength, label_strength, worker_strength
from crowdcore.reading.columns.roles import (
    Guess,
    Roles,
    check_roles,
    override,
    unused_columns,
)
from crowdcore.reading.parsing.derived import find_columns, join_columns, rows_where
from crowdcore.reading.parsing.table import Table

_MEANINGS = {"item": "what was labelled", "worker": "who labelled", "label": "the label"}


def guess_roles(table: Table) -> Guess:
    r"""Guess what the columns of a table are.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    Guess
        That of the best reading; without one, what the names of the columns say. A role that no
        column fits stays None, with a sentence.

    Examples
    --------
    >>> from crowdcore.reading import open_table
    >>> guess = guess_roles(open_table(b"task,annotator,answer\nt1,ann,cat\nt1,bo,dog\n"))
    >>> guess.roles.worker
    'annotator'
    """
    return guess_of(propose_readings(table))


def guess_of(readings: Readings) -> Guess:
    """Return the guess of the best reading; without one, what the names of the columns say."""
    best = readings.best
    if best is None:
        return _by_names(readings)
    doubts = best.doubt
    if not readings.settled and readings.runner_up is not None:
        doubts = f"Another reading is nearly as good: {readings.runner_up.title}."
    guess = best.guess
    if not doubts:
        return guess
    return replace(guess, reasons={**guess.reasons, "doubt": doubts}, certain=False)


def _by_names(readings: Readings) -> Guess:
    """Give roles to the columns whose names say them, for somebody to complete."""
    table = readings.table
    strengths = {"worker": worker_strength, "label": label_strength, "item": item_strength}
    chosen: dict[str, str] = {}
    reasons = {"file": table.description, "layout": "Each row is one label."}
    for role, strength in strengths.items():
        free = [column for column in table.columns if column not in chosen.values()]
        best = max(free, key=strength, default=None)
        if best is not None and strength(best) > 1:
            chosen[role] = best
            reasons[role] = f"{best!r} is a usual name for {role}s."
        else:
            reasons[role] = f"No column seems to say {_MEANINGS[role]}."
    if readings.refusal is not None:
        reasons["doubt"] = f"This seems to be {readings.refusal.seems}. {readings.refusal.advice}"
    roles = Roles(**chosen)  # type: ignore[arg-type]  # the layout is not among them
    reasons |= unused_columns(roles, table.columns)
    return Guess(roles=roles, reasons=reasons, certain=False)


def settle_roles(
    table: Table, chosen: Roles | Guess | Mapping[str, Any] | None
) -> tuple[Table, Guess]:
    """Decide the roles of a table's columns; nothing is guessed that was given.

    Parameters
    ----------
    table
        The table.
    chosen
        All roles, an earlier guess of them, some of them by name, or nothing.

    Returns
    -------
    table : Table
        The table of the reading, which may be derived from the one that was given.
    guess : Guess

    Raises
    ------
    DataError
        If there is nothing to audit in the table, or a role names a column that is not there.
    """
    if isinstance(chosen, Guess):
        table = _laid_out(table, chosen.roles)
        check_roles(chosen.roles, table.columns, file=table.name)
        return table, chosen
    if isinstance(chosen, Roles):
        table = _laid_out(table, chosen)
        nothing = Guess(roles=Roles(), reasons={"file": table.description}, certain=True)
        return table, override(nothing, chosen, table.columns, file=table.name)
    readings = propose_readings(table)
    if chosen is None:
        unread = readings.refusal is not None and not readings.refusal.readable
        if readings.best is None or unread:
            raise refusal_of(readings)
        return readings.best.table, guess_of(readings)
    return complete_roles(readings, readings.best, chosen)


def complete_roles(
    readings: Readings, base: Candidate | None, chosen: Mapping[str, Any]
) -> tuple[Table, Guess]:
    """Put chosen roles over those of a reading.

    Parameters
    ----------
    readings
        The readings of a file.
    base
        The reading whose other roles are kept; None where there is none.
    chosen
        Roles by name.

    Returns
    -------
    table : Table
    guess : Guess

    Raises
    ------
    DataError
        If a role names a column that is not there.
    """
    table, guess = readings.table, guess_of(readings)
    if base is not None:
        table, guess = base.table, base.guess
    item = chosen.get("item")
    named = [name for name in chosen.values() if isinstance(name, str)]
    if not all(find_columns(table, name) for name in named if name not in ("long", "wide")):
        table = readings.table  # somebody means the file as it stands, not as it was laid out
        guess = Guess(roles=Roles(), reasons={"file": table.description}, certain=True)
    if isinstance(item, str) and (columns := find_columns(table, item)) and len(columns) > 1:
        table, name = join_columns(table, columns)
        chosen = {**chosen, "item": name}
    return table, override(guess, chosen, table.columns, file=table.name)


def _laid_out(table: Table, roles: Roles) -> Table:
    """Lay a table out as roles need it: joined, derived as a reading does, rows chosen."""
    if not _has_columns(table, roles):
        readings = propose_readings(table)
        table = next(
            (c.laid_out for c in readings.candidates if _has_columns(c.laid_out, roles)), table
        )
    table = _with_joined(table, roles.item)
    if roles.rows and not table.is_chosen:
        table = rows_where(table, *roles.rows)
    return table


def _has_columns(table: Table, roles: Roles) -> bool:
    return all(find_columns(table, name) is not None for name in roles.used)


def _with_joined(table: Table, item: str | None) -> Table:
    """Add the column that joins several, where an item is named so."""
    columns = find_columns(table, item) if item is not None else None
    return table if columns is None else join_columns(table, columns)[0]


def refusal_of(readings: Readings) -> DataError:
    """Make the error that says why a file is not read."""
    if readings.refusal is not None:
        return readings.refusal.error(readings.table.name)
    return DataError("No reading of the file finds labels", file=readings.table.name)
