"""Readings with one row per label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crowdcore.reading.candidates.comparisons import find_pair
from crowdcore.reading.candidates.details import (
    about_items,
    gold_by_values,
    name_duration,
    name_gold,
    name_time,
)
from crowdcore.reading.candidates.long_tables import Cross, find_crosses, judge, speaks
from crowdcore.reading.candidates.measures import Key, Measures, joined_name
from crowdcore.reading.candidates.questions import agreement_of, find_questions
from crowdcore.reading.candidates.reading import Candidate, Question, Rule
from crowdcore.reading.candidates.source_file import SourceFile
from crowdcore.reading.columns.names import (
    is_question_name,
    item_strength,
    label_strength,
    vocabulary,
    words_of,
    worker_strength,
)
from crowdcore.reading.columns.roles import Roles, unused_columns
from crowdcore.wording import count, join_names

_PLATFORM_POINTS = 20.0
_COMPARED_POINTS = 60.0
_CROSSES_READ = 3
_MIN_UNIQUE_NAMED = 0.5
_MIN_UNIQUE_BY_VALUES = 0.7
_MAX_QUESTIONS_IN_ROWS = 60
_MET_ONCE = 0.95
_OFTEN_SHARED = 0.3
_MIN_AGREEMENT = 0.1
_KEY_WORDS = vocabulary("key field variable attribute")


def long_readings(file: SourceFile) -> list[Candidate]:
    """Make the readings with one row per label.

    Parameters
    ----------
    file
        The file.

    Returns
    -------
    list of Candidate
    """
    measures, hints = file.measures, file.hints
    crosses = find_crosses(measures, worker=hints.worker, items=hints.items)
    if hints.worker is None:
        crosses = [cross for cross in crosses if _plausible(cross)]
    if not crosses and hints.worker is not None:
        crosses = [judge(measures, key, hints.worker) for key in hints.items[:1]]
    read = [(cross, _read_cross(file, cross)) for cross in crosses[:_CROSSES_READ]]
    candidates = [candidate for _, candidate in read if candidate is not None]
    if any(c is not None and c.kind == "comparisons" and _names_items(cross) for cross, c in read):
        return candidates  # what was asked about two is the item, not the two themselves
    compared = _read_compared(file)
    return candidates if compared is None else [compared, *candidates]


def _names_items(cross: Cross) -> bool:
    """Whether a worker meets an item once, and several workers meet it."""
    crossing = cross.crossing
    return crossing.unique_share >= _MET_ONCE and crossing.shared_share >= _OFTEN_SHARED


def _read_compared(file: SourceFile) -> Candidate | None:
    """Take two that are compared as the item, however often a worker meets them."""
    measures = file.measures
    columns = measures.profile.columns
    named = [column for column in columns if worker_strength(column) > 1]
    worker = file.hints.worker or next(iter(named), None)
    if worker is None:
        return None
    for label in columns:
        asked = label != worker and (not file.hints.answers or label in file.hints.answers)
        pair = find_pair(measures, label) if asked else None
        if pair is None:
            continue
        facts = measures.facts(label)
        question = Question(
            name=label,
            label=label,
            kind="comparisons",
            n_labels=facts.n_filled,
            n_classes=facts.n_distinct,
            score=_COMPARED_POINTS,
            note=pair.reason,
        )
        cross = judge(measures, (pair.left, pair.right), worker)
        return _long_candidate(file, cross, question, (question,))
    return None


def _plausible(cross: Cross) -> bool:
    if worker_strength(cross.worker) > 1:
        named = max(item_strength(column) for column in cross.item) > 0
        return named or cross.crossing.unique_share >= _MIN_UNIQUE_NAMED
    crossing = cross.crossing
    return crossing.unique_share >= _MIN_UNIQUE_BY_VALUES and (
        crossing.shared_share >= _OFTEN_SHARED
    )


def _read_cross(file: SourceFile, cross: Cross) -> Candidate | None:
    measures, hints = file.measures, file.hints
    time = hints.time or name_time(measures)
    gold = name_gold(measures, cross.item)
    duration = hints.duration or name_duration(measures)
    taken = [column for column in (time, gold, hints.started, duration) if column]
    taken += list(hints.gold.values())
    questions = find_questions(
        measures, cross.item, cross.worker, answers=hints.answers, gold=hints.gold, taken=taken
    )
    if not questions and hints.answers:
        questions = find_questions(
            measures,
            cross.item,
            cross.worker,
            answers=hints.answers,
            gold=hints.gold,
            taken=taken,
            lenient=True,
        )[:1]
    if not questions or not _like_a_crowd(measures, cross, questions[0]):
        return None
    if questions[0].gold is None:
        gold = gold or gold_by_values(measures, cross.item, questions[0].label)
        questions[0] = replace(questions[0], gold=gold)
    pair = find_pair(measures, questions[0].label)
    if pair is not None:
        questions[0] = replace(questions[0], kind="comparisons", note=pair.reason)
    in_rows = _in_rows(measures, cross, questions)
    if in_rows and _is_log(cross, questions[0]):
        in_rows.sort(key=lambda question: -question.n_labels)
        questions = [*in_rows, *questions]
    else:
        questions += in_rows
    return _long_candidate(file, cross, questions[0], tuple(questions))


def _like_a_crowd(measures: Measures, cross: Cross, question: Question) -> bool:
    """Whether workers meet items, and agree where nothing but values says what columns are."""
    crossing = cross.crossing
    once = crossing.items_per_worker <= 1 and crossing.shared_share == 0
    if once and label_strength(question.label) < 3:  # noqa: PLR2004
        return False  # a list of workers: each of them, and each item, comes once
    if worker_strength(cross.worker) or not measures.profile.table.header:
        return True
    if speaks(measures, cross.worker, "worker"):
        return True
    return agreement_of(measures, question.label, cross.item) >= _MIN_AGREEMENT


def _is_log(cross: Cross, question: Question) -> bool:
    """Whether rows are changes of a value by its key, as screening tools write them."""
    named = any(set(words_of(column)) & _KEY_WORDS for column in cross.item)
    return named and words_of(question.label)[-1:] == ("value",)


def _in_rows(measures: Measures, cross: Cross, questions: Sequence[Question]) -> list[Question]:
    """List the questions that a column of the item's key names."""
    named = [
        column
        for column in cross.item
        if len(cross.item) > 1 and (is_question_name(column) or words_of(column) == ("key",))
    ]
    if not named or measures.n_distinct((named[0],)) > _MAX_QUESTIONS_IN_ROWS:
        return []
    column, main = named[0], questions[0]
    coded = measures.profile.coded(column)
    found = []
    for code, value in enumerate(coded.names):
        if not value.strip():
            continue
        rows = coded.codes == code
        answers = measures.codes((main.label,))[rows]
        answers = answers[answers >= 0]
        found.append(
            Question(
                name=value,
                label=main.label,
                kind=main.kind,
                n_labels=len(answers),
                n_classes=len(set(answers.tolist())),
                score=main.score - 1,
                rows=(column, value),
                note=f"The rows in which {column!r} is {value!r}.",
            )
        )
    return found


def _long_candidate(
    file: SourceFile, cross: Cross, question: Question, questions: tuple[Question, ...]
) -> Candidate:
    measures, hints = file.measures, file.hints
    key = cross.item
    if question.rows is not None:
        key = tuple(column for column in key if column != question.rows[0])
    item = joined_name(key)
    roles = Roles(
        item=item,
        worker=cross.worker,
        label=question.label,
        gold=question.gold,
        time=hints.time or name_time(measures),
        started=hints.started,
        duration=hints.duration or name_duration(measures),
        rows=question.rows or (),
    )
    others = [other.label for other in questions if other.label != question.label]
    roles = replace(roles, details=about_items(measures, key, roles, hints, others))
    points = max(other.score for other in questions)
    rules = [*cross.rules, Rule(points=points, sentence=question.note)]
    if file.platform is not None:
        sentence = f"The headers are those of {file.platform.title}."
        rules.insert(0, Rule(points=_PLATFORM_POINTS, sentence=sentence))
    headers = f"The headers are those of {file.platform.title}. " if file.platform else ""
    reasons = {
        "file": f"{headers}{file.table.description}",
        "layout": "Each row is one label.",
        "item": _item_reason(measures, cross, key),
        "worker": _worker_reason(measures, cross),
        "label": question.note if question.rows is None else f"{question.label!r}: {question.note}",
    }
    if roles.gold:
        reasons["gold"] = f"{roles.gold!r} holds the known answers."

    def select(other: Question) -> Candidate:
        return _long_candidate(file, cross, other, questions)

    reasons |= unused_columns(roles, file.table.columns)
    named = file.platform is not None or worker_strength(cross.worker) > 1
    doubt = "" if named else "Which columns are item and worker is told by their values alone."
    ticks = file.loose_ticks
    if not doubt and ticks is not None and question.label in (ticks.name, *ticks.members):
        doubt = (
            f"The columns {join_names(list(ticks.members))} may be one question with several "
            "answers, or a question each."
        )
    return Candidate(
        title=f"one row per label, item {item!r}, worker {cross.worker!r}, label "
        f"{question.label!r}" + (f" of question {question.name!r}" if question.rows else ""),
        roles=roles,
        reasons=reasons,
        kind=question.kind,
        rules=tuple(rules),
        laid_out=file.table,
        questions=questions,
        select=select,
        doubt=doubt,
    )


def _item_reason(measures: Measures, cross: Cross, key: Key) -> str:
    name = joined_name(key)
    if len(key) > 1:
        return f"{name!r} together name the item: alone they meet a worker more than once."
    if item_strength(name) > 1:
        return f"{name!r} is a usual name for items."
    n_values = count(measures.n_distinct(key), "distinct value")
    return f"{name!r} has {n_values}, shared by several rows like things that were labelled."


def _worker_reason(measures: Measures, cross: Cross) -> str:
    if worker_strength(cross.worker) > 1:
        return f"{cross.worker!r} is a usual name for workers."
    n_values = count(measures.n_distinct((cross.worker,)), "distinct value")
    return f"{cross.worker!r} has {n_values}, coming back for many items like people."
