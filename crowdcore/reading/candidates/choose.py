"""Take one reading of a file: the clear winner, or the one that somebody named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.candidates.propose import propose_readings
from crowdcore.reading.candidates.reading import Candidate, Readings
from crowdcore.reading.columns.guess import complete_roles, guess_of, refusal_of
from crowdcore.reading.columns.roles import Guess
from crowdcore.reading.parsing.table import Table

_ROWS_SHOWN = 5


def choose_reading(
    table: Table,
    *,
    command: str,
    roles: Mapping[str, Any] | None = None,
    reading: int | None = None,
    question: str | None = None,
) -> tuple[Table, Guess]:
    """Take one reading of a file, and nothing in doubt.

    Parameters
    ----------
    table
        The file, parsed.
    command
        The command line that reads the file, to which the choice is added that settles a close
        call.
    roles
        Roles by name that go over those of the reading.
    reading
        The number of the reading, where somebody chose one.
    question
        The question, where somebody chose one.

    Returns
    -------
    table : Table
        The table of the reading.
    guess : Guess
        Its roles.

    Raises
    ------
    DataError
        If there is nothing to audit in the file, or two readings are about as good; the message
        then has the commands that settle it.
    """
    readings = propose_readings(table)
    chosen = readings.best if reading is None else readings.choose(reading)
    if question is not None and chosen is not None:
        chosen = chosen.ask(question)
    if roles:
        return complete_roles(readings, chosen, roles)
    if readings.refusal is not None or chosen is None:
        raise refusal_of(readings)
    if reading is None and not readings.settled:
        raise DataError(_close_call(readings, command))
    named = reading is not None or question is not None
    return chosen.table, chosen.guess if named else guess_of(readings)


def _close_call(readings: Readings, command: str) -> str:
    """Show the two best readings with a few rows each, and the commands that settle it."""
    lines = [f"{readings.table.name} can be read in two ways that are about as good"]
    commands = []
    for number, candidate in enumerate(readings.candidates[:2], 1):
        lines += ["", f"{number}: {candidate.title}; {candidate.counts.describe()}"]
        lines += _rows(candidate)
        commands.append(f"  {command} --reading {number}")
    lines += ["", "Say which one is meant:", *commands]
    return "\n".join(lines)


def _rows(candidate: Candidate) -> list[str]:
    rows = candidate.preview(_ROWS_SHOWN)
    return [
        "   item {item}, worker {worker}, label {label}".format(
            **{role: _short(text) for role, text in row.items()}
        )
        for row in rows
    ]


def _short(text: str, limit: int = 40) -> str:
    plain = " ".join(text.split())
    return repr(plain if len(plain) <= limit else f"{plain[: limit - 1]}…")
