"""Readings with a column per worker, or, turned round, a column per item."""

from __future__ import annotations

from dataclasses import replace

from crowdcore.reading.candidates.comparisons import find_pair
from crowdcore.reading.candidates.details import about_items, name_gold
from crowdcore.reading.candidates.kinds import kind_of
from crowdcore.reading.candidates.long_tables import is_member, may_be_worker
from crowdcore.reading.candidates.measures import Measures, joined_name
from crowdcore.reading.candidates.reading import Candidate, Question, Rule
from crowdcore.reading.candidates.refusals import vote_counts
from crowdcore.reading.candidates.source_file import SourceFile
from crowdcore.reading.candidates.wide_cells import missing_marks, row_key
from crowdcore.reading.candidates.wide_tables import Group, find_groups
from crowdcore.reading.columns.names import item_strength, worker_strength
from crowdcore.reading.columns.profile import TableProfile
from crowdcore.reading.columns.roles import Roles, unused_columns
from crowdcore.reading.parsing.derived import stack_columns, with_column
from crowdcore.wording import join_names

_WIDE_BASE = 25.0
_MIN_ROW_AGREEMENT = 0.05
_MIN_ROWS = 20
_SOME_DECIMALS = 0.2
_STACKED_CELLS = 200_000
_ROW = "row"


def wide_readings(file: SourceFile) -> list[Candidate]:
    """Make the readings with a column per worker, or per item.

    Parameters
    ----------
    file
        The file.

    Returns
    -------
    list of Candidate
    """
    if file.hints.worker is not None:
        return []
    measures = file.measures
    unique = [
        column
        for column in file.table.columns
        if worker_strength(column) > 1
        and measures.facts(column).is_unique
        and measures.facts(column).n_filled > 1
        and not is_member(measures, column)
    ]
    if any(worker_strength(c) > 1 and may_be_worker(measures, c) for c in file.table.columns):
        return []
    row_worker = unique[0] if unique else None
    groups = [g for g in find_groups(measures, row_worker) if _is_crowd(measures, g, row_worker)]
    candidates = []
    if groups:
        main = groups[0]
        same = [g for g in groups if g.named == main.named and g.question and main.question]
        candidates.append(_wide_candidate(file, main, tuple(same) or (main,), row_worker))
        rest = [g for g in groups[1:] if g not in same]
        candidates += [_wide_candidate(file, g, (g,), row_worker) for g in rest[:1]]
    return candidates


def _is_crowd(measures: Measures, group: Group, row_worker: str | None) -> bool:
    if vote_counts(measures, group.columns):
        return False
    if group.named or row_worker is not None:
        return True
    if group.across == "items":
        return len(group.columns) > 2  # noqa: PLR2004
    whole = len(group.columns) >= len(measures.profile.columns) - 1
    headed = measures.profile.table.header and any(
        measures.facts(column).decimals > _SOME_DECIMALS for column in group.columns
    )  # measurements, unless they agree
    if whole and not headed and len(group.columns) > 2:  # noqa: PLR2004
        return True
    agreement = next((r.points for r in group.rules if "beyond chance" in r.sentence), 0.0) / 15
    return agreement >= _MIN_ROW_AGREEMENT or measures.profile.n_rows < _MIN_ROWS


def _wide_candidate(
    file: SourceFile, group: Group, groups: tuple[Group, ...], row_worker: str | None
) -> Candidate:
    measures = file.measures
    turned = row_worker is not None or group.across == "items"
    base = Rule(points=_WIDE_BASE, sentence="No column names a worker in each row.")
    rules = [base, *group.rules]
    key, reason = row_key(measures, group.columns)
    if row_worker is not None:
        key, reason = (row_worker,), f"{row_worker!r} names a worker in each row."
    if key is not None and not turned:
        rules.append(Rule(points=5.0 + item_strength(key[0]), sentence=reason))
    kind, note = _stacked_kind(measures, group)
    pair = find_pair(measures, group.columns[0]) if key and not turned else None
    if pair is not None:
        kind, note = "comparisons", pair.reason
    gold = name_gold(measures, key or ())
    taken = {*group.columns, *(key or ()), gold}
    details = tuple(
        c for c in file.table.columns if c not in taken and measures.facts(c).n_distinct
    )
    others = {column for other in groups for column in other.columns}
    details = () if turned else tuple(c for c in details if c not in others)
    numbered = key is None
    name = _ROW if numbered and turned else None if numbered else joined_name(key or ())
    roles = Roles(
        layout="wide",
        item=None if turned else name,
        worker=name if turned else None,
        gold=gold,
        worker_columns=group.columns,
        details=about_items(measures, (), Roles(details=details), file.hints, ()),
    )
    why = next((rule.sentence for rule in group.rules if rule.points >= 0), "")
    reasons = {
        "layout": "Each row is a worker and each of these columns an item."
        if turned
        else "Each row is an item and each of these columns a worker.",
        "worker_columns": why,
        ("worker" if turned else "item"): reason,
    }
    if note:
        reasons["label"] = note
    if roles.gold:
        reasons["gold"] = f"{roles.gold!r} holds the known answers."
    questions = tuple(
        Question(
            name=other.question or "answers",
            label=other.columns[0],
            kind=kind if other is group else _stacked_kind(measures, other)[0],
            n_labels=sum(measures.facts(column).n_filled for column in other.columns),
            n_classes=len({v for c in other.columns for v in measures.facts(c).values}),
            score=other.score,
        )
        for other in sorted(groups, key=lambda other: other is not group)
    )

    table = file.table
    if numbered and turned:
        table = with_column(table, _ROW, [str(n) for n in range(1, table.n_rows + 1)])

    def select(question: Question) -> Candidate:
        chosen = next(other for other in groups if other.columns[0] == question.label)
        return _wide_candidate(file, chosen, groups, row_worker)

    reasons |= unused_columns(roles, file.table.columns)
    across, down = ("items", "workers") if turned else ("workers", "items")
    unsure = not group.named and row_worker is None
    missing = missing_marks(measures, group.columns)
    if missing:
        reasons["missing"] = f"{join_names(missing)} in these columns mean that there is no answer."
    return Candidate(
        title=f"rows are {down}, the columns {join_names(group.columns)} are {across}",
        roles=roles,
        reasons=reasons,
        kind=kind,
        rules=tuple(rules),
        laid_out=table,
        questions=questions,
        select=select,
        missing=missing,
        doubt=f"That columns are {across} is told by their values alone." if unsure else "",
    )


def _stacked_kind(measures: Measures, group: Group) -> tuple[str, str]:
    """Say what the answers of a group of columns are."""
    n_rows = max(1, _STACKED_CELLS // len(group.columns))
    table = measures.profile.table.first_rows(n_rows)
    table = replace(table, data=table.data.select(list(group.columns)), _coded={})
    table = with_column(table, _ROW, [str(n) for n in range(table.n_rows)])
    answer = "answer"
    stacked = stack_columns(table, {answer: {c: c for c in group.columns}}, member="column")
    return kind_of(Measures(profile=TableProfile.from_table(stacked)), answer, (_ROW,))
