"""Toloka: assignments."""

from __future__ import annotations

from crowdcore.io.glance import Glance
from crowdcore.io.platforms import Platform
from crowdcore.io.roles import Guess, Roles

_TIMES = ("ASSIGNMENT:submitted", "ASSIGNMENT:accepted", "ASSIGNMENT:started")


def _roles(glance: Glance) -> Guess:
    def those(prefix: str) -> list[str]:
        return [column for column in glance.columns if column.startswith(prefix)]

    inputs, outputs = those("INPUT:"), those("OUTPUT:")
    reasons = {"worker": "'ASSIGNMENT:worker_id' is who did the assignment."}
    item = None
    if "ASSIGNMENT:task_id" in glance.columns:
        item = "ASSIGNMENT:task_id"
        reasons["item"] = f"{item!r} is the task."
    elif inputs:
        item = max(inputs, key=glance.distinct)
        most = " and has the most distinct values of all inputs" * (len(inputs) > 1)
        reasons["item"] = f"{item!r} is what the worker saw{most}."
    outputs.sort(key=lambda column: not glance.distinct(column) > 1)
    label = outputs[0] if outputs else None
    gold = None
    if label:
        reasons["label"] = f"{label!r} is what the worker answered."
        gold = f"GOLDEN:{label.removeprefix('OUTPUT:')}"
        gold = gold if gold in glance.columns else None
    if gold:
        reasons["gold"] = f"{gold!r} is the answer of control tasks."
    time = next((column for column in _TIMES if column in glance.columns), None)
    if time:
        reasons["time"] = f"{time!r} is the time of the whole task suite."
    details = tuple(column for column in inputs if column != item)
    sure = len(outputs) == 1 and (len(inputs) == 1 or item == "ASSIGNMENT:task_id")
    return Guess(
        roles=Roles(
            item=item,
            worker="ASSIGNMENT:worker_id",
            label=label,
            gold=gold,
            time=time,
            details=details,
        ),
        reasons=reasons,
        certain=sure,
    )


PLATFORMS = (
    Platform(
        title="Toloka",
        headers=("ASSIGNMENT:worker_id",),
        roles=_roles,
        rejected={"ASSIGNMENT:status": ("REJECTED",)},
    ),
)
