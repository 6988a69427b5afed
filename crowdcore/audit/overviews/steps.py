"""What to do next after a run, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crowdcore.audit.agreements.panel import TENTATIVE
from crowdcore.audit.kinds import audit_of
from crowdcore.audit.overviews.source import OPEN_ITEMS, OverviewSource, item_noun
from crowdcore.audit.spot_check import describe_margins
from crowdcore.decisions.applying import DECIDABLE
from crowdcore.wording import count, percent, rate

WIDE_INTERVAL = 0.1
"""An interval of the accuracy wider than this is worth narrowing."""

MAX_NAMED = 4
"""Workers or findings that are named; of more it says how many."""


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """Something to do next.

    Attributes
    ----------
    title, why
        What, and why.
    button
        What the button says that leads there.
    page, query
        The page of the dashboard, and what to select there.
    """

    title: str
    why: str
    button: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)


def next_steps(source: OverviewSource, n_open: int) -> list[NextStep]:
    """List what to do next.

    Parameters
    ----------
    source
        What is known of the run.
    n_open
        Items that need a person.

    Returns
    -------
    list of NextStep
        The most pressing first; handing on comes last.
    """
    steps = [_read_findings(source), _run_decided(source), _decide(source), _check(source)]
    steps += [_look(source, n_open), _disagreement(source), _compare(source)]
    hand_on = NextStep(
        title="Hand it on",
        why="Truths, workers and cleaned labels as files, and a report that says how they came "
        "about.",
        button="Export and report",
        page="export",
    )
    return [*(step for step in steps if step is not None), hand_on]


def _read_findings(source: OverviewSource) -> NextStep | None:
    if not source.warnings:
        return None
    more = " …" if len(source.warnings) > MAX_NAMED else ""
    return NextStep(
        title="Read what was found in the file",
        why=f"{count(len(source.warnings), 'warning')}: "
        f"{'; '.join(source.warnings[:MAX_NAMED])}{more}.",
        button="Open the health report",
        page="data",
    )


def _run_decided(source: OverviewSource) -> NextStep | None:
    if not source.n_unused:
        return None
    return NextStep(
        title="Run by your decisions",
        why=f"{count(source.n_unused, 'decision')} that this run does not go by yet.",
        button="Open decisions",
        page="decisions",
    )


def _decide(source: OverviewSource) -> NextStep | None:
    """Offer to decide about workers in doubt of whom nobody has decided yet."""
    doubtful = source.doubtful
    waiting = doubtful[~doubtful["worker"].isin(list(source.decided))]
    if waiting.empty:
        return None
    share = waiting["n_labels"].sum() / max(1, source.workers["n_labels"].sum())
    names = waiting["worker"].tolist()
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return NextStep(
        title=f"Decide about {count(len(names), 'worker')} in doubt",
        why=f"{', '.join(names[:MAX_NAMED])}{more}, with {percent(share)} of the labels. See what "
        "leaving them out would change before you decide.",
        button="Look at them",
        page="workers",
    )


def _check(source: OverviewSource) -> NextStep | None:
    """Offer to find out how right truths are, where that is not known well."""
    scored = source.result.score()
    if scored is not None:
        figures = scored.figures
        if "low" not in figures or figures["high"] - figures["low"] <= WIDE_INTERVAL:
            return None
        main = figures["accuracy" if "accuracy" in figures else "f1"]
        known = rate(main, figures["low"], figures["high"])
        why = f"Known as {known} so far. {describe_margins()}"
    elif source.result.provenance.used_gold:
        return None
    else:
        why = audit_of(source.kind).without_gold()
    can_decide = source.kind in DECIDABLE
    return NextStep(
        title="Find out how right the truths are",
        why=why,
        button="Draw an audit sample" if can_decide else "Add known answers",
        page="items" if can_decide else "data",
        query={"view": "audit"} if can_decide else {},
    )


def _look(source: OverviewSource, n_open: int) -> NextStep | None:
    if not n_open:
        return None
    rule, noun = OPEN_ITEMS[source.kind], item_noun(source.kind)
    if source.kind in DECIDABLE:
        return NextStep(
            title=f"Look at {count(n_open, noun)}",
            why=f"{noun.capitalize()}s {rule.meaning}; the worklist ranks them by what a look is "
            "worth.",
            button="Open the worklist",
            page="items",
        )
    return NextStep(
        title=f"Look at {count(n_open, noun)}",
        why=f"{noun.capitalize()}s {rule.meaning}.",
        button=f"Show these {noun}s",
        page="truths",
        query={"show": rule.preset},
    )


def _disagreement(source: OverviewSource) -> NextStep | None:
    """Offer to see where workers differ, where their agreement is low."""
    main = source.agreement.main
    if source.kind == "sequences" or main.value is None or main.value >= TENTATIVE:
        return None
    return NextStep(
        title="See where workers disagree",
        why=f"Agreement ({main.name}) is {main.value:.2f}: where even good workers differ, the "
        "guideline may be read in several ways.",
        button="Open agreement",
        page="agreement",
    )


def _compare(source: OverviewSource) -> NextStep | None:
    if source.comparison is None or source.comparison.items.empty:
        return None
    return NextStep(
        title="Check what changed",
        why=f"{count(len(source.comparison.items), 'truth')} changed since {source.previous}.",
        button="Compare",
        page="compare",
    )
