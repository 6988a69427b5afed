"""Zooniverse: classifications of workflows with one question."""

from __future__ import annotations

import json

from crowdcore.io.glance import Glance
from crowdcore.io.platforms import Platform
from crowdcore.io.roles import Guess, Roles


def _roles(glance: Glance) -> Guess:
    time = "created_at" if "created_at" in glance.columns else None
    reasons = {
        "item": "'subject_ids' is the subject.",
        "worker": "'user_name' is the volunteer.",
        "label": "'annotations' holds the answer; a single one is taken out of its JSON.",
    }
    if time:
        reasons["time"] = "'created_at' is when the classification was sent in."
    roles = Roles(item="subject_ids", worker="user_name", label="annotations", time=time)
    single = all(unwrap(value) != value for value in glance.values("annotations"))
    return Guess(roles=roles, reasons=reasons, certain=single)


def unwrap(cell: str) -> str:
    """The answer in a cell with one task and one plain value; other cells stay as they are."""
    try:
        tasks = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    if not isinstance(tasks, list) or len(tasks) != 1 or not isinstance(tasks[0], dict):
        return cell
    value = tasks[0].get("value")
    if isinstance(value, dict | list):
        return cell
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


PLATFORMS = (
    Platform(
        title="Zooniverse",
        headers=("subject_ids", "user_name", "annotations", "classification_id"),
        roles=_roles,
        unwrap=unwrap,
        wrapped="annotations",
    ),
)
