"""Which of several methods to trust, by a few answers asked where they disagree.

Candidates are methods that have each decided every item. They begin with equal weights, but for a
head start of the default; an answer takes weight from those that it contradicts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats

Codes2D = NDArray[np.integer]
Drawn = Literal["disagreement", "random"]

HEAD_START = math.e**2
"""How many times the weight of another candidate the first one begins with: it stays unless there
is evidence. Of e, e squared and e cubed this one gained most on eleven public sets."""

ERROR_RATE = 0.2
"""How often the right candidate is thought to contradict an answer; people err too."""

POWER = 0.5
"""How much an answer counts: neighbouring items are not independent evidence."""

CONTESTED_SHARE, MIN_CONTESTED = 0.02, 5
"""Questions are drawn from this share of the items, and from no fewer, where weights are split most
evenly."""

RANDOM_SHARE = 0.25
"""How many questions are drawn from all items, so that the accuracy can be told without bias."""

MIN_ANSWERS, MAX_ANSWERS = 10, 40
SETTLED_SHARE = 0.005
"""After `MIN_ANSWERS` enough is known when a candidate drawn by weight would differ from the
weighted decision on fewer of the items."""

GAIN_PER_OPEN_SHARE, GAIN_PER_DISPUTED_SHARE = 0.07, 0.02
"""What ten answers brought on 18 public sets, on average: so much of the share of items on which
the choice matters (`open_disagreement`), and of those on which a member of the pool differs. How
far methods disagree bounds the gain and hardly tells it: the two correlate by .1 over the sets."""

MIN_POINTS = 0.1
"""Gains of fewer percentage points are not told by number."""

MIN_GOLD_TO_CHOOSE = 10
"""Fewer known answers that were not asked for choose nothing."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """An item to ask about.

    Parameters
    ----------
    item
        Its code.
    drawn
        Whether it was drawn where candidates disagree, or from all items.
    chance
        The probability with which it was drawn, among the items not yet asked.
    """

    item: int
    drawn: Drawn
    chance: float


def weigh(truths: Codes2D, answers: NDArray[np.integer]) -> Floats:
    """Weigh candidates by known answers.

    Parameters
    ----------
    truths
        What each candidate says of the items with answers [C, A]; the first has the head start.
    answers
        The right classes [A].

    Returns
    -------
    numpy.ndarray
        Weights that add up to 1 [C].
    """
    return _normalised(_log_weights(truths, answers).sum(1) + _log_start(len(truths)))


def weigh_without_each(truths: Codes2D, answers: NDArray[np.integer]) -> Floats:
    """Weigh candidates for each answer by all others.

    Parameters
    ----------
    truths, answers
        As for `weigh`.

    Returns
    -------
    numpy.ndarray
        Weights of the candidates [C, A], each column without its own answer.
    """
    logs = _log_weights(truths, answers)
    without = logs.sum(1, keepdims=True) - logs + _log_start(len(truths))[:, None]
    return _normalised(without)


def _log_weights(truths: Codes2D, answers: NDArray[np.integer]) -> Floats:
    right, wrong = POWER * math.log(1 - ERROR_RATE), POWER * math.log(ERROR_RATE)
    return np.where(np.asarray(truths) == answers, right, wrong)


def _log_start(n_candidates: int) -> Floats:
    return np.where(np.arange(n_candidates) == 0, math.log(HEAD_START), 0.0)


def _normalised(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max(0))
    return np.asarray(weights / weights.sum(0))


def support(truths: Codes2D, weights: Floats) -> Floats:
    """Return the weight behind the class with most of it, of each item [N].

    Parameters
    ----------
    truths
        What each candidate says of each item [C, N].
    weights
        Their weights [C].
    """
    largest = np.zeros(truths.shape[1])
    for truth in truths:  # a class is looked at once for each candidate that chose it
        behind = np.zeros(truths.shape[1])
        for other, weight in zip(truths, weights, strict=True):
            behind += weight * (other == truth)
        np.maximum(largest, behind, out=largest)
    return largest


def open_disagreement(truths: Codes2D, weights: Floats) -> float:
    """Return on how many of the items a candidate drawn by weight differs from the decision.

    Parameters
    ----------
    truths
        What each candidate says of each item [C, N].
    weights
        Their weights [C].

    Returns
    -------
    float
        A share; what answers can still bring is at most about this.
    """
    return float(1 - support(truths, weights).mean())


def describe_gain(share: float) -> str:
    """Say what ten answers may bring.

    Parameters
    ----------
    share
        The expected gain, a share of the items.

    Returns
    -------
    str
        A sentence.
    """
    points = 100 * share
    amount = f"about {points:.1f} points" if points >= MIN_POINTS else "less than 0.1 points"
    return (
        f"Expect {amount} from ten answers: on most public sets they brought next to nothing, on "
        "one three points."
    )


def next_question(
    truths: Codes2D, weights: Floats, asked: NDArray[np.bool_], rng: np.random.Generator
) -> Question | None:
    """Draw the next item to ask about.

    Parameters
    ----------
    truths
        What each candidate says of each item [C, N].
    weights
        Their weights [C].
    asked
        Which items are settled, or were asked already [N].
    rng
        Draws the item.

    Returns
    -------
    Question or None
        None where every item was asked.
    """
    remaining = np.flatnonzero(~asked)
    if not len(remaining):
        return None
    behind = support(truths[:, remaining], weights)
    n_contested = min(len(remaining), max(MIN_CONTESTED, int(CONTESTED_SHARE * truths.shape[1])))
    jitter = rng.random(len(remaining)) * 1e-9  # items that are split alike are drawn for
    contested = np.argpartition(behind + jitter, n_contested - 1)[:n_contested]
    contested = contested[behind[contested] < 1 - 1e-9]
    random_share = RANDOM_SHARE if len(contested) else 1.0
    if rng.random() < random_share:
        drawn: Drawn = "random"
        index = int(rng.integers(len(remaining)))
    else:
        drawn, index = "disagreement", int(rng.choice(contested))
    chance = random_share / len(remaining)
    if len(contested) and index in contested:
        chance += (1 - random_share) / len(contested)
    return Question(item=int(remaining[index]), drawn=drawn, chance=float(chance))


def is_settled(truths: Codes2D, weights: Floats, n_answers: int) -> bool:
    """Tell whether further answers would change little.

    Parameters
    ----------
    truths
        What each candidate says of each item [C, N].
    weights
        Their weights [C].
    n_answers
        Answers so far.

    Returns
    -------
    bool
        True after enough answers, if the weights leave few items open.
    """
    if n_answers >= MAX_ANSWERS:
        return True
    return n_answers >= MIN_ANSWERS and open_disagreement(truths, weights) < SETTLED_SHARE


def testing_weights(chances: Sequence[float], n_items: int) -> Floats:
    """Weigh answers so that their mean is unbiased although some items were likelier to be asked.

    The estimator of Farquhar, Gal and Rainforth (2021), as used by active testing (Kossen et al.
    2021): an answer counts more if its item was unlikely to be drawn.

    Parameters
    ----------
    chances
        With which each item was drawn among those not yet asked, in the order of the questions.
    n_items
        Items in all.

    Returns
    -------
    numpy.ndarray
        Weights, about 1 on average [A].
    """
    n_asked = len(chances)
    number = np.arange(1, n_asked + 1)
    remaining = n_items - number + 1
    later = np.maximum(n_items - number, 1)
    weights = 1 + (n_items - n_asked) / later * (1 / (remaining * np.array(chances)) - 1)
    return np.asarray(np.maximum(weights, 0.0))


def unbiased_accuracy(right: NDArray[np.bool_], weights: Floats) -> tuple[float, float]:
    """Estimate an accuracy from weighted answers, and how many random ones they are worth.

    Parameters
    ----------
    right
        Which answers agree [A].
    weights
        What `testing_weights` returns [A].

    Returns
    -------
    tuple of float
        The share that is right, and the effective number of answers.
    """
    total = weights.sum()
    if total <= 0:
        return math.nan, 0.0
    return float(weights @ right / total), float(total**2 / (weights**2).sum())
