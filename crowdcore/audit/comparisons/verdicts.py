"""Verdicts on workers who compare items, each with its rule and evidence."""

from __future__ import annotations

from typing import NamedTuple

from crowdcore.audit.verdicts import UNDECIDED, Verdict

MIN_COMPARED = 10
"""Comparisons that others can be asked about, below which nothing is said of a worker."""

MIN_SIDE_SHARE = 0.60
"""How often a worker must surely choose one side, between equal items, to be called biased."""

BLIND_SHARPNESS = 0.6
"""A worker whose sharpness is surely below this tells items apart hardly better than blindly."""

REVERSED_SHARPNESS = -0.15
"""A worker whose sharpness is surely below this prefers what others like less."""

MIN_TRIADS = 20
"""Triples of items that a worker must have compared in full before cycles count."""

MIN_EXCESS_CYCLES = 0.05
"""By how much the share of cycles must surely exceed the average worker's."""

WEAK_SHARPNESS = 0.7
"""A worker whose sharpness is surely below this is called weak."""


class ComparingWorker(NamedTuple):
    """What is known of one worker, for rules to judge by. Shares are between 0 and 1."""

    n_labels: int
    n_compared: int  # comparisons of items that others compared too
    agreement: float  # with the order of the others, with its 95 % interval
    agreement_low: float
    agreement_high: float
    expected_agreement: float  # of the average worker on the same comparisons
    sharpness: float
    sharpness_low: float
    sharpness_high: float
    left_share: float  # how often they would choose the left of two equal items
    left_low: float
    left_high: float
    n_left: int  # how often they chose the left item, of their decided comparisons
    n_decided: int
    expected_left: float  # the share that the items themselves explain
    triads: float
    cyclic: float  # share of the triads, with the lower end of its 95 % interval
    cyclic_low: float
    expected_cyclic: float
    repeated: float
    flipped: float

    @property
    def rate(self) -> str:
        """The agreement with its interval, beside the average worker's, in words."""
        return (
            f"Prefers the item that the others rank higher in {self.agreement:.0%} "
            f"({self.agreement_low:.0%} to {self.agreement_high:.0%}) of {self.n_compared:,} "
            f"comparisons; an average worker would in {self.expected_agreement:.0%}."
        )


def too_few_to_compare(worker: ComparingWorker) -> str | None:
    """Apply where others say too little about the items."""
    if worker.n_compared < MIN_COMPARED:
        return f"Only {worker.n_compared} comparisons are of items that others compared too."
    return None


def prefers_a_side(worker: ComparingWorker) -> str | None:
    """Apply where one side surely wins more often than the items explain."""
    share = worker.n_left / max(1, worker.n_decided)
    side, chosen, explained = "left", share, worker.expected_left
    low, high = worker.left_low, worker.left_high
    if low + high < 1:
        side, chosen, explained = "right", 1 - share, 1 - worker.expected_left
        low, high = 1 - high, 1 - low
    if low < MIN_SIDE_SHARE:
        return None
    return (
        f"Chose the {side} item in {chosen:.0%} of {worker.n_decided:,} decided comparisons, where "
        f"the items explain {explained:.0%}. Between equal items that is {low:.0%} to "
        f"{high:.0%} for the {side}."
    )


def reversed_order(worker: ComparingWorker) -> str | None:
    """Apply where the worker surely prefers what others like less."""
    return worker.rate if worker.sharpness_high < REVERSED_SHARPNESS else None


def no_better_than_chance(worker: ComparingWorker) -> str | None:
    """Apply where answers hardly depend on the items, and surely less than the average's."""
    blind = worker.sharpness_low <= 0 and worker.sharpness_high < BLIND_SHARPNESS
    if not blind:
        return None
    return f"{worker.rate}{_cycles(worker)}"


def contradicts_themselves(worker: ComparingWorker) -> str | None:
    """Apply where surely more triples of items have no order than the average worker leaves."""
    excess = worker.cyclic_low - worker.expected_cyclic
    if worker.triads < MIN_TRIADS or excess < MIN_EXCESS_CYCLES:
        return None
    return f"{_cycles(worker).strip()} {worker.rate}"


def weak(worker: ComparingWorker) -> str | None:
    """Apply where the worker surely follows the items less than the average worker."""
    return worker.rate if worker.sharpness_high < WEAK_SHARPNESS else None


def better_than_chance(worker: ComparingWorker) -> str | None:
    """Apply where answers surely follow the items."""
    return worker.rate if worker.sharpness_low > 0 else None


def _cycles(worker: ComparingWorker) -> str:
    if not worker.triads:
        return ""
    sentence = (
        f" {worker.cyclic:.0%} of {worker.triads:,.0f} triples of items go round in a circle (a "
        f"over b, b over c, c over a); an average worker's would in {worker.expected_cyclic:.0%}, "
        "blind answers' in 25%."
    )
    if worker.repeated:
        sentence += (
            f" Of {worker.repeated:,.0f} pairs that they compared again, {worker.flipped:,.0f} "
            "got another winner."
        )
    return sentence


VERDICTS = (
    Verdict(
        name=UNDECIDED.name,
        harm=0,
        rule=too_few_to_compare,
        meaning="Nothing can be said yet: others say too little about the items that the worker "
        "compared, or these items are too alike.",
        caveat="It speaks neither for the worker nor against them.",
        advice="Collect more comparisons of items that others compare too. This is no reason to "
        "remove anybody.",
    ),
    Verdict(
        name="side bias",
        harm=3,
        rule=prefers_a_side,
        meaning="Chooses one side of the screen more often than the items explain.",
        caveat="It is no proof that the worker does not look: reading order favours one side, "
        "for language models as for people. The other answers may be sound.",
        advice="Show items on random sides. bayesian_bt takes a lean to one side out; exclude the "
        "worker if nothing else guides the answers.",
    ),
    Verdict(
        name="reversed",
        harm=5,
        rule=reversed_order,
        meaning="Prefers what the others like less.",
        caveat='It is no proof of bad intent: swapped buttons and the question "which is worse" '
        "look the same. In matters of taste the worker may simply differ.",
        advice="Ask whether the question or the buttons were misread. bayesian_bt turns such "
        "answers round.",
    ),
    Verdict(
        name="random",
        harm=4,
        rule=no_better_than_chance,
        meaning="The answers hardly depend on the items that are compared.",
        caveat="It does not say why: guessing, a misunderstood question and a taste that nobody "
        "shares look alike. Few circles in the worker's own order speak for a taste.",
        advice="Exclude the worker and see what that changes.",
    ),
    Verdict(
        name="intransitive",
        harm=2,
        rule=contradicts_themselves,
        meaning="Contradicts their own answers: more often than others prefers a to b, b to c, "
        "and c to a.",
        caveat="Items that differ in several ways can make anybody go round in a circle.",
        advice="Ask what the worker judges by; explain the question again.",
    ),
    Verdict(
        name="weak",
        harm=1,
        rule=weak,
        meaning="Follows the items, but surely less than the average worker.",
        caveat="It does not say that the worker is careless: tastes differ.",
        advice="Explain the question again. bayesian_bt gives such answers little weight.",
    ),
    Verdict(
        name="good",
        harm=0,
        rule=better_than_chance,
        meaning="The answers surely follow the items, about as much as others' do.",
        caveat="Not every answer is right.",
        advice="Nothing to do.",
    ),
)
"""All verdicts on comparisons, in the order in which their rules are tried."""


def judge(worker: ComparingWorker) -> tuple[str, str]:
    """Judge one worker by the first rule that applies.

    Parameters
    ----------
    worker
        The worker's numbers.

    Returns
    -------
    verdict
        Its name; "undecided" where no rule applies.
    evidence
        The numbers behind it, as a sentence.
    """
    for verdict in VERDICTS:
        if evidence := verdict.rule(worker):
            return verdict.name, evidence
    return UNDECIDED.name, f"{worker.rate} Blind answers cannot be ruled out."
