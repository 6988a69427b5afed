"""Wide tables: a column per worker, or, turned round, a column per item."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdcore.reading.agreement import chance_corrected, numeric_agreement
from crowdcore.reading.candidates.grids import find_grid
from crowdcore.reading.candidates.kinds import numbers_of
from crowdcore.reading.candidates.measures import (
    Measures,
)
from crowdcore.reading.candidates.reading import Rule
from crowdcore.reading.columns.by_values import same_values
from crowdcore.reading.columns.names import (
    is_derived_name,
    is_metadata_name,
    is_time_name,
    item_strength,
    vocabulary,
    words_of,
    worker_strength,
)
from crowdcore.reading.columns.roles import is_role_name, name_rank
from crowdcore.wording import count, join_names

_SENTENCE_WORDS = 4
_MIN_COLUMNS = 2
_SURE_COLUMNS = 3
_MAX_VALUES = 120
_CELLS_LOOKED_AT = 200_000
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_LETTER = re.compile(r"[a-z]")
_INDEXED_STEMS = vocabulary("a r w annot rating coder1 an anno")
_ANSWER_STEMS = vocabulary(
    "winner vote label answer annotation rating judgement judgment score class choice "
    "response verdict decision"
)
_GRID_POINTS = 12.0
_QUESTION_STEMS = vocabulary("q question item statement image img task text sentence")


@dataclass(frozen=True, kw_only=True)
class Group:
    """Columns that hold the answers of one worker each, or to one item each.

    Parameters
    ----------
    question
        What was asked, where the same workers have several groups; else empty.
    columns
        The columns.
    members
        What each column stands for: the worker, or the item.
    rules
        What speaks for it.
    across
        "workers" or "items": what the columns are.
    named
        Whether the names of the columns say so.
    """

    question: str
    columns: tuple[str, ...]
    members: tuple[str, ...]
    rules: tuple[Rule, ...]
    across: str = "workers"
    named: bool = False

    @property
    def score(self) -> float:
        """The sum of what the rules say."""
        return sum(rule.points for rule in self.rules)


def find_groups(measures: Measures, row_worker: str | None) -> list[Group]:
    """Find the groups of columns that may be workers or items, the best first.

    Parameters
    ----------
    measures
        The table.
    row_worker
        The column that names a worker in each row, if there is one.

    Returns
    -------
    list of Group
    """
    free = [column for column in measures.profile.columns if _may_hold_answers(measures, column)]
    groups = [*_by_index(measures, free), *_by_member(measures, free)]
    groups += [*_by_address(measures, free), *_by_number(measures, free)]
    named = {column for group in groups for column in group.columns}
    if not groups:
        groups = [
            _group(
                measures,
                question,
                tuple(members.values()),
                tuple(members),
                points=_GRID_POINTS,
                sentence=f"The columns {join_names(list(members.values()))} have the same values "
                f"and differ by a name: the answers of several workers on {question!r}.",
                named=False,
            )
            for question, members in find_grid(measures, free).items()
        ]
    rows_named = row_worker is not None or any(item_strength(c) >= 2 for c in free)  # noqa: PLR2004
    rest = [
        column
        for column in free
        if item_strength(column) < 3 and name_rank("gold", column) is None  # noqa: PLR2004
    ]
    columns, _ = same_values(measures.profile, rest, rows_have_name=rows_named)
    columns = tuple(c for c in columns if not (is_role_name(c) and worker_strength(c)))
    if len(columns) >= _MIN_COLUMNS and not named.issuperset(columns):
        groups.append(_group(measures, "", columns, columns, points=0.0, sentence="", named=False))
    groups = [group for group in groups if len(group.columns) >= _MIN_COLUMNS]
    return sorted(groups, key=lambda group: -group.score)


def _may_hold_answers(measures: Measures, column: str) -> bool:
    facts = measures.facts(column)
    if not facts.n_distinct or facts.is_date or facts.is_json:
        return False
    if is_time_name(column) or is_derived_name(column) or facts.is_prose:
        return False
    return not (is_metadata_name(column) and len(words_of(column)) <= 2)  # noqa: PLR2004


def _index(words: Sequence[str]) -> tuple[tuple[str, ...], str] | None:
    """Split a name into its stem and its number or letter: rater B, label_3, A1."""
    if len(words) < 2:  # noqa: PLR2004
        return None
    if words[-1].isdecimal() or _LETTER.fullmatch(words[-1]):
        return tuple(words[:-1]), words[-1]
    return None


def _by_index(measures: Measures, columns: Sequence[str]) -> list[Group]:
    """Groups whose names differ by a number or a letter only."""
    stems: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for column in columns:
        if split := _index(words_of(column)):
            stems[split[0]].append((column, split[1]))
    groups = []
    for stem, members in stems.items():
        names = tuple(column for column, _ in members)
        text = " ".join(stem)
        is_worker = worker_strength(text) > 1 or text in _INDEXED_STEMS
        if len(names) < _MIN_COLUMNS or not (is_worker or _alike(measures, names)):
            continue
        if set(stem) & _QUESTION_STEMS:
            sentence = f"The columns {join_names(names)} are numbered like questions."
            groups.append(
                _group(
                    measures,
                    "",
                    names,
                    names,
                    points=-5.0,
                    sentence=sentence,
                    named=False,
                    across="items",
                )
            )
            continue
        if is_worker:
            points, why = 25.0, "are named like workers"
        elif set(stem) & _ANSWER_STEMS:
            points, why = 20.0, "are numbered answers, as several workers give them"
        else:
            continue
        sentence = f"The columns {join_names(names)} {why}."
        groups.append(
            _group(measures, "", names, names, points=points, sentence=sentence, named=True)
        )
    return groups


def _by_address(measures: Measures, columns: Sequence[str]) -> list[Group]:
    """A group whose columns are headed by the addresses of people."""
    names = tuple(column for column in columns if _ADDRESS.fullmatch(column.strip()))
    if len(names) < _MIN_COLUMNS:
        return []
    sentence = f"{count(len(names), 'column')} are headed by addresses of people."
    return [_group(measures, "", names, names, points=25.0, sentence=sentence, named=True)]


def _by_number(measures: Measures, columns: Sequence[str]) -> list[Group]:
    """A group whose columns are headed by 1, 2, 3 and so on, beside columns with other names."""
    names = tuple(column for column in columns if column.strip().isdecimal())
    numbers = [int(name) for name in names]
    in_order = numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else False
    if len(names) < _SURE_COLUMNS or not in_order or numbers[0] > 1 or not _alike(measures, names):
        return []
    sentence = f"{count(len(names), 'column')} are numbered like workers."
    return [_group(measures, "", names, names, points=20.0, sentence=sentence, named=True)]


def _by_member(measures: Measures, columns: Sequence[str]) -> list[Group]:
    """Groups of the same workers for several questions: annotator1_tone, annotator1_topic."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for column in columns:
        words = words_of(column)
        for at, word in enumerate(words):
            last = at + 1 < len(words) and (
                words[at + 1].isdecimal() or _LETTER.fullmatch(words[at + 1])
            )
            if last and (worker_strength(word) or word in _INDEXED_STEMS):
                member = f"{word}_{words[at + 1]}"
                rest = " ".join((*words[:at], *words[at + 2 :]))
                if rest:
                    found[rest].setdefault(member, column)
                break
    groups = []
    for question, members in found.items():
        names = tuple(members.values())
        if len(names) < _MIN_COLUMNS or not _alike(measures, names):
            continue
        sentence = f"The columns {join_names(names)} are the workers' answers on {question!r}."
        groups.append(
            _group(
                measures,
                question,
                names,
                tuple(members),
                points=25.0,
                sentence=sentence,
                named=True,
            )
        )
    return groups


def _alike(measures: Measures, columns: Sequence[str]) -> bool:
    """Whether columns share values, as the answers of several workers do."""
    facts = [measures.facts(column) for column in columns]
    if all(fact.numbers == 1 for fact in facts):
        return True
    values = [set(fact.values) for fact in facts]
    common = set.union(*values)
    return sum(map(len, values)) >= 1.3 * len(common) or len(common) <= _SURE_COLUMNS


def _group(
    measures: Measures,
    question: str,
    columns: tuple[str, ...],
    members: tuple[str, ...],
    *,
    points: float,
    sentence: str,
    named: bool,
    across: str = "workers",
) -> Group:
    values = {value for column in columns for value in measures.facts(column).values}
    agreement = row_agreement(measures, columns)
    # Blanks and underscores part words here: an id such as A2B7KX has no words.
    wordy = sum(len(re.split(r"[\s_]+", column)) >= _SENTENCE_WORDS for column in columns)
    rules = [Rule(points=points, sentence=sentence)] if sentence else []
    if len(values) <= _MAX_VALUES:
        share = f"The columns {join_names(columns)} share one small set of values."
        rules.append(Rule(points=10.0, sentence=share))
    rules.append(
        Rule(
            points=15 * max(-0.5, min(1.0, agreement)),
            sentence=f"Cells of one row agree {agreement:+.2f} beyond chance.",
        )
    )
    rules.append(
        Rule(
            points=min(5.0, len(columns) - 1.0),
            sentence=f"There are {count(len(columns), 'such column')}.",
        )
    )
    if not named and wordy > 0.5 * len(columns):
        rules.append(Rule(points=5.0, sentence="Their names are sentences, as of statements."))
        across = "items"
    return Group(
        question=question,
        columns=columns,
        members=members,
        rules=tuple(rules),
        across=across,
        named=named,
    )


def row_agreement(measures: Measures, columns: Sequence[str]) -> float:
    """Return how much more alike the cells of one row are than by chance.

    Parameters
    ----------
    measures
        The table.
    columns
        The columns.

    Returns
    -------
    float
        As classes, or as numbers if that is more.
    """
    n_rows = max(1, min(measures.profile.n_rows, _CELLS_LOOKED_AT // len(columns)))
    names: dict[str, int] = {}
    rows, codes, numbers = [], [], []
    numeric = all(numbers_of(measures.facts(column).values) for column in columns)
    for column in columns:
        coded = measures.profile.coded(column)
        code_of = np.array([names.setdefault(name.strip(), len(names)) for name in coded.names])
        filled = measures.profile.filled(column)[:n_rows]
        rows.append(np.flatnonzero(filled))
        cells = coded.codes[:n_rows][filled]
        codes.append(code_of[cells])
        if numeric:
            number_of = np.array([_number(name) for name in coded.names])
            numbers.append(number_of[cells])
    row, code = np.concatenate(rows).astype(np.int64), np.concatenate(codes).astype(np.int64)
    agreement = chance_corrected(row, code)
    if numeric:
        values = np.concatenate(numbers)
        known = ~np.isnan(values)
        agreement = max(agreement, numeric_agreement(row[known], values[known]))
    return agreement


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
