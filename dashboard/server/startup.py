"""What happens once a process, beside the first page: samples, imports, the job daemon."""

from __future__ import annotations

import gc
import importlib
import logging
import subprocess
import threading
from functools import cache
from typing import TYPE_CHECKING

from crowdcore import DataError, jobs
from crowdcore.workspace import StorageError, Workspace

if TYPE_CHECKING:
    from pathlib import Path

WELCOMED = "welcomed"
"""The setting that says the samples were made once; deleting them is final."""

FIRST_SAMPLE = "digits"

_LOG = logging.getLogger("crowdcore.dashboard")


@cache
def begin(root: Path) -> threading.Thread:
    """Prepare a workspace in the background, once a process."""
    thread = threading.Thread(target=_prepare, args=(root,), daemon=True, name="crowdcore-startup")
    thread.start()
    return thread


def _prepare(root: Path) -> None:
    workspace = Workspace(root)
    try:
        make_first_project(workspace)
    except Exception:
        _LOG.exception("The sample project could not be made.")
    for module in ("pandas", "pyarrow.parquet", "plotly.graph_objects"):
        importlib.import_module(module)
    # Streamlit collects garbage after every page run; what is frozen now is never walked again,
    # which makes page runs two to six times cheaper.
    gc.collect()
    gc.freeze()
    wake_jobs(workspace)


def wake_jobs(workspace: Workspace) -> str:
    """See to it that queued runs are worked on.

    Parameters
    ----------
    workspace
        Whose queue is to be worked on.

    Returns
    -------
    Why the job process could not be started, in a sentence; "" if it is there.
    """
    try:
        jobs.ensure_daemon(workspace)
    except StorageError as error:
        return f"The process that runs methods could not be started, so queued runs wait. {error}"
    except (OSError, subprocess.SubprocessError, DataError):
        _LOG.exception("The job process could not be started.")
        return (
            "The process that runs methods could not be started, so queued runs wait. "
            "The file daemon.log in the workspace folder says why."
        )
    return ""


def make_first_project(workspace: Workspace) -> None:
    """Give an empty workspace a sample project with two runs, the first time only."""
    if workspace.setting(WELCOMED) or workspace.projects():
        return
    workspace.set_setting(WELCOMED, True)
    add_sample(workspace, FIRST_SAMPLE)


def add_sample(workspace: Workspace, sample_id: str) -> str:
    """Make a project of a sample, queue the quick methods on it, and return its id."""
    from crowdcore.registry import get_method
    from crowdcore.samples import load_sample, sample_methods, samples

    sample = next(sample for sample in samples() if sample.id == sample_id)
    data = load_sample(sample_id)
    project = workspace.create_project(f"{sample.title} (sample)", sample=sample_id)
    dataset = workspace.add_data(project.id, data, name=sample.title)
    for name in sample_methods(data.kind):
        if not get_method(name, kind=data.kind).needs.unmet(data):
            workspace.queue(dataset.id, name, params={})
    return project.id
