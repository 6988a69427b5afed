"""A fault at every write point: each operation is broken at each of its file and database calls.

An operation runs in a forked process that is killed at a call, or for which that call fails; then
the workspace is opened again. What was acknowledged must be there and readable, what was not must
be absent or said to be lost, the queue must go on, and nothing half may be shown as whole.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdcore.atomic import PREFIX
from tests.torture import Row
from tests.torture.fault_points import FAULTS, Fault, FaultPoints

MAX_SECONDS = 60
MEMORY_DISK = "/dev/shm"
HEALED_AFTER = 12
"""Failed calls after which a disk has room again, for operations that wait for it."""


def run(budget: int, seed: int) -> list[Row]:
    """Try so many faults, in a process that has only imported what is needed, so it can fork."""
    in_memory = MEMORY_DISK if Path(MEMORY_DISK).is_dir() else None
    with tempfile.TemporaryDirectory(dir=in_memory) as scratch:
        answer = Path(scratch) / "rows.json"
        command = [sys.executable, "-m", "tests.torture.faults", str(budget), str(seed)]
        subprocess.run([*command, scratch, str(answer)], check=True)
        return [Row(**row) for row in json.loads(answer.read_text(encoding="utf-8"))]


@dataclass(frozen=True, kw_only=True)
class Case:
    """An operation, the call that breaks, and how."""

    operation: Any
    at: int
    name: str
    fault: Fault


def main(budget: int, seed: int, scratch: Path) -> list[Row]:
    """Make the workspaces, count the calls, and break them."""
    from crowdcore.jobs.daemon import warm_up
    from tests.torture.operations import OPERATIONS, build

    warm_up()
    os.umask(0)  # hides nothing that crowdcore does not hide itself
    template = scratch / "template"
    _in_child(lambda: build(template / "home"))
    plans = {}
    cases: list[Case] = []
    for operation in OPERATIONS:
        home = _copy(template, scratch / operation.name)
        _in_child(lambda home=home, operation=operation: operation.prepare(home))  # type: ignore[misc]
        before = None if operation.opens else _in_child(lambda home=home: _state(home))  # type: ignore[misc]
        trial = _copy(home.parent, scratch / "trial")
        undisturbed = _act(trial, operation, FaultPoints(root=str(trial)))
        if undisturbed["state"] != "done":
            raise AssertionError(f"{operation.name}: {undisturbed}")
        after = _in_child(lambda trial=trial: _state(trial))  # type: ignore[misc]
        if operation.works and any(run[2] == "ended" for run in after["projects"][0][2]):
            raise AssertionError(f"{operation.name}: {after}")
        shutil.rmtree(trial.parent)
        plans[operation.name] = (home, before, after)
        cases += [
            Case(operation=operation, at=number, name=name, fault=fault)
            for number, (name, can_tear) in enumerate(undisturbed["points"], start=1)
            for fault in FAULTS
            if can_tear or not fault.startswith("torn")
        ]
    cases = _sample(cases, budget, random.Random(seed))
    problems: dict[str, list[str]] = {operation.name: [] for operation in OPERATIONS}
    slowest: dict[str, float] = dict.fromkeys(problems, 0.0)
    for case in cases:
        home, before, after = plans[case.operation.name]
        began = time.monotonic()
        trial = _copy(home.parent, scratch / "trial")
        problem = _try(trial, case, before, after)
        shutil.rmtree(trial.parent)
        name = case.operation.name
        slowest[name] = max(slowest[name], time.monotonic() - began)
        if problem:
            problems[name].append(f"{case.fault} at call {case.at} ({case.name}): {problem}")
            sys.stderr.write(f"{name}: {problems[name][-1]}\n")
    tried = [case.operation.name for case in cases]
    return [
        Row(
            name=f"fault at a write point: {name}",
            tried=tried.count(name),
            failed=len(found),
            worst=found[0] if found else f"{slowest[name]:.1f} s with the check",
        )
        for name, found in problems.items()
        if name in tried
    ]


def _sample(cases: list[Case], budget: int, draw: random.Random) -> list[Case]:
    """Some cases of every operation, as evenly as there are."""
    shuffled = draw.sample(cases, len(cases))
    turn: Counter[str] = Counter()
    order = []
    for case in shuffled:
        turn[case.operation.name] += 1
        order.append(turn[case.operation.name])
    by_turn = sorted(zip(order, range(len(shuffled)), strict=True))
    return [shuffled[at] for _, at in by_turn[:budget]]


def _try(trial: Path, case: Case, before: Any, after: Any) -> str:
    """Break an operation and look what became of the workspace; says what is wrong."""
    points = FaultPoints(root=str(trial), at=case.at, fault=case.fault)
    outcome = _act(trial, case.operation, points)
    if outcome["state"] == "raised":
        return f"a traceback: {outcome['text']}"
    if outcome["state"] == "hung":
        return f"it did not end within {MAX_SECONDS} s"
    found = _in_child(lambda: _look(trial, case.operation, outcome["state"], before, after))
    return str(found)


def _act(trial: Path, operation: Any, points: FaultPoints) -> dict[str, Any]:
    """Do the operation in a process of its own; says how it ended and which calls it made."""
    from crowdcore.data import DataError
    from crowdcore.workspace import Workspace

    class Unopened:
        root = trial

    def act() -> dict[str, Any]:
        workspace: Any = Unopened() if operation.opens else Workspace(trial)
        if operation.heals:
            points.heals_after = HEALED_AFTER
            os.register_at_fork(after_in_child=points.disable)
        points.install()
        state, text = "done", ""
        try:
            operation.act(workspace)
        except DataError as error:
            state, text = "refused", str(error)
        except BaseException:
            state, text = "raised", traceback.format_exc()
        points.disable()
        calls = list(zip(points.names, points.can_tear, strict=True))
        return {"state": state, "text": text, "points": calls}

    ended = _in_child(act, may_die=True)
    return {"state": ended, "points": []} if isinstance(ended, str) else dict(ended)


def _look(trial: Path, operation: Any, outcome: str, before: Any, after: Any) -> str:
    """Open the workspace again and compare; says what is wrong."""
    from crowdcore.workspace import CatalogueError, Workspace
    from crowdcore.workspace.rebuild import rebuild

    if operation.name.startswith("rebuild"):
        try:
            Workspace(trial)
        except CatalogueError:
            rebuild(trial)
    if loose := _loose(trial):
        return f"others can look at {loose}"
    if operation.works:
        return _look_at_runs(trial, operation, outcome, after)
    workspace, found = Workspace(trial), _state(trial)
    if operation.clears:
        is_known = all(one in before["trash"] for one in found["trash"])
        is_right = is_known and found["projects"] == before["projects"]
    else:
        is_right = found == after or (found == before and outcome != "done") or before is None
    if not is_right:
        return f"it was {outcome}, and is neither as before nor after: {found}"
    if found != after and not operation.clears:
        operation.act(workspace)
        if (again := _state(trial)) != after:
            return f"a second try made {again}"
    workspace.empty_trash()
    return ""


def _look_at_runs(trial: Path, operation: Any, outcome: str, after: Any) -> str:
    """See to it that every run has ended, whole or not at all, and that the queue goes on."""
    from crowdcore.workspace import Workspace
    from tests.torture.operations import dataset_of, serve

    workspace, found = Workspace(trial), _state(trial)
    if outcome == "done" and operation.heals and _active(found):
        return f"the daemon left runs behind: {_active(found)}"
    workspace.queue(dataset_of(workspace).id, "mv")
    serve(workspace)
    found = _state(trial)
    members = {run[0]: run[3] for run in after["projects"][0][2]}
    partial = [
        f"{title} is done with {n_members} of {members[title]} members"
        for title, _, status, n_members in found["projects"][0][2]
        if status == "done" and n_members != members.get(title, 0)
    ]
    if stuck := _active(found):
        return f"runs are stuck: {stuck}"
    if partial:
        return partial[0]
    newest = max(found["projects"][0][2], key=lambda run: run[1])
    return "" if newest[2] == "done" else f"a later run ended as {newest[2]}"


def _state(root: Path) -> dict[str, Any]:
    """Read everything, and sum it up without ids and times."""
    from crowdcore.workspace import Workspace

    workspace = Workspace(root)
    projects = []
    for project in workspace.projects():
        datasets = [
            [dataset.name, dataset.version, workspace.load_data(dataset.id).fingerprint]
            for dataset in workspace.datasets(project.id)
        ]
        rows = workspace.runs(project.id)
        runs = []
        for row in rows:
            if row.status == "done":
                workspace.load_result(row.id)
                assert not workspace.damage(row.id)
                workspace.truths(row.id)
                workspace.workers(row.id)
            n_members = sum(other.member_of == row.id for other in rows)
            status = row.status if row.status in ("queued", "running", "done") else "ended"
            runs.append([row.label, row.number, status, n_members])
        n_decisions = len(workspace.decisions(project.id))
        projects.append([project.name, sorted(datasets), sorted(runs), n_decisions])
    trash = sorted([one.kind, one.title] for one in workspace.thrown_away())
    workspace.stray_bytes()
    return {"projects": sorted(projects), "trash": trash}


def _active(state: dict[str, Any]) -> list[Any]:
    return [
        run
        for project in state["projects"]
        for run in project[2]
        if run[2] in ("queued", "running")
    ]


def _loose(root: Path) -> str:
    """Something that others than its owner may look at, in a folder that they can look into."""
    for path in root.rglob("*"):
        is_hidden = any(name.startswith(PREFIX) for name in path.relative_to(root).parts[:-1])
        if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not is_hidden:
            return str(path.relative_to(root))
    return ""


def _copy(template: Path, target: Path) -> Path:
    shutil.copytree(template, target)
    return target / "home"


def _in_child(work: Callable[[], Any], *, may_die: bool = False) -> Any:
    """Do something in a forked process and return what it returned; "killed" or "hung" if not."""
    with tempfile.NamedTemporaryFile() as answer:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                signal.alarm(MAX_SECONDS)
                if may_die:  # what it says on the way is not for the table
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                text = json.dumps(work())
                handle = os.open(answer.name, os.O_WRONLY)
                os.write(handle, text.encode())
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            return json.loads(Path(answer.name).read_text(encoding="utf-8"))
    if code == -signal.SIGALRM:
        return "hung"
    return "killed" if may_die else f"looking at it raised (code {code}), see above"


if __name__ == "__main__":
    made = main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    Path(sys.argv[4]).write_text(json.dumps([vars(row) for row in made]), encoding="utf-8")
