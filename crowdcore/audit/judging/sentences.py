"""What is said of a crowd as a whole, before any worker is named."""

from __future__ import annotations

from crowdcore.audit.judging.accuracy import MIN_GOLD_ITEMS
from crowdcore.audit.judging.worker_evidence import MORE_GOLD_ITEMS, CrowdFacts
from crowdcore.wording import count

MANY_BAD = 0.30
"""From this share of bad workers on, too many honest ones are accused to do without gold."""


def accusations(facts: CrowdFacts) -> str:
    """Say how many are accused, and how many of these accusations are expected to be wrong.

    Parameters
    ----------
    facts
        What is known of the crowd.

    Returns
    -------
    str
        One sentence.
    """
    if not facts.n_accused:
        return "Nobody is accused of answering at random, with one answer or against the truth."
    wrong = "fewer than 0.1" if facts.expected_wrong < 0.1 else f"about {facts.expected_wrong:.1f}"  # noqa: PLR2004
    return (
        f"{count(facts.n_accused, 'worker')} accused (random, one answer or inverted); {wrong} of "
        "these accusations are expected to be wrong."
    )


def warnings(facts: CrowdFacts) -> list[str]:
    """Say what a manager must know before they trust the list.

    Parameters
    ----------
    facts
        What is known of the crowd.

    Returns
    -------
    list of str
        Sentences; none where nothing is out of the ordinary.
    """
    sentences = []
    if facts.bad_share >= MANY_BAD:
        sentences.append(
            f"About {facts.bad_share:.0%} or more of the workers seem not to look at the items. In "
            "such crowds more honest workers are accused than stated: in simulated crowds with "
            "45% bad workers, about 2 in 100. Check some items before you exclude anybody."
        )
    if facts.n_schools:
        sentences.append(
            f"{count(facts.n_in_schools, 'worker')} in {count(facts.n_schools, 'group')} answer "
            "alike beyond what their skill explains. So many are hardly copies: there are probably "
            "several schools of thought. Look at what they disagree about; the guideline may be "
            "read in several ways."
        )
    return sentences


def accuracy_promise(facts: CrowdFacts) -> str:
    """Say what accuracies mean here, and what ten more checked items would bring.

    Parameters
    ----------
    facts
        What is known of the crowd.

    Returns
    -------
    str
        One or two sentences.
    """
    if not facts.by_gold:
        missing = max(1, MIN_GOLD_ITEMS - facts.n_gold_items)
        return (
            "Accuracies are as the rest of the crowd sees them; where the crowd errs together "
            f"nobody sees it. {count(missing, 'more checked item')} would show such errors, and "
            "let the intervals promise 95%."
        )
    shift = (
        f"the crowd overrates itself by {100 * facts.shift:.0f} points"
        if round(100 * facts.shift) >= 1
        else "the crowd hardly overrates itself"
    )
    sentence = (
        f"By {count(facts.n_gold_items, 'checked item')} {shift}; accuracies are corrected, and "
        "their intervals hold in about 95 of 100 cases."
    )
    if round(100 * facts.width_with_more) < round(100 * facts.width):
        return (
            f"{sentence} {MORE_GOLD_ITEMS} more would narrow an interval in the middle from "
            f"{100 * facts.width:.0f} to {100 * facts.width_with_more:.0f} points."
        )
    return f"{sentence} {MORE_GOLD_ITEMS} more would hardly narrow them."
