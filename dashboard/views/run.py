"""Run: choose a method, set it up, watch it work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import streamlit as st

from crowdcore import DataError
from crowdcore.methods import DEFAULTS
from crowdcore.registry import methods
from crowdcore.wording import count
from dashboard import state
from dashboard.kinds import views_of
from dashboard.layout import empty_state
from dashboard.pages import get_page
from dashboard.run import forms, progress
from dashboard.server import startup
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.method import Method
    from crowdcore.workspace import Dataset, Project

PICKER_WIDTH = 340
MAX_SEED = 2**32 - 1
_NUMBERS = re.compile(r"\b(?P<kind>doi|arxiv):(?P<number>[^\s;,]+)", re.IGNORECASE)
_HOMES = {"doi": "https://doi.org/", "arxiv": "https://arxiv.org/abs/"}
DEVICES = {"auto": "Automatic", "cpu": "CPU", "cuda": "GPU (CUDA)"}


def choose_dataset(project: Project) -> Dataset | None:
    """Return the newest data set, or the one picked where there are several."""
    datasets = {dataset.id: dataset for dataset in state.workspace().datasets(project.id)}
    if len(datasets) <= 1:
        return next(iter(datasets.values()), None)
    linked = state.selection("data") or ""
    current = linked if linked in datasets else next(iter(datasets))
    state.choose(
        "Data set",
        {dataset.id: dataset.label for dataset in datasets.values()},
        current=current,
        on_pick=lambda picked: state.select("data", picked),
    )
    return datasets[current]


def choose_method(dataset: Dataset) -> Method:
    """Pick a family, then a method of it, the oldest first; the URL remembers the method."""
    fitting = methods(kind=dataset.kind)
    requested = state.selection("method") or state.kept("method") or ""
    chosen = fitting[requested if requested in fitting else DEFAULTS[dataset.kind]]
    by_age = sorted(fitting.values(), key=lambda method: (method.year, method.title))
    families = dict.fromkeys(method.family for method in by_age)
    family = st.pills(
        "Family",
        list(families),
        default=chosen.family,
        format_func=forms.label_of,
        key=f"family:{chosen.family}",
    )
    family = family or chosen.family  # a second click on a pill takes the choice away
    members = {method.id: method for method in by_age if method.family == family}
    names = list(members)
    picked = st.radio(
        "Method",
        names,
        index=names.index(chosen.id) if chosen.id in members else 0,
        format_func=lambda name: members[name].title,
        captions=[method.summary for method in members.values()],
        key=f"method:{family}:{chosen.id}",
    )
    if picked != chosen.id:
        state.select("method", picked)
        state.keep("method", picked)
        st.rerun()
    return members[picked]


def draw_method(method: Method, dataset: Dataset) -> None:
    """Show what the method is, whether it fits, and its form."""
    st.subheader(method.title, anchor=False)
    needs = f" · needs {method.needs.as_text()}" if method.needs.as_text() != "labels" else ""
    st.caption(f"{forms.label_of(method.family)} · {method.year} · {_paper(method.paper)}{needs}")
    with st.expander("When to use it, when not", icon=":material/menu_book:"):
        st.markdown(method.card)
    unmet = state.workspace().unmet(dataset.id, method)
    completer = choose_completer(method, dataset)
    if completer is not None:
        unmet += state.workspace().unmet(dataset.id, completer)
    if unmet:
        st.warning(" ".join(unmet), icon=":material/block:")
    with st.form(f"form:{method.slug}", border=False):
        params = forms.config_form(method.config, key=f"set:{method.slug}", values={})
        complete_params = {}
        if completer is not None:
            st.markdown(f"**{escape_md(completer.title)}**")
            key = f"set:{completer.id}"
            complete_params = forms.config_form(completer.config, key=key, values={})
        with st.container(horizontal=True):
            seed = st.number_input(
                "Seed",
                0,
                MAX_SEED,
                0,
                help="The same seed gives the same numbers.",
                key=f"seed:{method.slug}",
                width=forms.WIDTH,
            )
            device = st.selectbox(
                "Device",
                list(DEVICES),
                format_func=DEVICES.__getitem__,
                help="Automatic takes a GPU where there is one.",
                key=f"device:{method.slug}",
                width=forms.WIDTH,
            )
            warm_from = None
            if views_of(dataset.kind).can_begin_from_a_run:
                warm_from = choose_start(dataset, f"from:{method.slug}")
        start = st.form_submit_button(
            "Start run",
            type="primary",
            icon=":material/play_arrow:",
            key=f"start:{method.slug}",
            disabled=bool(unmet),
        )
    if start:
        try:
            row = state.workspace().queue(
                dataset.id,
                method.id,
                params=params,
                seed=int(seed),
                device=device,
                warm_from=warm_from,
                complete=None if completer is None else completer.id,
                complete_params=complete_params,
            )
        except DataError as error:
            st.error(escape_md(error), icon=":material/error:")
            return
        startup.wake_jobs(state.workspace())
        st.toast(f"{escape_md(row.label)} is in the queue.", icon=":material/playlist_add_check:")
        st.rerun()


def choose_completer(method: Method, dataset: Dataset) -> Method | None:
    """Offer the methods that fill in labels which nobody gave; None uses the labels as they are."""
    completers = methods("complete", dataset.kind)
    if not completers:
        return None
    linked = state.selection("complete") or ""
    picked = st.selectbox(
        "Complete the labels first",
        list(completers),
        index=list(completers).index(linked) if linked in completers else None,
        format_func=lambda name: completers[name].title,
        placeholder="No, use the labels as they are",
        help="Labels that nobody gave are filled in by a model of each worker before the truths "
        "are inferred. Workers are still judged by their own labels alone.",
        key=f"complete:{method.slug}",
    )
    if picked is None:
        return None
    with st.expander(f"About {completers[picked].title}", icon=":material/menu_book:"):
        st.markdown(completers[picked].card)
    return completers[picked]


def choose_start(dataset: Dataset, key: str) -> str | None:
    """Offer the finished runs of the project to begin from; None begins from nothing."""
    runs = state.workspace().runs(dataset.project_id)
    done = {row.id: row.label for row in runs if row.status == "done"}
    return st.selectbox(
        "Begin from",
        list(done),
        index=None,
        format_func=lambda run_id: done.get(run_id, run_id),
        placeholder="Nothing",
        help="After a few new labels or gold answers, a fit that begins from an earlier result "
        "takes a fraction of the steps.",
        key=key,
        width=forms.WIDTH,
        disabled=not done,
    )


def _paper(reference: str) -> str:
    """Make links of the DOIs and arXiv numbers in a reference; the rest stays text."""
    markdown, end = "", 0
    for match in _NUMBERS.finditer(reference):
        home = _HOMES[match["kind"].lower()]
        markdown += f"{escape_md(reference[end : match.start()])} "
        markdown += f"[{escape_md(match[0])}]({home}{quote(match['number'])})"
        end = match.end()
    return (markdown + escape_md(reference[end:])).strip()


st.title(get_page("run").title, anchor=False)
project = state.project()
dataset = choose_dataset(project) if project is not None else None
if project is None or dataset is None:
    empty_state(
        "Nothing to run yet",
        "A method infers the truths from labels, and there are none here yet.",
        "Add labels",
        "data",
    )
else:
    st.caption(
        f"{escape_md(project.name)} · {count(dataset.n_labels, 'label')} of "
        f"{count(dataset.n_items, 'item')} by {count(dataset.n_workers, 'worker')}"
    )
    runs = state.workspace().runs(project.id)
    progress.draw_active(project.id, runs)
    with st.container(horizontal=True):
        with st.container(border=True, width=PICKER_WIDTH):
            method = choose_method(dataset)
        with st.container(border=True):
            draw_method(method, dataset)
    progress.draw_ended(runs)
