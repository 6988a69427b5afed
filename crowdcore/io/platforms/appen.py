"""Appen, once Figure Eight and CrowdFlower: full report."""

from __future__ import annotations

from crowdcore.io.glance import Glance
from crowdcore.io.platforms import Platform
from crowdcore.io.roles import Guess, Roles


def _roles(glance: Glance) -> Guess:
    own = [
        column
        for column in glance.columns
        if not column.startswith("_") and not column.endswith(("_gold", "_gold_reason"))
    ]
    with_gold = [column for column in own if f"{column}_gold" in glance.columns]
    varying = [column for column in own if glance.varies_within(column, "_unit_id") > 0]
    reasons = {"item": "'_unit_id' is the unit.", "worker": "'_worker_id' is the contributor."}
    label = next(iter(with_gold or varying or own), None)
    if label in with_gold:
        reasons["label"] = f"{label!r} is the column that has test answers."
    elif label in varying:
        reasons["label"] = f"{label!r} is the first column that varies within a unit."
    elif label:
        reasons["label"] = f"{label!r} is the first column that is not Appen's own."
    gold = f"{label}_gold" if label in with_gold else None
    if gold:
        reasons["gold"] = f"{gold!r} is the answer of test questions."
    time = "_created_at" if "_created_at" in glance.columns else None
    if time:
        reasons["time"] = "'_created_at' is when the judgment was sent in."
    details = tuple(
        column
        for column in own
        if column != label and column not in varying and glance.repeats("_unit_id")
    )
    return Guess(
        roles=Roles(
            item="_unit_id",
            worker="_worker_id",
            label=label,
            gold=gold,
            time=time,
            details=details,
        ),
        reasons=reasons,
        certain=len(with_gold or varying) == 1,
    )


PLATFORMS = (
    Platform(
        title="Appen",
        headers=("_unit_id", "_worker_id"),
        roles=_roles,
        rejected={"_tainted": ("true", "TRUE", "True")},
    ),
)
