"""Which project, run and selection a tab looks at: the only home of session keys and the URL.

The URL holds ids and wins, so that a link reopens what its sender saw. Moving between pages
clears it, so the session remembers as well; every tab has its own of both.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

from crowdcore.data import DataError
from crowdcore.workspace.errors import StorageError
from dashboard.pages import get_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crowdcore.workspace import Project, RunRow, Workspace

_LAST_PROJECT = "last_project"


def workspace() -> Workspace:
    """Return the workspace of this process."""
    return _workspace(os.environ.get("CROWDCORE_HOME"))


@st.cache_resource(show_spinner=False, max_entries=8)
def _workspace(home: str | None) -> Workspace:
    from crowdcore.workspace import Workspace

    return Workspace(Path(home) if home else None)


def project() -> Project | None:
    """Return the current project: that of the URL, of the session, or the last one used."""
    projects = {project.id: project for project in workspace().projects()}
    for project_id in _requested("project"):
        if project_id in projects:
            return projects[project_id]
    last = projects.get(workspace().setting(_LAST_PROJECT, ""))
    return last or next(iter(projects.values()), None)


def run() -> RunRow | None:
    """Return the current finished run: that of the URL, of the session, or the newest."""
    current = project()
    if current is None:
        return None
    done = {row.id: row for row in workspace().runs(current.id) if row.status == "done"}
    for run_id in _requested("run"):
        if run_id in done:
            return done[run_id]
    return next((row for row in done.values() if row.member_of is None), None)


def pending_run() -> RunRow | None:
    """Return the run that was asked for, if it has no result yet: it waits, works or failed."""
    current = project()
    if current is None:
        return None
    rows = {row.id: row for row in workspace().runs(current.id)}
    requested = next((rows[run_id] for run_id in _requested("run") if run_id in rows), None)
    return None if requested is None or requested.status == "done" else requested


def selection(name: str) -> str | None:
    """Return what the URL selects, such as an "item" or a "worker"."""
    return st.query_params.get(name)


def select(name: str, value: str | None) -> None:
    """Write a selection to the URL, or take it out."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def goto(page: str, **query: str) -> NoReturn:
    """Open a page; the project and the run stay unless `query` names others."""
    if "project" in query:
        remember_project(query["project"])
    if "run" in query:
        st.session_state["run"] = query["run"]
    st.switch_page(get_page(page).path, query_params={**_ids(pin_run=False), **query})


def link(**query: str) -> dict[str, str]:
    """Return the query of a link to another page of this project and run."""
    return {**_ids(pin_run=True), **query}


def remember_project(project_id: str | None) -> None:
    """Make a project the current one of this tab; the run and selections of another one go."""
    if project_id == st.session_state.get("project") == st.query_params.get("project"):
        return
    st.session_state["project"] = project_id
    st.session_state.pop("run", None)
    st.query_params.clear()
    if project_id is not None:
        st.query_params["project"] = project_id
        with suppress(StorageError):  # full or read-only: one can look all the same
            workspace().set_setting(_LAST_PROJECT, project_id)


def remember_run(run_id: str) -> None:
    """Make a run the current one of this tab."""
    st.session_state["run"] = run_id
    st.query_params["run"] = run_id


def forget_run(run_id: str) -> None:
    """Let go of a run that was deleted."""
    if run_id in _requested("run"):
        st.session_state.pop("run", None)
        select("run", None)


def settle(*, pin_run: bool) -> str | None:
    """Write the current project and run to the session and the URL, once a page run.

    A run that nobody chose is pinned only where its results are shown: elsewhere the newest
    one goes on being the current one as runs end. Returns a sentence if the URL named
    something that is not here.
    """
    linked = st.query_params.get("run")
    if linked is not None and "project" not in st.query_params:
        _adopt_project_of(linked)
    problem = _lost_link()
    ids = _ids(pin_run=pin_run)
    for key in ("project", "run"):
        if key in ids:
            st.session_state[key] = ids[key]
        select(key, ids.get(key))
    return problem


def choose(
    label: str, options: Mapping[str, str], *, current: str, on_pick: Callable[[str], None]
) -> None:
    """Draw a selectbox over id -> label that follows `current` and tells what was picked.

    The labels must differ: Streamlit mixes up options that look the same. They must stay the
    same while an option is there, too: the browser answers with the label that it was sent.
    """
    key = f"choose:{label}"
    st.session_state[key] = current

    def pick() -> None:
        if st.session_state[key] in options:
            on_pick(st.session_state[key])

    st.selectbox(
        label,
        list(options),
        format_func=lambda option: options.get(option, option),
        key=key,
        on_change=pick,
    )


def preset(key: str, value: Any) -> None:
    """Start a widget at a value, where its own default must be empty so that it can be emptied."""
    if value is not None and key not in st.session_state:
        st.session_state[key] = value


def kept(name: str) -> Any:
    """Return what this tab keeps between page runs under a name; None if nothing."""
    return st.session_state.get(f"kept:{name}")


def keep(name: str, value: Any) -> None:
    """Keep a value for this tab, also while another page is open; None lets it go."""
    if value is None:
        st.session_state.pop(f"kept:{name}", None)
    else:
        st.session_state[f"kept:{name}"] = value


def follow(name: str, widget: str, picked: str | None, *, clears: bool = True) -> bool:
    """Write to the URL what a table or chart has newly picked; an old pick changes nothing.

    So several widgets and links can choose the same thing, and the last one wins. `clears` is
    false for charts: they lose their pick by themselves when they are drawn anew. Returns
    whether the selection was written.
    """
    changed = is_new(widget, picked) and (picked is not None or clears)
    if changed:
        select(name, picked)
    return changed


def is_new(widget: str, picked: Any) -> bool:
    """Tell once whether a table or chart has picked something else than before."""
    key = f"picked:{widget}"
    if widget not in st.session_state:  # not drawn since it was last left: it says nothing
        st.session_state.pop(key, None)
        return False
    if picked == st.session_state.get(key):
        return False
    st.session_state[key] = picked
    return True


def mark_rows(table: str, rows: list[int], picked: Any) -> None:
    """Mark rows in a table that is not drawn yet; `picked` is what `is_new` is to take for old."""
    marked = (st.session_state.get(table) or {}).get("selection", {}).get("rows", [])
    if sorted(marked) != rows:
        st.session_state[table] = {"selection": {"rows": rows}}
        st.session_state[f"picked:{table}"] = picked


def _lost_link() -> str | None:
    project_id, run_id = st.query_params.get("project"), st.query_params.get("run")
    if project_id is not None and project_id not in {row.id for row in workspace().projects()}:
        return "The project in this link is not in this workspace; it may have been deleted."
    current = pending_run() or run()
    if run_id is not None and (current is None or current.id != run_id):
        return "The run in this link is no longer here; another one is shown."
    return None


def _ids(*, pin_run: bool) -> dict[str, str]:
    current_project, current_run = project(), pending_run() or run()
    ids = {} if current_project is None else {"project": current_project.id}
    if current_run is not None and (pin_run or current_run.id in _requested("run")):
        ids["run"] = current_run.id
    return ids


def _requested(key: str) -> tuple[str | None, ...]:
    return (st.query_params.get(key), st.session_state.get(key))


def _adopt_project_of(run_id: str) -> None:
    try:
        st.query_params["project"] = workspace().run(run_id).project_id
    except (DataError, KeyError, ValueError):
        return
