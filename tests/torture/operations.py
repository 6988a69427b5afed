"""What a workspace and its daemon do, one operation each, to be disturbed at every call."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crowdcore.atomic import hold
from crowdcore.data import CrowdData
from crowdcore.jobs import daemon, fit_process, lock
from crowdcore.jobs.daemon import Daemon
from crowdcore.reading import read_labels
from crowdcore.workspace import Workspace, rebuild, run_states
from crowdcore.workspace.data_files import DataFacts, write_draft
from crowdcore.workspace.disk import writing

LABELS = b"""task,worker,label,truth
t1,ann,cat,cat
t1,bob,cat,cat
t1,cy,dog,cat
t2,ann,dog,
t2,bob,dog,
t2,cy,dog,
t3,ann,cat,
t3,bob,dog,
t3,cy,cat,
"""

Act = Callable[[Workspace], object]


def nothing(root: Path) -> None:
    """Prepare nothing."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Something that a workspace is asked to do.

    Parameters
    ----------
    name
        What it is called in the table.
    act
        Does it.
    prepare
        What has to be there first.
    opens
        Whether opening the workspace is part of it.
    works
        Whether it works on runs, which may end as failed or lost.
    clears
        Whether it may stop halfway through the trash.
    heals
        Whether the disk has room again after a while, which the operation waits for.
    """

    name: str
    act: Act
    prepare: Callable[[Path], None] = nothing
    opens: bool = False
    works: bool = False
    clears: bool = False
    heals: bool = False


def build(root: Path) -> None:
    """Make a workspace in which there is something of everything."""
    workspace = Workspace(root)
    project = workspace.create_project("Pets")
    dataset = workspace.add_data(project.id, labels(), name="pets.csv")
    for method in ("mv", "ds", "mv"):
        workspace.queue(dataset.id, method)
        work(workspace)
    last = workspace.runs(project.id)[0]
    workspace.delete_run(last.id)
    gone = workspace.create_project("Old pets")
    workspace.add_data(gone.id, labels(b"t9,ann,cat,\n"), name="old.csv")
    workspace.delete_project(gone.id)


def labels(more: bytes = b"") -> CrowdData:
    return read_labels(LABELS + more, name="pets.csv")


def work(workspace: Workspace) -> None:
    """Do what the process of a run does."""
    run_id = run_states.claim(workspace.catalogue)
    assert run_id is not None
    held = hold(workspace.run_folder(run_id))
    fit_process.execute(workspace, run_id)
    if held is not None:
        os.close(held)


def first(workspace: Workspace) -> Any:
    return workspace.projects()[0]


def dataset_of(workspace: Workspace) -> Any:
    return workspace.datasets(first(workspace).id)[0]


def add_gold(workspace: Workspace) -> None:
    dataset = dataset_of(workspace)
    data = workspace.load_data(dataset.id)
    assert data.gold is not None
    gold = data.gold.copy()
    gold[1] = 1
    workspace.add_version(dataset.id, replace(data, gold=gold), {"gold answer": 1})


def write_more(root: Path) -> None:
    write_draft(labels(b"t4,ann,cat,\n"), root.parent / "draft")


def adopt(workspace: Workspace) -> None:
    facts = DataFacts.of(labels(b"t4,ann,cat,\n"))
    draft = workspace.root.parent / "draft"
    workspace.adopt_data(first(workspace).id, draft, facts, name="more.csv")


def queue_one(root: Path, method: str = "mv") -> None:
    workspace = Workspace(root)
    workspace.queue(dataset_of(workspace).id, method)


def queue_pool(root: Path) -> None:
    queue_one(root, "auto")


def delete_run(workspace: Workspace) -> None:
    workspace.delete_run(workspace.runs(first(workspace).id)[0].id)


def restore(kind: str) -> Act:
    def act(workspace: Workspace) -> None:
        workspace.restore(next(one.name for one in workspace.thrown_away() if one.kind == kind))

    return act


def serve(workspace: Workspace) -> None:
    """Be the daemon until there is nothing to do."""
    daemon.RETRY_SECONDS = daemon.POLL_SECONDS = 0.01
    with writing(workspace.root, "The lock of the daemon"):
        handle = lock.take(workspace.root)
    assert handle is not None
    Daemon(workspace, handle).serve(0)
    os.close(handle)


def leave_litter(root: Path) -> None:
    """What processes leave that are killed while they make or delete something."""
    for folder in ("data/.tmp-0123456789abcdef", "runs/0123456789abcdef", "trash/foreign"):
        (root / folder).mkdir(mode=0o700)
        (root / folder / "torn.json").touch(mode=0o600)


def lose_catalogue(root: Path) -> None:
    (root / rebuild.FILE).unlink()


def lose_everything(root: Path) -> None:
    shutil.rmtree(root)


def decide(workspace: Workspace) -> None:
    workspace.decide(first(workspace).id, "exclude", ["cy"], by="Eva", reason="clicks at random")


OPERATIONS = (
    Operation(
        name="make a workspace",
        act=lambda workspace: Workspace(workspace.root),
        prepare=lose_everything,
        opens=True,
    ),
    Operation(
        name="open a workspace",
        act=lambda workspace: Workspace(workspace.root),
        prepare=leave_litter,
        opens=True,
    ),
    Operation(name="create a project", act=lambda workspace: workspace.create_project("Birds")),
    Operation(
        name="rename a project",
        act=lambda workspace: workspace.rename_project(first(workspace).id, "Cats and dogs"),
    ),
    Operation(
        name="add data",
        act=lambda workspace: workspace.add_data(
            first(workspace).id, labels(b"t4,ann,cat,\n"), name="more.csv"
        ),
    ),
    Operation(name="adopt uploaded data", act=adopt, prepare=write_more),
    Operation(name="add gold", act=add_gold),
    Operation(name="decide", act=decide),
    Operation(
        name="queue a run",
        act=lambda workspace: workspace.queue(dataset_of(workspace).id, "mv"),
    ),
    Operation(name="fit and save", act=work, prepare=queue_one, works=True),
    Operation(name="fit and save a pool", act=work, prepare=queue_pool, works=True),
    Operation(name="serve the queue", act=serve, prepare=queue_one, works=True, heals=True),
    Operation(name="delete a run", act=delete_run),
    Operation(
        name="delete a project",
        act=lambda workspace: workspace.delete_project(first(workspace).id),
    ),
    Operation(name="restore a run", act=restore("run")),
    Operation(name="restore a project", act=restore("project")),
    Operation(name="empty the trash", act=lambda workspace: workspace.empty_trash(), clears=True),
    Operation(
        name="rebuild the catalogue",
        act=lambda workspace: rebuild.rebuild(workspace.root),
        prepare=lose_catalogue,
        opens=True,
    ),
)
