"""A run at a glance: one sentence, five numbers, and what to do next, for every kind of labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crowdcore.audit.overviews.figures import NOT_KNOWN, Figure, make_figures
from crowdcore.audit.overviews.source import OPEN_ITEMS, OverviewSource, item_noun
from crowdcore.audit.overviews.steps import NextStep, next_steps
from crowdcore.wording import count


@dataclass(frozen=True, kw_only=True)
class Overview:
    """A run at a glance.

    Attributes
    ----------
    sentence
        What the run says, in a sentence or two.
    figures
        How right the truths are, workers in doubt, items to look at, agreement, what changed.
    steps
        What to do next, the most pressing first.
    """

    sentence: str
    figures: tuple[Figure, ...]
    steps: tuple[NextStep, ...]

    def to_json(self) -> dict[str, Any]:
        """Turn it into plain JSON values."""
        return asdict(self)


def make_overview(source: OverviewSource) -> Overview:
    """Sum up a run.

    Parameters
    ----------
    source
        What is known of it.

    Returns
    -------
    Overview
        One sentence, five numbers, and what to do next.
    """
    n_open = int(OPEN_ITEMS[source.kind].mask(source.items).sum())
    figures = make_figures(source, n_open)
    return Overview(
        sentence=_sentence(source, figures[0], n_open),
        figures=figures,
        steps=tuple(next_steps(source, n_open)),
    )


def _sentence(source: OverviewSource, quality: Figure, n_open: int) -> str:
    data = source.result.data
    n_active = int(np.count_nonzero(data.labels_per_worker))
    n_doubtful = len(source.doubtful)
    noun = item_noun(source.kind)
    right = (
        f"How right they are is {quality.value}"
        if quality.value == NOT_KNOWN
        else f"{quality.title}: {quality.value} ({quality.note})"
    )
    in_doubt = "nobody is in doubt" if not n_doubtful else f"{count(n_doubtful, 'worker')} in doubt"
    look = f"{count(n_open, noun)} to look at" if n_open else f"no {noun} that needs a look"
    labels = "token labels" if source.kind == "sequences" else "labels"
    return (
        f"{count(len(source.items), noun)} with a truth from {data.n_labels:,} {labels} of "
        f"{count(n_active, 'worker')}. {right}; {in_doubt}; {look}."
    )
