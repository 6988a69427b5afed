"""Verdicts on workers who rate: what each means, and the rule by which it is given."""

from __future__ import annotations

from typing import NamedTuple

from crowdcore.audit.verdicts import UNDECIDED, Verdict
from crowdcore.wording import count

MIN_COMPARED_RATINGS = 8
"""Ratings that can be compared with others', below which nothing is said of a worker."""

MIN_FAVOURITE_SHARE = 0.95
"""A worker who gives one value this often may not be looking."""

MAX_RANDOM_SLOPE = 0.6
"""A worker whose slope may be 0 and is surely below this follows the truths too little."""

MIN_NOISE_RATIO = 2.0
"""A worker is noisy whose errors are surely so many times the crowd's usual ones."""

NARROW_SLOPE, WIDE_SLOPE = 0.7, 1.4
"""Slopes surely beyond these make a worker narrow or wide."""

MIN_BIAS_SHARE = 0.25
"""A bias counts that is surely beyond this share of the truths' standard deviation."""


class RatingNumbers(NamedTuple):
    """What is known of one worker who rates, for rules to judge by."""

    n_compared: int
    slope: float
    slope_low: float
    slope_high: float
    bias: float
    bias_low: float
    bias_high: float
    noise: float
    noise_low: float
    noise_high: float
    usual_noise: float  # the crowd's median
    truth_deviation: float
    favourite: float  # the value that the worker gives most often
    favourite_share: float

    @property
    def slope_text(self) -> str:
        """The slope with its interval, in words."""
        return (
            f"where others see 1 more, they give {self.slope:.2f} more "
            f"({self.slope_low:.2f} to {self.slope_high:.2f}; "
            f"{count(self.n_compared, 'comparable rating')})"
        )

    @property
    def bias_text(self) -> str:
        """The bias with its interval, in words."""
        side = "higher" if self.bias > 0 else "lower"
        ends = sorted((abs(self.bias_low), abs(self.bias_high)))
        return (
            f"rates {abs(self.bias):.2g} {side} than others ({ends[0]:.2g} to {ends[1]:.2g}; "
            f"{count(self.n_compared, 'comparable rating')})"
        )


def _too_few(worker: RatingNumbers) -> str | None:
    if worker.n_compared < MIN_COMPARED_RATINGS:
        return (
            f"{count(worker.n_compared, 'comparable rating')}; {MIN_COMPARED_RATINGS} are needed."
        )
    if worker.favourite_share >= MIN_FAVOURITE_SHARE:
        return None
    if not worker.slope_low <= worker.slope_high:
        return "The items they rated are all alike, so nothing shows whether they follow the truth."
    if worker.slope_low <= 0 and worker.slope_high > MAX_RANDOM_SLOPE:
        return f"Too uncertain: {worker.slope_text}."
    return None


def _one_answer(worker: RatingNumbers) -> str | None:
    if worker.favourite_share >= MIN_FAVOURITE_SHARE:
        return f"{worker.favourite_share:.0%} of their ratings are {worker.favourite:g}."
    return None


def _inverted(worker: RatingNumbers) -> str | None:
    return f"Rates against the others: {worker.slope_text}." if worker.slope_high < 0 else None


def _random(worker: RatingNumbers) -> str | None:
    if worker.slope_low <= 0 and worker.slope_high < MAX_RANDOM_SLOPE:
        return f"Does not follow the truths: {worker.slope_text}."
    return None


def _noisy(worker: RatingNumbers) -> str | None:
    if worker.noise_low > MIN_NOISE_RATIO * worker.usual_noise:
        return (
            f"Errors of {worker.noise:.2g} ({worker.noise_low:.2g} to {worker.noise_high:.2g}); "
            f"{worker.usual_noise:.2g} is usual."
        )
    return None


def _narrow(worker: RatingNumbers) -> str | None:
    if worker.slope_high < NARROW_SLOPE:
        return f"Uses less of the scale: {worker.slope_text}."
    return None


def _wide(worker: RatingNumbers) -> str | None:
    if worker.slope_low > WIDE_SLOPE:
        return f"Uses more of the scale: {worker.slope_text}."
    return None


def _lenient(worker: RatingNumbers) -> str | None:
    if worker.bias_low > MIN_BIAS_SHARE * worker.truth_deviation:
        return f"Always {worker.bias_text}."
    return None


def _strict(worker: RatingNumbers) -> str | None:
    if worker.bias_high < -MIN_BIAS_SHARE * worker.truth_deviation:
        return f"Always {worker.bias_text}."
    return None


def _good(worker: RatingNumbers) -> str | None:
    return (
        f"Follows the truths: {worker.slope_text}; errors of {worker.noise:.2g}, "
        f"{worker.usual_noise:.2g} is usual."
    )


CORRECTABLE = "Methods that know biases and slopes, such as gauss, correct it: do not dismiss them."

VERDICTS: tuple[Verdict, ...] = (
    Verdict(
        name=UNDECIDED.name,
        harm=0,
        rule=_too_few,
        meaning="Nothing can be said yet.",
        caveat="It is no verdict against the worker.",
        advice="Let them rate items that others rate too.",
    ),
    Verdict(
        name="one answer",
        harm=6,
        rule=_one_answer,
        meaning="Gives the same value to nearly everything.",
        caveat="It may be right where nearly all items are alike.",
        advice="Look at some of their items; leave their ratings out if they did not look.",
    ),
    Verdict(
        name="inverted",
        harm=7,
        rule=_inverted,
        meaning="Gives low ratings to what others find high, and the other way round.",
        caveat="It does not say why: the scale may have been shown the wrong way round.",
        advice="Ask how they read the scale. Leave their ratings out, or turn them round.",
    ),
    Verdict(
        name="random",
        harm=5,
        rule=_random,
        meaning="Ratings do not follow the truths.",
        caveat="It does not say that the worker is dishonest; the task may have been unclear.",
        advice="Leave their ratings out and see what changes.",
    ),
    Verdict(
        name="noisy",
        harm=4,
        rule=_noisy,
        meaning="Follows the truths, with errors far larger than usual.",
        caveat="Hard items make anybody noisy.",
        advice="Methods that weigh workers, such as gauss, give such ratings little weight.",
    ),
    Verdict(
        name="narrow",
        harm=2,
        rule=_narrow,
        meaning="Uses less of the scale than others.",
        caveat="Their order of the items may be as good as anybody's.",
        advice=CORRECTABLE,
    ),
    Verdict(
        name="wide",
        harm=2,
        rule=_wide,
        meaning="Uses more of the scale than others.",
        caveat="Their order of the items may be as good as anybody's.",
        advice=CORRECTABLE,
    ),
    Verdict(
        name="lenient",
        harm=1,
        rule=_lenient,
        meaning="Biased upwards: rates everything higher than others.",
        caveat="Nobody knows who is right about the level without gold.",
        advice=CORRECTABLE,
    ),
    Verdict(
        name="strict",
        harm=1,
        rule=_strict,
        meaning="Biased downwards: rates everything lower than others.",
        caveat="Nobody knows who is right about the level without gold.",
        advice=CORRECTABLE,
    ),
    Verdict(
        name="good",
        harm=0,
        rule=_good,
        meaning="Follows the truths, at the usual level, with usual errors.",
        caveat="Workers who share an error all look good.",
        advice="Keep them.",
    ),
)
"""All verdicts, in the order in which their rules are tried; the first that applies is given."""
