"""Which columns of a table are answers: they vary within workers and within items."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdcore.reading.agreement import numeric_agreement
from crowdcore.reading.candidates.kinds import is_ranking, kind_of, numbers_of
from crowdcore.reading.candidates.measures import Key, Measures
from crowdcore.reading.candidates.reading import Question
from crowdcore.reading.columns.names import (
    is_derived_name,
    is_metadata_name,
    is_remark_name,
    is_time_name,
    item_strength,
    label_strength,
    worker_strength,
)

_WORKER_ATTRIBUTE = 0.97
_ITEM_ATTRIBUTE = 0.995
_TICK_BOX_BLANKS = 0.5
_MIN_AGREEMENT = 0.02
_MIN_FILLED = 0.02
_FREE_SHARE = 0.5
_FREE_ROWS = 20
_DECLARED = 6.0


@dataclass(frozen=True, kw_only=True)
class AnswerJudgement:
    """Whether a column may be an answer, and how well it fits."""

    score: float
    reason: str
    accepted: bool


def agreement_of(measures: Measures, column: str, within: Key) -> float:
    """Return the agreement of a column within groups: as classes, or as numbers if that is more."""
    nominal = measures.agreement(column, within)
    facts = measures.facts(column)
    if numbers_of(facts.values) is None:
        return nominal
    coded = measures.profile.coded(column)
    value_of = np.array([_number(name) for name in coded.names])
    values, groups = value_of[coded.codes], measures.codes(within)
    rows = ~np.isnan(values) & (groups >= 0)
    return max(nominal, numeric_agreement(groups[rows], values[rows]))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def judge_answer(
    measures: Measures, column: str, item: Key, worker: str, *, declared: bool = False
) -> AnswerJudgement:
    """Test whether a column may be an answer.

    Parameters
    ----------
    measures
        The table.
    column
        The column in question.
    item, worker
        What names the items and the workers.
    declared
        Whether the platform says that it is an answer.

    Returns
    -------
    AnswerJudgement
    """
    facts = measures.facts(column)
    strength = label_strength(column)
    sure = strength == 3  # noqa: PLR2004
    no = AnswerJudgement(score=0.0, reason="", accepted=False)
    within_worker = measures.agreement(column, (worker,))
    shared = measures.crossing(item, worker).shared_share > 0
    varies = measures.variation(column, item)
    alike = agreement_of(measures, column, item)
    name_says_no = is_time_name(column) or is_metadata_name(column) or worker_strength(column) > 1
    if facts.n_distinct == 0 or facts.filled_share < _MIN_FILLED:
        return AnswerJudgement(score=-30.0, reason=f"{column!r} is empty.", accepted=sure)
    doubts = (
        (facts.is_constant and facts.filled_share > _TICK_BOX_BLANKS)
        or facts.is_date
        or (name_says_no or item_strength(column) == 3)  # noqa: PLR2004
        or facts.is_url
        or (within_worker >= _WORKER_ATTRIBUTE and measures.variation(column, (worker,)) < 0.2)  # noqa: PLR2004
        # Perfect agreement is possible, but rarely; a column about the item is the rule.
        or (shared and (varies == 0 or alike >= _ITEM_ATTRIBUTE))
    )
    if declared:
        doubts = facts.is_constant or facts.is_date or (shared and varies == 0 and not sure)
        doubts = doubts or within_worker >= _WORKER_ATTRIBUTE > measures.variation(
            column, (worker,)
        )
    noise = (facts.is_unique and facts.n_filled > _FREE_ROWS and facts.numbers < 1) or (
        shared
        and alike < _MIN_AGREEMENT
        and strength == 0
        and (facts.n_distinct > _FREE_ROWS or facts.is_unique)
    )
    # Answers in free words, and orders, are told for what they are.
    said = shared and varies > 0 and (facts.is_prose or (noise and is_ranking(facts.values)))
    if not sure and (doubts or (noise and not declared and not said)):
        return no
    score = 3.0 * strength + 15 * max(0.0, min(1.0, alike)) + 10 * facts.filled_share
    score += _DECLARED * declared
    score += 5 * (1 - math.log(facts.n_distinct + 1) / math.log(facts.n_filled + 2))
    score += 2 * (1 - measures.profile.columns.index(column) / len(measures.profile.columns))
    score -= 8 * is_derived_name(column) + 10 * is_remark_name(column) + 6 * name_says_no
    if facts.is_constant:
        score -= 6
    if doubts:
        score -= 15
    if within_worker > max(alike, 0.5):
        score -= 8
    reason = (
        f"{column!r} varies within workers and, in {varies:.0%} of the items, within items"
        if shared
        else f"{column!r} varies within workers"
    )
    return AnswerJudgement(score=score, reason=f"{reason}.", accepted=True)


def find_questions(
    measures: Measures,
    item: Key,
    worker: str,
    *,
    answers: Sequence[str] = (),
    gold: Mapping[str, str] | None = None,
    taken: Collection[str] = (),
    lenient: bool = False,
) -> list[Question]:
    """List the columns that are answers: those with known answers, then in the order of the file.

    Parameters
    ----------
    measures
        The table.
    item, worker
        What names the items and the workers.
    answers
        The columns that the platform declares to be answers; all others are then none.
    gold
        The column of known answers of each answer.
    taken
        Columns that are none.
    lenient
        Whether a declared answer is accepted although everybody agrees on it.

    Returns
    -------
    list of Question
    """
    gold = dict(gold or {})
    candidates = [
        c for c in (answers or measures.profile.columns) if c not in {*item, worker, *taken}
    ]
    questions = []
    for column in candidates:
        test = judge_answer(measures, column, item, worker, declared=bool(answers))
        if not test.accepted and not (lenient and measures.facts(column).n_distinct):
            continue
        facts = measures.facts(column)
        kind, note = kind_of(measures, column, item)
        score = test.score + (4 if column in gold else 0)
        questions.append(
            Question(
                name=column,
                label=column,
                kind=kind,
                n_labels=facts.n_filled,
                n_classes=facts.n_distinct,
                score=score - (15 if kind in ("free text", "spans", "boxes") else 0),
                gold=gold.get(column),
                note=note or test.reason,
            )
        )
    best = max((question.score for question in questions), default=0.0)
    fullest = max((question.n_labels for question in questions), default=0)
    likely = [question for question in questions if question.score > best - 25]
    order = measures.profile.columns.index

    def rank(question: Question) -> tuple[bool, bool, bool, int]:
        aside = is_derived_name(question.name) or is_remark_name(question.name)
        rare = question.n_labels < fullest / 2
        return (
            not question.readable or aside or rare,
            question.gold is None,
            label_strength(question.name) < 3,  # noqa: PLR2004
            order(question.label),
        )

    return sorted(likely, key=rank)
