"""A round of questions about a run: what is known, what to ask next, what it has told so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdcore import questions
from crowdcore.artefacts.candidates import Candidates
from crowdcore.data import UNKNOWN, DataError, Floats, Kind
from crowdcore.decisions import Decision
from crowdcore.results.result import Result
from crowdcore.wording import count, percent

MAX_UNSURE_SHARE = 0.5
"""From this share of unsure answers on a person should say what the classes mean."""


def refuse_other_kinds(kind: Kind) -> None:
    """Say why there are no questions about labels that are no classes.

    Parameters
    ----------
    kind
        What the labels are.

    Raises
    ------
    DataError
        If they are no classes.
    """
    if kind != "classes":
        raise DataError(
            "Questions tell which method to trust where labels are classes; these are "
            f"{kind}, whose methods differ by degrees on every item",
            fix="Add gold of some items instead: it tells how far each method is off.",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """Questions about one result, and the answers so far.

    Parameters
    ----------
    result
        A result that leaves `Candidates`.
    candidates
        What its methods say.
    answers
        Known classes of the items [N]; UNKNOWN where none is known.
    is_closed
        Which items need no question: their answer is known, or somebody was unsure [N].
    n_answered, n_unsure
        Questions that were answered, and that were not.
    """

    result: Result
    candidates: Candidates
    answers: NDArray[np.integer]
    is_closed: NDArray[np.bool_]
    n_answered: int
    n_unsure: int

    @classmethod
    def from_result(cls, result: Result, asked: Sequence[Decision]) -> Round:
        """Begin or take up a round.

        Parameters
        ----------
        result
            A result of the pool, made with its setting `choose`.
        asked
            Answers so far, in their order.

        Returns
        -------
        Round
            What is known, and what is not.

        Raises
        ------
        DataError
            If labels are no classes, or the result has no candidates.
        """
        data = result.data
        refuse_other_kinds(data.kind)
        candidates = result.artefact(Candidates)
        if candidates is None:
            raise DataError(
                "This run has no candidates to choose among",
                fix="Run auto with its setting choose at ask.",
            )
        answers = np.full(data.n_items, UNKNOWN) if data.gold is None else data.gold.copy()
        is_closed = (answers >= 0) | (data.labels_per_item == 0)
        items = {name: code for code, name in enumerate(data.items)}
        classes = {name: code for code, name in enumerate(data.classes)}
        n_answered = n_unsure = 0
        for made in asked:
            if (item := items.get(made.subject)) is None:
                continue
            is_closed[item] = True
            if made.action == "truth" and made.value in classes:
                answers[item] = classes[made.value]
                n_answered += 1
            else:
                n_unsure += 1
        return cls(
            result=result,
            candidates=candidates,
            answers=answers,
            is_closed=is_closed,
            n_answered=n_answered,
            n_unsure=n_unsure,
        )

    @cached_property
    def weights(self) -> Floats:
        """The weights of the candidates [C] by all known answers."""
        known = np.flatnonzero(self.answers >= 0)
        return questions.weigh(self.candidates.truths[:, known], self.answers[known])

    @cached_property
    def start_weights(self) -> Floats:
        """The weights of the candidates [C] before anything is known."""
        return questions.weigh(self.candidates.truths[:, :0], self.answers[:0])

    @cached_property
    def open_share(self) -> float:
        """On how many of the items the choice of a method still matters."""
        return questions.open_disagreement(self.candidates.truths, self.weights)

    @property
    def is_settled(self) -> bool:
        """Whether further answers would change little."""
        n_known = int((self.answers >= 0).sum())
        if n_known >= questions.MAX_ANSWERS:
            return True
        return n_known >= questions.MIN_ANSWERS and self.open_share < questions.SETTLED_SHARE

    def next_question(self) -> questions.Question | None:
        """Draw the next item to ask about; the same one however often it is asked for.

        Returns
        -------
        Question or None
            None where no item is left.
        """
        rng = np.random.default_rng([self.result.provenance.seed, int(self.is_closed.sum())])
        return questions.next_question(self.candidates.truths, self.weights, self.is_closed, rng)

    def changed(self) -> int:
        """Count the truths that differ from the pool's by the weights so far.

        Returns
        -------
        int
            Items without a known answer on which the heaviest class is not the pool's.
        """
        truths, weights = self.candidates.truths, self.weights
        behind_pool = np.zeros(truths.shape[1])
        for truth, weight in zip(truths, weights, strict=True):
            behind_pool += weight * (truth == truths[0])
        best = questions.support(truths, weights)
        return int(((behind_pool < best - 1e-9) & (self.answers < 0)).sum())

    def describe(self) -> str:
        """Say what the answers have told so far, in a few sentences.

        Returns
        -------
        str
            Plain text.
        """
        n_items = len(self.answers)
        if not self.n_answered:
            return (
                f"{count(len(self.candidates.names))} methods were tried. Drawn by their weights, "
                f"they differ from the decision on {percent(self.open_share)} of "
                f"{count(n_items)} items: answers can bring at most about that. "
                + questions.describe_gain(questions.GAIN_PER_OPEN_SHARE * self.open_share)
            )
        leader = int(self.weights.argmax())
        sentence = (
            f"After {count(self.n_answered, 'answer')}, {self.candidates.titles[leader]} has "
            f"{percent(self.weights[leader], 0)} of the weight. {count(self.changed())} of "
            f"{count(n_items)} truths would change. The choice still matters on "
            f"{percent(self.open_share)} of the items."
        )
        if self.is_settled:
            return f"{sentence} Further answers would change little: this is a good moment to stop."
        if self.n_answered < questions.MIN_GOLD_TO_CHOOSE:
            left = questions.MIN_GOLD_TO_CHOOSE - int((self.answers >= 0).sum())
            if left > 0:
                return f"{sentence} {count(left)} more are needed before they count."
        return sentence
