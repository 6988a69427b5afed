"""Columns that hold the rank of one thing each: rank_A, rank_B, rank_C of one order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from crowdcore.reading.candidates.kinds import numbers_of
from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.parsing.derived import with_column
from crowdcore.reading.parsing.table import Table

_CUT = re.compile(r"^(?P<stem>.*?)[ _.:-]?(?P<thing>[^ _.:-]+)$")
_MIN_THINGS = 3
_MOST = 0.9

Ranks = tuple[str, dict[str, str]]
"""The name of an order, and for each column the thing whose rank it holds."""


def find_ranks(measures: Measures, columns: Sequence[str]) -> list[Ranks]:
    """Find columns of which each row is an order: every rank from 1 on once.

    Parameters
    ----------
    measures
        The table.
    columns
        The columns that may hold ranks.

    Returns
    -------
    list of tuple
        Columns with the same beginning.
    """
    stems: dict[str, dict[str, str]] = defaultdict(dict)
    for column in columns:
        numbers = numbers_of(measures.facts(column).values)
        is_rank = numbers is not None and min(numbers) == 1 and max(numbers) < len(columns) + 1
        if is_rank and (match := _CUT.match(column)):
            stems[match["stem"]][column] = match["thing"]
    return [
        (f"{stem or 'rank'} order", members)
        for stem, members in stems.items()
        if len(members) >= _MIN_THINGS and _are_orders(measures, list(members))
    ]


def _are_orders(measures: Measures, columns: Sequence[str]) -> bool:
    ranks = np.stack([_numbers(measures.profile.table, column) for column in columns], 1)
    ranks = ranks[~np.isnan(ranks).any(1)]
    if len(ranks) < _MIN_THINGS or len(ranks) < measures.profile.n_rows / 2:
        return False
    in_order = np.arange(1, len(columns) + 1)
    return bool((np.sort(ranks, 1) == in_order).all(1).mean() >= _MOST)


def _numbers(table: Table, column: str) -> np.ndarray:
    coded = table.coded(column)
    values = [float(n) if n.strip().isdecimal() else np.nan for n in coded.names]
    return np.array(values)[coded.codes]


def gather_ranks(table: Table, name: str, members: dict[str, str]) -> Table:
    """Make one column of orders: B > A > C.

    Parameters
    ----------
    table
        The table.
    name
        The name of the new column.
    members
        For each column of ranks the thing that it ranks.

    Returns
    -------
    Table
    """
    ranks = np.stack([_numbers(table, column) for column in members], 1)
    things = np.array(list(members.values()), object)
    known = ~np.isnan(ranks).any(1)
    texts = [
        " > ".join(things[order]) if is_known else ""
        for order, is_known in zip(np.argsort(ranks, 1), known.tolist(), strict=True)
    ]
    return with_column(table, name, texts)
