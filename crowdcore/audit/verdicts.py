"""Verdicts on workers: what each means, the rule by which it is given, and its evidence.

To add a verdict, add an entry to `VERDICTS`: the order on pages, help texts, documentation and
the check that every verdict has a look and a test are derived from that list. Rules read what
`crowdcore.audit.judging` found: probabilities and intervals that no worker's own vote is part of.
Other kinds of labels keep lists of their own, of the same class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from crowdcore.audit.judging.accusations import MAX_INNOCENT
from crowdcore.audit.judging.worker_types import MIN_LABELS
from crowdcore.audit.worker_numbers import WorkerNumbers
from crowdcore.wording import count

MAX_SHOWN = 0.99
"""Probabilities above this are not told apart."""

SURE = 0.95
"""From this probability on it counts as sure that a worker is below the requirement."""

Rule = Callable[[Any], str | None]
"""Returns the evidence as a sentence where the verdict applies, else None."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A judgement on a worker, with the rule by which it is given.

    Attributes
    ----------
    name
        What tables and pages call it.
    harm
        How much harm such a worker may do to the truths: the higher, the further up on the page.
        0 stands for none that is known.
    rule
        Returns the evidence where the verdict applies, else None.
    probability
        How sure the verdict is, from the worker's numbers.
    meaning, caveat, advice
        What it says about a worker, what it does not say, and what to do about it.
    errors
        How often it is wrong, as measured; "" where it was not.
    """

    name: str
    harm: int
    rule: Rule
    meaning: str
    caveat: str
    advice: str
    errors: str = ""
    probability: Callable[[Any], float] = lambda _worker: math.nan


def follows_a_pattern(worker: WorkerNumbers) -> str | None:
    """Apply where each answer follows from the answer before, and not from the item."""
    if not worker.has_pattern:
        return None
    return (
        f"{sure(worker.pattern)}: each answer follows from the one before, on "
        f"{worker.comparable}; right in {worker.rate}."
    )


def stops_looking(worker: WorkerNumbers) -> str | None:
    """Apply where a worker looks at the items up to a label, and clearly less after it."""
    if not worker.drift_at:
        return None
    return (
        f"{sure(worker.drift)}: up to about comparable label {worker.drift_at:,} right in "
        f"{worker.before:.0%}, after it in {worker.after:.0%}, as the others see it."
    )


def careless_when_fast(worker: WorkerNumbers) -> str | None:
    """Apply where labels that took far less time than usual are also clearly worse."""
    if not worker.n_fast:
        return None
    return (
        f"{sure(worker.haste)}: {count(worker.n_fast, 'label')} took under a third of the "
        f"usual time and are right in {worker.right_fast:.0%}, the others in "
        f"{worker.right_slow:.0%}, as the others see it."
    )


def gives_one_class(worker: WorkerNumbers) -> str | None:
    """Apply to accused workers who most probably give one class whatever the item is."""
    if not worker.is_accused or worker.kind_of_bad != "one answer":
        return None
    return (
        f"{sure(worker.bad)}: gave {worker.top_class!r} {worker.n_top:,} times of "
        f"{worker.n_compared:,}; the items suggest it {worker.top_seen:.0f} times."
    )


def avoids_the_truth(worker: WorkerNumbers) -> str | None:
    """Apply to accused workers who most probably give other classes than the true one."""
    if not worker.is_accused or worker.kind_of_bad != "inverted":
        return None
    return (
        f"{sure(worker.bad)}: right in {worker.rate}, less often than the "
        f"{worker.chance:.0%} of blind answers; perhaps swapped buttons or a misread instruction."
    )


def does_not_look(worker: WorkerNumbers) -> str | None:
    """Apply to accused workers whose answers hardly depend on the item."""
    if not worker.is_accused or worker.kind_of_bad != "random":
        return None
    return (
        f"{sure(worker.bad)}: at most a quarter of the way from guessing to always right, on "
        f"{worker.comparable}. Right in {worker.rate}; answering blindly gives "
        f"{worker.chance:.0%}."
    )


def answers_alike(worker: WorkerNumbers) -> str | None:
    """Apply to workers who answer like another beyond what their skill explains."""
    return worker.alike or None


def errs_with_a_pattern(worker: WorkerNumbers) -> str | None:
    """Apply where a favourite class, or one class taken for another, explains the errors."""
    if not worker.is_biased:
        return None
    if worker.is_confusing:
        errors = (
            f"takes {worker.taken!r} for {worker.taken_for!r} in {worker.n_taken:.0f} of "
            f"{worker.n_of_taken:.0f} items"
        )
    else:
        errors = (
            f"says {worker.favourite!r} {100 * worker.surplus:.0f} points more often than others "
            f"would on the same items"
        )
    return f"{sure(worker.biased)}: {errors}. A method with confusion matrices undoes this."


def below_the_requirement(worker: WorkerNumbers) -> str | None:
    """Apply where a worker is surely below the accuracy that the manager asks for."""
    if worker.requirement is None or worker.below < SURE or worker.n_compared < MIN_LABELS:
        return None
    return (
        f"{sure(worker.below)} to be below the required {worker.requirement:.0%}: right in "
        f"{worker.rate}; {worker.comparable}."
    )


def cannot_be_told(worker: WorkerNumbers) -> str | None:
    """Apply where too few labels can be compared, or guessing and work explain them alike."""
    if worker.n_classes == 1:
        return "There is only one class, so nobody can be wrong."
    if worker.n_compared < MIN_LABELS:
        return f"Only {worker.comparable}; {MIN_LABELS} are needed to say anything."
    if worker.bad <= MAX_INNOCENT and not worker.is_accused:
        return None
    return (
        f"{worker.comparable.capitalize()} cannot tell guessing ({worker.chance:.0%} right) from "
        f"work: {worker.bad:.0%} for guessing. About {labels_to_decide(worker):,} more comparable "
        "labels or checked items would settle it."
    )


def looks_at_the_items(worker: WorkerNumbers) -> str | None:
    """Apply to everybody else: nothing speaks against them."""
    return f"Right in {worker.rate}; answering blindly gives {worker.chance:.0%}."


def sure(probability: float) -> str:
    """Say how sure something is; nothing that rests on a model is 100% sure."""
    return "More than 99% sure" if probability > MAX_SHOWN else f"{probability:.0%} sure"


def labels_to_decide(worker: WorkerNumbers) -> int:
    """Estimate how many more labels would tell guessing from work like that of the crowd.

    Each label is worth the divergence between the two; odds of 19 to 1 decide.
    """
    right, chance = (min(max(x, 0.02), 0.98) for x in (worker.crowd_accuracy, worker.chance))
    worth = right * math.log(right / chance) + (1 - right) * math.log((1 - right) / (1 - chance))
    return min(200, max(5, 5 * math.ceil(math.log(19) / max(worth, 1e-3) / 5)))


ACCUSED = (
    "In simulated crowds with a fifth of bad workers 2 to 8 in 1,000 honest workers were accused "
    "(random, one answer or inverted), and 1 to 4 in 100 accusations were wrong; the list states "
    "its expected number. With 45% of bad workers 2 in 100 honest ones are accused. In real crowds "
    "1 in 7 accused was slightly better than chance on checked items."
)
"""How often an accusation is wrong; see docs/benchmarks.md."""

UNDECIDED = Verdict(
    name="undecided",
    harm=0,
    rule=cannot_be_told,
    probability=lambda worker: worker.bad,
    meaning="Nothing can be said yet: too few labels can be compared, or guessing and work explain "
    "them about equally well.",
    caveat="It speaks neither for the worker nor against them.",
    errors="Nothing is claimed. In simulated crowds about a quarter of those with a probability "
    "of 25 to 50% were really bad, and half of those with 50 to 75%.",
    advice="Collect more labels on items that others label too, or check some of their items. "
    "This is no reason to remove anybody.",
)
GOOD = Verdict(
    name="good",
    harm=0,
    rule=looks_at_the_items,
    probability=lambda worker: 1 - worker.bad,
    meaning="The answers follow the items, and nothing speaks against the worker.",
    caveat="Not every label is right, and a crowd that errs together cannot see it: only checked "
    "items can.",
    errors="In simulated crowds 2 in 1,000 of those with a probability below 5% of being bad were "
    "bad.",
    advice="Keep.",
)
VERDICTS = (
    Verdict(
        name="pattern",
        harm=7,
        rule=follows_a_pattern,
        probability=lambda worker: worker.pattern,
        meaning="Each answer follows from the answer before it, whatever the item is: such as a, "
        "b, c, a, b, c.",
        caveat="It is no proof of intent. It rests on the order of the labels: if that is not the "
        "order of work, it means nothing.",
        errors="Of 1,174 honest simulated workers none was called so; of those who go round the "
        "classes 97 to 100% were found. Not measured on real times.",
        advice="Review ten items in their order; exclude the worker if these were plain.",
    ),
    Verdict(
        name="drifting",
        harm=3,
        rule=stops_looking,
        probability=lambda worker: worker.drift,
        meaning="Looks at the items up to some label, and clearly less often after it.",
        caveat="It does not say why: later items may be of another kind, or the task has changed. "
        "The first part is as good as anybody's.",
        errors="Of 1,174 honest simulated workers none was called so. Of those who stop looking "
        "half-way 8% are found with 20 to 49 labels, 31% with 50 to 99 and 60% with more. "
        "Not measured on real times.",
        advice="Review some labels of the later part; if they are careless, leave out that part "
        "alone and have it labelled again by others.",
    ),
    Verdict(
        name="too fast in part",
        harm=2,
        rule=careless_when_fast,
        probability=lambda worker: worker.haste,
        meaning="Some labels took under a third of the usual time, and these are clearly worse "
        "than the worker's others.",
        caveat="Speed alone is never a verdict: quick labels that are right count as work.",
        errors="Of 1,174 honest simulated workers none was called so. Of those who click through "
        "half of their labels 45% are found with 50 to 99 labels and 64% with more. Not "
        "measured on real times.",
        advice="Review some of the fast labels; if they are careless, leave out these alone and "
        "have the items labelled again by others.",
    ),
    Verdict(
        name="one answer",
        harm=5,
        rule=gives_one_class,
        probability=lambda worker: worker.bad,
        meaning="Gives nearly always the same class, far more often than the items suggest.",
        caveat="It is no proof that the worker did not look: they may have taken the task for a "
        "search for that class. If the crowd is wrong about the class, they may even be right.",
        errors=ACCUSED,
        advice="Review ten items where others say another class; exclude the worker if these were "
        "plain.",
    ),
    Verdict(
        name="inverted",
        harm=8,
        rule=avoids_the_truth,
        probability=lambda worker: worker.bad,
        meaning="Gives other classes than the true one, more often than blind answers would: "
        "classes are mixed up.",
        caveat="It is no proof of bad intent: swapped keys and a misread instruction look the "
        "same. If most of the crowd mixes up two classes, whoever is right looks inverted.",
        errors=ACCUSED,
        advice="Review some items and ask whether instructions or keys were misread. Methods with "
        "confusion matrices turn such labels round; for others, exclude the worker.",
    ),
    Verdict(
        name="random",
        harm=6,
        rule=does_not_look,
        probability=lambda worker: worker.bad,
        meaning="The answers hardly depend on the item: at most a quarter of the way from guessing "
        "to always right.",
        caveat="It does not say why: guessing, a misunderstood task and a broken page look alike. "
        "Where the crowd errs together, a lone worker who is right looks so too.",
        errors=ACCUSED,
        advice="Review ten items or check them against known answers; exclude the worker if "
        "these were plain.",
    ),
    Verdict(
        name="alike",
        harm=4,
        rule=answers_alike,
        meaning="Answers like another worker, beyond what the skill of both explains: also where "
        "both are wrong.",
        caveat="It does not say who copied, or that anybody did: people who learnt from each "
        "other, or one person with two accounts, look the same.",
        errors="In simulated crowds one pair in about 260,000 that had nothing to do with each "
        "other was called so. Of copies 90% are found from 40 shared items on, half from "
        "20 to 39. In real crowds people who share a wrong idea look the same.",
        advice="Review their shared items and ask. If the answers were copied, let the group vote "
        "once per item.",
    ),
    Verdict(
        name="biased",
        harm=1,
        rule=errs_with_a_pattern,
        probability=lambda worker: worker.biased,
        meaning="Leans to one class, or takes one class for another, beyond what others do on the "
        "same items.",
        caveat="The labels are not useless: known errors still tell the truth. On real crowds one "
        "such verdict in three is not confirmed by checked answers.",
        errors="In simulated crowds up to 5 in 1,000 other honest workers were called so; of the "
        "lopsided 83 to 85% are found from 100 labels on. In real crowds one in three is "
        "not confirmed by checked answers.",
        advice="Keep: a method with confusion matrices corrects it. Review the items and make the "
        "guideline clearer.",
    ),
    Verdict(
        name="weak",
        harm=1,
        rule=below_the_requirement,
        probability=lambda worker: worker.below,
        meaning="Surely below the accuracy that the manager asks for. Without such a requirement "
        "nobody is weak.",
        caveat="It does not say that the worker is careless: they may have had the harder items.",
        errors="It is given from 95% on, so up to 5 in 100 may be wrong; without checked items "
        "the others' errors come on top.",
        advice="Review some items with the worker and train them again; give them fewer items "
        "meanwhile.",
    ),
    UNDECIDED,
    GOOD,
)
"""All verdicts, in the order in which their rules are tried; the first that applies is given."""

_BY_NAME = {verdict.name: verdict for verdict in VERDICTS}

BEST_FIRST = tuple(sorted(_BY_NAME, key=lambda name: (name == UNDECIDED.name, _BY_NAME[name].harm)))
"""Names of the verdicts, the least harmful first; those of whom nothing is known come last."""

WORST_FIRST = tuple(
    sorted(_BY_NAME, key=lambda name: (name == UNDECIDED.name, -_BY_NAME[name].harm))
)
"""Names of the verdicts, the most harmful first; those of whom nothing is known come last."""

IN_DOUBT = tuple(name for name in BEST_FIRST if name not in (GOOD.name, UNDECIDED.name))
"""Names of the verdicts that speak against a worker, the least harmful first."""


def judge(worker: Any, verdicts: Sequence[Verdict] = VERDICTS) -> tuple[Verdict, str]:
    """Judge one worker by the first rule that applies.

    Parameters
    ----------
    worker
        The worker's numbers, as the rules of the list read them.
    verdicts
        The list of the kind of labels; its last rule applies to everybody.

    Returns
    -------
    verdict
        What is said of the worker.
    evidence
        The numbers behind it, as a sentence.
    """
    for verdict in verdicts:
        if evidence := verdict.rule(worker):
            return verdict, evidence
    raise AssertionError("the last rule applies to everybody")


def verdict_named(name: str) -> Verdict | None:
    """Return the verdict of this name; None for one that an earlier version gave."""
    return _BY_NAME.get(name)


def describe_verdicts() -> str:
    """Say in Markdown what each verdict means, one line each, the least harmful first."""
    return "\n".join(f"- **{name}**: {_BY_NAME[name].meaning}" for name in BEST_FIRST)
