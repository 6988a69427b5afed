"""Amazon Mechanical Turk: batch results."""

from __future__ import annotations

from crowdcore.io.glance import Glance
from crowdcore.io.platforms import Platform
from crowdcore.io.roles import Guess, Roles


def _roles(glance: Glance) -> Guess:
    answers = [column for column in glance.columns if column.startswith("Answer.")]
    inputs = tuple(column for column in glance.columns if column.startswith("Input."))
    answers.sort(key=lambda column: not 1 < glance.distinct(column) < glance.n_rows)
    label = answers[0] if answers else None
    reasons = {
        "item": "'HITId' is one HIT; choose an 'Input.' column where HITs were posted again.",
        "worker": "'WorkerId' is who did the assignment.",
    }
    if label:
        more = f"; the file has {len(answers)} answers, choose another by hand" * (len(answers) > 1)
        reasons["label"] = f"{label!r} is what the worker answered{more}."
    time = "SubmitTime" if "SubmitTime" in glance.columns else None
    if time:
        reasons["time"] = "'SubmitTime' is when the assignment was sent in."
    roles = Roles(item="HITId", worker="WorkerId", label=label, time=time, details=inputs)
    return Guess(roles=roles, reasons=reasons, certain=len(answers) == 1)


PLATFORMS = (
    Platform(
        title="Amazon Mechanical Turk",
        headers=("HITId", "WorkerId"),
        roles=_roles,
        rejected={"AssignmentStatus": ("Rejected",)},
    ),
)
