"""Verdicts on workers who tick several classes, each with its rule and evidence."""

from __future__ import annotations

from typing import NamedTuple

from crowdcore.audit.verdicts import UNDECIDED, Verdict

MIN_COMPARED_ANSWERS = 5
"""Answers that can be compared with others', below which nothing is said of a worker."""

MIN_FAVOURITE_SHARE = 0.9
"""A worker who gives one and the same set this often may not be looking."""

MIN_GAP_TO_CROWD = 0.10
"""How far below the crowd's a worker's rate must lie to be spoken of."""


class SetWorker(NamedTuple):
    """What is known of one worker, for rules to judge by. Shares are between 0 and 1."""

    n_labels: int
    n_compared: int  # answers to items that somebody else answered too
    similarity: float  # mean Jaccard similarity with others' answers, with its 95 % interval
    similarity_low: float
    similarity_high: float
    chance: float  # the same, had the answers been given to other items
    crowd_similarity: float  # of all workers together
    favourite: str  # the set that the worker gives most often
    favourite_share: float  # of their answers
    favourite_seen: float  # of others' answers to the items they saw
    precision: float  # share of their ticks that are in the truth, with its 95 % interval
    precision_low: float
    precision_high: float
    recall: float  # share of the classes of the truth that they ticked, with its 95 % interval
    recall_low: float
    recall_high: float
    crowd_precision: float
    crowd_recall: float

    @property
    def rate(self) -> str:
        """The similarity with its interval, in words."""
        interval = f"{self.similarity_low:.0%} to {self.similarity_high:.0%}"
        return f"{self.similarity:.0%} ({interval}) over {self.n_compared:,} answers"


def too_few_to_compare(worker: SetWorker) -> str | None:
    """Apply where hardly any answer can be compared."""
    if worker.n_compared < MIN_COMPARED_ANSWERS:
        return f"Only {worker.n_compared} answers can be compared."
    return None


def gives_one_set(worker: SetWorker) -> str | None:
    """Apply where nearly all answers are one set, and others gave other ones."""
    unexplained = worker.favourite_share > worker.favourite_seen + MIN_GAP_TO_CROWD
    behind = worker.similarity_high < worker.crowd_similarity
    if worker.favourite_share < MIN_FAVOURITE_SHARE or not unexplained or not behind:
        return None
    return (
        f"Gave {worker.favourite} in {worker.favourite_share:.0%} of {worker.n_labels:,} answers; "
        f"others gave it in {worker.favourite_seen:.0%} of their answers to these items."
    )


def no_better_than_chance(worker: SetWorker) -> str | None:
    """Apply where answers fit their items no better than other items, and the crowd's do."""
    if (
        worker.similarity_low > worker.chance
        or worker.similarity_high >= worker.crowd_similarity
        or worker.crowd_similarity <= worker.chance
    ):
        return None
    return (
        f"Shares {worker.rate} of the classes with others who saw the same items; the same "
        f"answers to other items would share {worker.chance:.0%}."
    )


def ticks_too_much(worker: SetWorker) -> str | None:
    """Apply where far more ticks than the crowd's are not in the truth, and few are missing."""
    if not _adds(worker) or _misses(worker):
        return None
    return (
        f"{_rate(worker.precision, worker.precision_low, worker.precision_high)} of their ticks "
        f"are in the truth; of the crowd's ticks {worker.crowd_precision:.0%} are."
    )


def ticks_too_little(worker: SetWorker) -> str | None:
    """Apply where far more classes than for the crowd stay without a tick, and few are added."""
    if not _misses(worker) or _adds(worker):
        return None
    return (
        f"Ticked {_rate(worker.recall, worker.recall_low, worker.recall_high)} of the classes in "
        f"the truth; the crowd ticks {worker.crowd_recall:.0%}."
    )


def far_behind(worker: SetWorker) -> str | None:
    """Apply where a worker both adds and misses, or agrees far less than the crowd does."""
    gap = worker.crowd_similarity - MIN_GAP_TO_CROWD
    surely_behind = worker.similarity_high < worker.crowd_similarity and worker.similarity < gap
    if not surely_behind and not (_adds(worker) and _misses(worker)):
        return None
    return (
        f"Shares {worker.rate} of the classes with others who saw the same items; the crowd as a "
        f"whole shares {worker.crowd_similarity:.0%}."
    )


def better_than_chance(worker: SetWorker) -> str | None:
    """Apply where answers fit their items surely better than other items."""
    if worker.similarity_low <= worker.chance:
        return None
    return (
        f"Shares {worker.rate} of the classes with others who saw the same items; the same "
        f"answers to other items would share {worker.chance:.0%}."
    )


def _adds(worker: SetWorker) -> bool:
    return worker.precision_high < worker.crowd_precision - MIN_GAP_TO_CROWD


def _misses(worker: SetWorker) -> bool:
    return worker.recall_high < worker.crowd_recall - MIN_GAP_TO_CROWD


def _rate(value: float, low: float, high: float) -> str:
    return f"{value:.0%} ({low:.0%} to {high:.0%})"


VERDICTS = (
    Verdict(
        name=UNDECIDED.name,
        harm=0,
        rule=too_few_to_compare,
        meaning="Nothing can be said yet: too few answers can be compared, or the worker may be as "
        "good as the crowd as well as blind.",
        caveat="It speaks neither for the worker nor against them.",
        advice="Collect more answers to items that others answer too. This is no reason to remove "
        "anybody.",
    ),
    Verdict(
        name="one answer",
        harm=3,
        rule=gives_one_set,
        meaning="Ticks nearly always the same classes, where others tick other ones.",
        caveat="It is no proof that the worker did not look: the task may be misunderstood.",
        advice="Look at some items whose truth is another set; exclude the worker if these were "
        "plain.",
    ),
    Verdict(
        name="random",
        harm=4,
        rule=no_better_than_chance,
        meaning="Answers fit their items no better than any other items, and surely worse than the "
        "crowd's.",
        caveat="It does not say why: guessing, a misunderstood task and a broken page look alike.",
        advice="Exclude the worker and see what that changes.",
    ),
    Verdict(
        name="ticks too much",
        harm=2,
        rule=ticks_too_much,
        meaning="Ticks many classes that do not apply, and misses few that do.",
        caveat="The answers are not useless: what is not ticked surely does not apply. It says "
        "nothing about intent.",
        advice="Keep the answers and use a method that models workers; tell the worker when a "
        "class applies.",
    ),
    Verdict(
        name="ticks too little",
        harm=1,
        rule=ticks_too_little,
        meaning="Misses many classes that apply, and ticks few that do not.",
        caveat="The answers are not useless: what is ticked surely applies. The worker may take "
        "the task for a search for the main class.",
        advice="Keep the answers and use a method that models workers; tell the worker that "
        "several classes may apply.",
    ),
    Verdict(
        name="weak",
        harm=2,
        rule=far_behind,
        meaning="Agrees with others far less than the crowd does, without one cause that would "
        "explain it.",
        caveat="It does not say that the worker is careless: they may have had the harder items.",
        advice="Explain the task again. Most methods give such answers little weight by "
        "themselves.",
    ),
    Verdict(
        name="good",
        harm=0,
        rule=better_than_chance,
        meaning="Surely better than blind answers, and not far behind the crowd.",
        caveat="Not every answer is right, and the worker may be weaker in some classes: the table "
        "by class shows it.",
        advice="Nothing to do.",
    ),
)
"""All verdicts on sets, in the order in which their rules are tried."""


def judge(worker: SetWorker) -> tuple[str, str]:
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
    crowd = f"The interval also holds the crowd's {worker.crowd_similarity:.0%}."
    return UNDECIDED.name, (
        f"Shares {worker.rate} of the classes with others who saw the same items; the same answers "
        f"to other items would share {worker.chance:.0%}. {crowd}"
    )
