"""Run: choose a method, set it up, watch it work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import streamlit as st

from crowdcore import DataError
from crowdcore.registry import methods
from dashboard import forms, progress, startup, state
from dashboard.text import count, empty_state, escape_md

if TYPE_CHECKING:
    from crowdcore.method import Method
    from crowdcore.workspace import Dataset, Project

DEFAULT_METHOD = "auto"
PICKER_WIDTH = 340
LARGEST_SEED = 2**32 - 1
_NUMBERS = re.compile(r"\b(?P<kind>doi|arxiv):(?P<number>[^\s;,]+)", re.IGNORECASE)
_HOMES = {"doi": "https://doi.org/", "arxiv": "https://arxiv.org/abs/"}
DEVICES = {"auto": "Automatic", "cpu": "CPU", "cuda": "GPU (CUDA)"}


def choose_dataset(project: Project) -> Dataset | None:
    """Return the newest data set, or the one picked where there are several."""
    datasets = {one.id: one for one in state.workspace().datasets(project.id)}
    if len(datasets) <= 1:
        return next(iter(datasets.values()), None)
    wish = state.selection("data") or ""
    current = wish if wish in datasets else next(iter(datasets))
    state.choose(
        "Data set",
        {one.id: one.label for one in datasets.values()},
        current=current,
        on_pick=lambda picked: state.select("data", picked),
    )
    return datasets[current]


def choose_method() -> Method:
    """Pick a family, then a method of it, the oldest first; the URL remembers the method."""
    wish = state.selection("method") or state.kept("method") or DEFAULT_METHOD
    chosen = methods()[wish if wish in methods() else next(iter(methods()))]
    by_age = sorted(methods().values(), key=lambda one: (one.year, one.title))
    families = dict.fromkeys(one.family for one in by_age)
    family = st.pills(
        "Family",
        list(families),
        default=chosen.family,
        format_func=forms.label_of,
        key=f"family:{chosen.family}",
    )
    family = family or chosen.family  # a second click on a pill takes the choice away
    members = {one.id: one for one in by_age if one.family == family}
    names = list(members)
    picked = st.radio(
        "Method",
        names,
        index=names.index(chosen.id) if chosen.id in members else 0,
        format_func=lambda name: members[name].title,
        captions=[one.summary for one in members.values()],
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
    needs = f" · needs {method.needs.words()}" if method.needs.words() != "labels" else ""
    st.caption(f"{forms.label_of(method.family)} · {method.year} · {_paper(method.paper)}{needs}")
    with st.expander("When to use it, when not", icon=":material/menu_book:"):
        st.markdown(method.card)
    unmet = state.workspace().unmet(dataset.id, method)
    completer = choose_completer(method)
    if completer is not None:
        unmet += state.workspace().unmet(dataset.id, completer)
    if unmet:
        st.warning(" ".join(unmet), icon=":material/block:")
    with st.form(f"form:{method.id}", border=False):
        params = forms.config_form(method.config, key=f"set:{method.id}", values={})
        complete_params = {}
        if completer is not None:
            st.markdown(f"**{escape_md(completer.title)}**")
            key = f"set:{completer.id}"
            complete_params = forms.config_form(completer.config, key=key, values={})
        with st.container(horizontal=True):
            seed = st.number_input(
                "Seed",
                0,
                LARGEST_SEED,
                0,
                help="The same seed gives the same numbers.",
                key=f"seed:{method.id}",
                width=forms.WIDTH,
            )
            device = st.selectbox(
                "Device",
                list(DEVICES),
                format_func=DEVICES.__getitem__,
                help="Automatic takes a GPU where there is one.",
                key=f"device:{method.id}",
                width=forms.WIDTH,
            )
            warm_from = choose_start(dataset, f"from:{method.id}")
        start = st.form_submit_button(
            "Start run",
            type="primary",
            icon=":material/play_arrow:",
            key=f"start:{method.id}",
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


def choose_completer(method: Method) -> Method | None:
    """Offer the methods that fill in labels which nobody gave; None uses the labels as they are."""
    known = methods("complete")
    wish = state.selection("complete") or ""
    picked = st.selectbox(
        "Complete the labels first",
        list(known),
        index=list(known).index(wish) if wish in known else None,
        format_func=lambda name: known[name].title,
        placeholder="No, use the labels as they are",
        help="Labels that nobody gave are filled in by a model of each worker before the truths "
        "are inferred. Workers are still judged by their own labels alone.",
        key=f"complete:{method.id}",
    )
    if picked is None:
        return None
    with st.expander(f"About {known[picked].title}", icon=":material/menu_book:"):
        st.markdown(known[picked].card)
    return known[picked]


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
    words, at = "", 0
    for found in _NUMBERS.finditer(reference):
        home = _HOMES[found["kind"].lower()]
        words += f"{escape_md(reference[at : found.start()])} "
        words += f"[{escape_md(found[0])}]({home}{quote(found['number'])})"
        at = found.end()
    return (words + escape_md(reference[at:])).strip()


st.title("Run", anchor=False)
here = state.project()
data = choose_dataset(here) if here is not None else None
if here is None or data is None:
    empty_state(
        "Nothing to run yet",
        "A method infers the truths from labels, and there are none here yet.",
        "Add labels",
        "data",
    )
else:
    st.caption(
        f"{escape_md(here.name)} · {count(data.n_labels, 'label')} of {count(data.n_items, 'item')}"
        f" by {count(data.n_workers, 'worker')}"
    )
    progress.active_runs(here.id)
    with st.container(horizontal=True):
        with st.container(border=True, width=PICKER_WIDTH):
            method = choose_method()
        with st.container(border=True):
            draw_method(method, data)
    progress.ended_runs(here.id)
