"""What is said of the crowd before any worker is named: the list, its errors, what to require."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.audit.judging import sentences
from dashboard import cache
from dashboard.decisions import requirement

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

EARLIER = (
    "This run is of an earlier version, which judged workers by the truths that contain their own "
    "votes. Run it again for verdicts with a probability, and for the evidence behind them."
)


def draw(run: RunRow) -> None:
    """Say how many are accused, how many of them wrongly, and what accuracies mean here."""
    evidence = cache.evidence(run.id)
    if evidence is None:
        st.warning(EARLIER, icon=":material/history:")
        return
    facts = evidence.facts
    for sentence in sentences.warnings(facts):
        st.warning(sentence, icon=":material/groups:")
    st.markdown(f"**{sentences.accusations(facts)}** {sentences.accuracy_promise(facts)}")
    requirement.draw(run)
