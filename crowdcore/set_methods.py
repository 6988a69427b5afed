"""Methods for labels that hold several classes: every method for classes, asked class by class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model

from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.config import Config
    from crowdcore.engine.set_answers import Questions, SetAnswers
    from crowdcore.method import Method
    from crowdcore.results.sets import SetEstimate
    from crowdcore.run import Run

SETTING = "workers_per_class"
"""The setting that methods for sets have beside their own."""

FAMILIES = ("ability", "bayesian", "confusion", "pool", "voting", "weighting")
"""Families whose methods need nothing but labels; the others learn about items as wholes."""

_DESCRIPTION = (
    "Learn what is known of a worker for each class apart. Off, all classes share it: better where "
    "workers have few answers for each class."
)


def can_take_sets(method: Method) -> bool:
    """Tell whether a method for classes can answer one yes/no question per item and class.

    Parameters
    ----------
    method
        A method of any kind.

    Returns
    -------
    bool
        False for methods that complete labels or learn about items as wholes.
    """
    return "classes" in method.kinds and method.family in FAMILIES


def kinds_taken(method: Method) -> list[str]:
    """List the kinds of labels that a method of a file works on, sets included."""
    return sorted(method.kinds | ({"sets"} if can_take_sets(method) else set()))


def for_sets(method: Method) -> Method:
    """Make a method for sets of one for classes.

    Every item and class becomes a yes/no question, all questions are answered by one fit, and the
    answers are joined again.

    Parameters
    ----------
    method
        A method for which `can_take_sets` is True.

    Returns
    -------
    Method
        With the same id, title and card, one setting more, and results that are sets.
    """
    config: type[Config] = create_model(
        f"{method.config.__name__}ForSets",
        __base__=method.config,
        **{SETTING: (bool, Field(default=False, description=_DESCRIPTION))},  # type: ignore[call-overload]
    )

    def function(answers: SetAnswers, cfg: Config, run: Run) -> SetEstimate:
        return _answer(method, answers, cfg, run)

    function.__doc__ = method.function.__doc__
    return replace(
        method,
        config=config,
        needs=Needs(kinds=frozenset({"sets"}), gold=method.needs.gold),
        function=function,
        leaves=(),
    )


def _answer(method: Method, answers: SetAnswers, cfg: Config, run: Run) -> SetEstimate:
    """Answer all questions by one fit, and join what belongs to an item."""
    from crowdcore.engine.set_answers import YES
    from crowdcore.results.sets import SetEstimate

    params = cfg.model_dump()
    per_class = bool(params.pop(SETTING))
    questions = answers.questions(per_class=per_class)
    data = answers.data
    result = method.fit(questions.data, run=run, **params)
    yes = questions.table(result.posterior[:, YES], data.n_items, data.n_classes, default=0.0)
    confusion: Any = result.confusion
    if per_class and confusion is not None:
        confusion = confusion.reshape(data.n_workers, data.n_classes, 2, 2)
    return SetEstimate(
        probability=yes,
        confusion=confusion,
        worker_scores={} if per_class else result.worker_scores,
        used_gold=result.provenance.used_gold,
        notes=_notes(questions, result.provenance.notes),
    )


def _notes(questions: Questions, notes: tuple[str, ...]) -> tuple[str, ...]:
    n = questions.data.n_items
    asked = f"{n:,} yes/no questions, one for each item and class, were answered by one fit."
    if not questions.complete:
        asked = (
            f"{n:,} yes/no questions were answered by one fit, one for each item and class that "
            "somebody ticked; where nobody did, the class is taken not to apply."
        )
    return (asked, *(f"Of these questions as items: {note}" for note in notes))
