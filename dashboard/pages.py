"""The pages of the dashboard; whatever lists, names or links pages derives from this list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from crowdcore.artefacts.adverse_workers import AdverseWorkers
from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.attention import AttentionMap
from crowdcore.artefacts.completion import Completion
from crowdcore.artefacts.embedding import Embedding
from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.artefacts.spectral import SpectralSpace
from crowdcore.data import Kind

PROJECT, PREPARE, RESULTS, DECIDE = "Project", "Prepare", "Results", "Decide"
ANALYSIS, SHARE, HELP = "How it came to this", "Share", "Help"
"""Sections of the navigation, in their order."""

CLASSES_ONLY: frozenset[Kind] = frozenset({"classes"})
"""The kinds of a page whose methods and charts know only labels that are one class each."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page, whose script is views/<name>.py."""

    name: str
    title: str
    icon: str  # a Material symbol
    section: str
    shows: tuple[type[Artefact], ...] = ()
    """Artefacts of which a run must have one, or there is nothing to see."""
    kinds: frozenset[Kind] = frozenset(get_args(Kind))
    """What the labels may be, or the page does not apply."""

    @property
    def path(self) -> str:
        """The page's script, relative to app.py."""
        return f"views/{self.name}.py"

    @property
    def is_about_a_run(self) -> bool:
        """Whether the page stays with the current run; the Overview goes on to newer ones."""
        return self.section in (RESULTS, DECIDE, ANALYSIS, SHARE)


PAGES = (
    Page(name="overview", title="Overview", icon="space_dashboard", section=PROJECT),
    Page(name="data", title="Data", icon="table_view", section=PREPARE),
    Page(name="agreement", title="Agreement", icon="handshake", section=PREPARE),
    Page(name="run", title="Run", icon="play_circle", section=PREPARE),
    Page(name="scale", title="Large data", icon="database", section=PREPARE),
    Page(name="truths", title="Truths", icon="task_alt", section=RESULTS),
    Page(name="workers", title="Workers", icon="groups", section=RESULTS),
    Page(name="answers", title="Answer a few", icon="quiz", section=DECIDE, kinds=CLASSES_ONLY),
    Page(name="items", title="Items", icon="checklist", section=DECIDE),
    Page(name="spend", title="Spend plan", icon="payments", section=DECIDE),
    Page(name="decisions", title="Decisions", icon="gavel", section=DECIDE),
    Page(name="compare", title="Compare", icon="compare_arrows", section=DECIDE),
    Page(
        name="attention",
        title="Attention",
        icon="hub",
        section=ANALYSIS,
        shows=(AttentionMap, Embedding),
        kinds=CLASSES_ONLY,
    ),
    Page(
        name="spectral",
        title="Spectral space",
        icon="scatter_plot",
        section=ANALYSIS,
        shows=(SpectralSpace,),
        kinds=CLASSES_ONLY,
    ),
    Page(
        name="completion",
        title="Completion",
        icon="grid_on",
        section=ANALYSIS,
        shows=(Completion, LabelEmbeddings, AdverseWorkers),
        kinds=CLASSES_ONLY,
    ),
    Page(name="export", title="Export", icon="download", section=SHARE),
    Page(name="guide", title="Guide", icon="menu_book", section=HELP),
)
"""In the order of the navigation; the first page opens first."""

_BY_NAME = {page.name: page for page in PAGES}


def get_page(name: str) -> Page:
    """Return a page by name; an unknown one is a mistake in the code."""
    if name not in _BY_NAME:
        raise ValueError(f"There is no page {name!r}")
    return _BY_NAME[name]
