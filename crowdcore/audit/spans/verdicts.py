"""Verdicts on workers who mark spans: what each means, its rule, and its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from crowdcore.audit.verdicts import UNDECIDED, Verdict
from crowdcore.wording import count

MIN_TRUTH_SPANS = 20
"""Spans that a worker should have marked, below which nothing is said of them."""

MIN_GIVEN_SPANS = 10
"""Spans that a worker marked, below which nothing is said of where and as what."""

MIN_EMPTY_SHARE = 0.95
"""A worker who leaves so many of the texts with spans empty marks nothing."""

MIN_GAP_TO_CROWD = 0.15
"""How far below the crowd's precision or recall a worker's interval must lie."""

MIN_WRONG_TYPES = 0.20
"""The share of a worker's spans in the right place that have the wrong type."""

MIN_WRONG_EDGES = 0.25
"""The share of a worker's spans of the right type whose edges are off."""


@dataclass(frozen=True, kw_only=True)
class SpanNumbers:
    """What is known of one worker, for rules to judge by. Shares are between 0 and 1."""

    n_texts: int
    n_expected: int  # spans in the texts they saw, by the other workers' word
    n_given: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float
    crowd_precision: float
    crowd_recall: float
    touched: float  # share of the spans to find that some mark of theirs touches
    touched_high: float
    crowd_touched: float
    n_invented: int
    grounded: float  # share of their marks that touch a span that the others see
    grounded_high: float
    crowd_grounded: float
    n_with_spans: int  # texts with spans that they saw
    empty_low: float  # share of those that they left empty, and the lower end of its interval
    empty: float
    n_placed: int  # given spans that overlap a true one
    wrong_types: float
    wrong_types_low: float
    commonest_mistake: str  # such as "ORG for LOC"
    n_typed: int  # given spans that overlap a true one of their type
    wrong_edges: float
    wrong_edges_low: float
    commonest_edge: str
    chance: float  # precision of as many spans, as long and of such types, at random places

    @property
    def found(self) -> str:
        """How much was found, in words."""
        return (
            f"Marked {self.recall:.0%} ({self.recall_low:.0%} to {self.recall_high:.0%}) of "
            f"{count(self.n_expected, 'span')} that the others see; all workers together "
            f"{self.crowd_recall:.0%}."
        )

    @property
    def right(self) -> str:
        """How much of what was marked is right, in words."""
        return (
            f"{self.precision:.0%} ({self.precision_low:.0%} to {self.precision_high:.0%}) of "
            f"{count(self.n_given, 'marked span')} are exactly what the others see; of all "
            f"workers' {self.crowd_precision:.0%}."
        )


def _too_few(worker: SpanNumbers) -> str | None:
    if worker.n_expected >= MIN_TRUTH_SPANS:
        return None
    return (
        f"Saw only {count(worker.n_expected, 'span')} that others see too; "
        f"{MIN_TRUTH_SPANS} are needed."
    )


def _marks_nothing(worker: SpanNumbers) -> str | None:
    if worker.empty < MIN_EMPTY_SHARE or worker.recall_high > worker.crowd_recall / 2:
        return None
    return (
        f"Left {worker.empty:.0%} of {count(worker.n_with_spans, 'text')} empty in which the "
        "others see spans."
    )


def _random(worker: SpanNumbers) -> str | None:
    is_low = worker.precision_high < worker.crowd_precision / 2
    if worker.n_given < MIN_GIVEN_SPANS or not is_low or worker.precision_low > worker.chance:
        return None
    return f"{worker.right} Spans at random places would be right in {worker.chance:.0%} of cases."


def _misses_much(worker: SpanNumbers) -> str | None:
    if worker.touched_high >= worker.crowd_touched - MIN_GAP_TO_CROWD:
        return None
    return (
        f"No mark touches {1 - worker.touched:.0%} of {count(worker.n_expected, 'span')} that the "
        f"others see; all workers together miss {1 - worker.crowd_touched:.0%}."
    )


def _over_marks(worker: SpanNumbers) -> str | None:
    if worker.n_given < MIN_GIVEN_SPANS:
        return None
    if worker.grounded_high >= worker.crowd_grounded - MIN_GAP_TO_CROWD:
        return None
    return (
        f"{worker.n_invented:,} of {count(worker.n_given, 'marked span')} touch nothing that the "
        f"others see, {1 - worker.grounded:.0%}; of all workers' {1 - worker.crowd_grounded:.0%}."
    )


def _weak(worker: SpanNumbers) -> str | None:
    finds_few = worker.recall_high < worker.crowd_recall - MIN_GAP_TO_CROWD
    errs_much = worker.precision_high < worker.crowd_precision - MIN_GAP_TO_CROWD
    return f"{worker.found} {worker.right}" if finds_few or errs_much else None


def _wrong_types(worker: SpanNumbers) -> str | None:
    if worker.n_placed < MIN_GIVEN_SPANS or worker.wrong_types_low <= MIN_WRONG_TYPES:
        return None
    return (
        f"Gave {worker.wrong_types:.0%} of {count(worker.n_placed, 'span')} in the right place "
        f"another type than the others, most often {worker.commonest_mistake}."
    )


def _sloppy_edges(worker: SpanNumbers) -> str | None:
    if worker.n_typed < MIN_GIVEN_SPANS or worker.wrong_edges_low <= MIN_WRONG_EDGES:
        return None
    return (
        f"The edges of {worker.wrong_edges:.0%} of {count(worker.n_typed, 'span')} are not where "
        f"the others set them, most often: {worker.commonest_edge}."
    )


def _good(worker: SpanNumbers) -> str | None:
    return f"{worker.found} {worker.right}"


SPAN_VERDICTS: tuple[Verdict, ...] = (
    Verdict(
        rule=_too_few,
        name=UNDECIDED.name,
        harm=0,
        meaning="Too few spans can be compared with what others see.",
        caveat=UNDECIDED.caveat,
        advice="Let the worker annotate more texts that others annotate too. This is no reason to "
        "remove anybody.",
    ),
    Verdict(
        rule=_marks_nothing,
        name="marks nothing",
        harm=4,
        meaning="The worker leaves nearly every text empty, also where the others see spans.",
        caveat="It does not say why: a broken page looks the same.",
        advice="Ask whether marking works for them. Leave their annotations out: an empty "
        "annotation counts as a vote against every span.",
    ),
    Verdict(
        rule=_random,
        name="random",
        harm=5,
        meaning="The worker's spans lie where spans at random places would lie.",
        caveat="Texts that were mixed up in an export look the same.",
        advice="Look at the texts below. Leave the worker out if the marks make no sense.",
    ),
    Verdict(
        rule=_over_marks,
        name="over-marks",
        harm=3,
        meaning="Clearly more of the worker's marks lie where the others see nothing.",
        caveat="Where the others miss much, a careful worker seems to mark too much.",
        advice="Read some of the spans that nobody else sees, and settle what is to be marked.",
    ),
    Verdict(
        rule=_misses_much,
        name="misses much",
        harm=2,
        meaning="The worker leaves clearly more spans unmarked than the others.",
        caveat="What they do mark may be right: methods that learn workers make use of it.",
        advice="Show them what they missed. A vote suffers from them more than `bsc` does.",
    ),
    Verdict(
        rule=_wrong_types,
        name="wrong types",
        harm=2,
        meaning="The worker finds spans, but gives many of them another type than the others.",
        caveat="The guideline may be unclear, or the worker may be the one who has it right.",
        advice="Settle the types that are confused; `bsc` learns such a habit and undoes it.",
    ),
    Verdict(
        rule=_sloppy_edges,
        name="sloppy edges",
        harm=1,
        meaning="The worker finds spans, but begins or ends many of them elsewhere.",
        caveat="The guideline may not say whether titles, articles or brackets belong to a span.",
        advice="Settle where spans begin and end, and show the worker their usual mistake.",
    ),
    Verdict(
        rule=_weak,
        name="weak",
        harm=1,
        meaning="Clearly fewer spans are exactly right than of the others, and no one kind of "
        "error explains it.",
        caveat="It does not mean that the worker is careless: the task may be hard for them.",
        advice="Show them some of their errors, and give them easier texts.",
    ),
    Verdict(
        rule=_good,
        name="good",
        harm=0,
        meaning="Finds about as many spans as the others, and marks about as few wrong ones.",
        caveat="The truths come from the same crowd: a mistake that all share is not seen.",
        advice="Nothing to do.",
    ),
)
"""Every verdict on workers who mark spans, in the order in which the rules are tried."""
