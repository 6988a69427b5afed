"""What changes verdicts: another worker who is dropped, and the order and times of labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.judgement import judge_crowd
from crowdcore.audit.judging.worker_evidence import worker_evidence
from crowdcore.audit.verdicts import judge
from crowdcore.audit.worker_numbers import worker_numbers
from crowdcore.bench.papers import Table
from crowdcore.bench.verdicts.crowds import REPORTING_SEED, crowds
from crowdcore.data import CrowdData
from crowdcore.simulation.classes import simulate
from crowdcore.simulation.times import add_times

OnDone = Callable[[str], None]


def share_of(flags: NDArray[np.bool_]) -> str:
    """Write how many of some flags are set; "-" of none."""
    return f"{flags.mean():.1%} of {len(flags):,}" if len(flags) else "-"


def verdict_names(data: CrowdData) -> list[str]:
    """Judge a crowd without a requirement.

    Parameters
    ----------
    data
        The labels.

    Returns
    -------
    list of str
        The name of each worker's verdict.
    """
    numbers = worker_numbers(data.workers, data.labels_per_worker, worker_evidence(data))
    return [judge(worker)[0].name for worker in numbers]


def stability(n_crowds: int, on_done: OnDone) -> Table:
    """Drop one worker, and count the verdicts on others that change.

    Parameters
    ----------
    n_crowds
        Twice the number of crowds.
    on_done
        Called after each crowd.
    """
    changed, judged = 0, 0
    for number, crowd in enumerate(crowds("product", max(1, n_crowds // 2))):
        before = verdict_names(crowd.data)
        rng = np.random.default_rng(number)
        for worker in rng.choice(crowd.data.n_workers, 4, replace=False).tolist():
            after = verdict_names(crowd.data.only(crowd.data.worker != worker))
            pairs = [
                name_before == name_after
                for code, (name_before, name_after) in enumerate(zip(before, after, strict=True))
                if code != worker
            ]
            changed += len(pairs) - sum(pairs)
            judged += len(pairs)
        on_done("stability")
    return Table(
        title="One worker dropped: verdicts on the others that change",
        header=["verdicts", "changed"],
        rows=[[f"{judged:,}", f"{changed / max(1, judged):.2%}"]],
    )


def time_habits(n_crowds: int, on_done: OnDone) -> Table:
    """Judge workers who stop looking, tire, click through or follow a pattern.

    Parameters
    ----------
    n_crowds
        Twice the number of crowds.
    on_done
        Called after each crowd.
    """
    flags: dict[str, list[NDArray[np.bool_]]] = {}
    sizes: dict[str, list[NDArray[np.int64]]] = {}
    for number in range(max(1, n_crowds // 2)):
        simulation = simulate(
            items=500,
            workers=40,
            classes=2 + 2 * (number % 2),
            labels_per_item=(3, 5, 10)[number % 3],
            spammers=0,
            features=0,
            seed=3 * REPORTING_SEED + number,
        )
        plain = CrowdData(
            item=simulation.data.item,
            worker=simulation.data.worker,
            label=simulation.data.label,
            items=simulation.data.items,
            workers=simulation.data.workers,
            classes=simulation.data.classes,
        )
        crowd = add_times(
            plain,
            np.ones(40, bool),
            drifting=0.1,
            tiring=0.05,
            hasty=0.1,
            patterns=0.05,
            seed=number,
        )
        time = judge_crowd(crowd.data).time
        by_habit = {
            "drifting": time.is_drifting,
            "tiring": time.is_drifting,
            "hasty": time.is_hasty,
            "pattern": time.has_pattern,
        }
        habit = np.array([name or "honest" for name in crowd.habit])
        for name in (*by_habit, "honest"):
            own = habit == name
            flag = by_habit.get(name, time.is_drifting | time.is_hasty | time.has_pattern)
            flags.setdefault(name, []).append(flag[own])
            sizes.setdefault(name, []).append(crowd.data.labels_per_worker[own])
        on_done("time")
    rows = []
    for name, parts in flags.items():
        flag, size = np.concatenate(parts), np.concatenate(sizes[name])
        row = [name]
        for low, high in ((20, 50), (50, 100), (100, 10_000)):
            inside = (size >= low) & (size < high)
            row.append(share_of(flag[inside]))
        rows.append(row)
    return Table(
        title="What times show: share flagged, by number of labels",
        header=["worker", "20 to 49", "50 to 99", "100 or more"],
        rows=rows,
        notes=["Simulated times; no real file with times and gold was at hand."],
    )
