"""Label Studio: CSV, TSV and JSON-MIN; the nested JSON is refused with advice."""

from __future__ import annotations

from crowdcore.io.glance import Glance
from crowdcore.io.platforms import Platform
from crowdcore.io.roles import Guess, Roles

_OWN = ("annotation_id", "annotator", "created_at", "id", "lead_time", "updated_at")
_OPTIONAL = ("agreement", "history")


def _roles(glance: Glance) -> Guess:
    free = [column for column in glance.columns if column not in (*_OWN, *_OPTIONAL)]
    item = "id" if "id" in glance.columns else None
    reasons = {"item": "'id' is the task.", "worker": "'annotator' is who annotated."}
    varying = [c for c in free if item and glance.varies_within(c, item) > 0]
    repeated = [column for column in free if 1 < glance.distinct(column) < glance.n_rows]
    label = next(iter(varying), None) or min(
        repeated or free, key=lambda c: (glance.distinct(c), glance.longest(c)), default=None
    )
    if label:
        why = "varies within a task" if label in varying else "has the fewest and shortest values"
        reasons["label"] = f"{label!r} is the column that {why}."
    time = "updated_at" if "updated_at" in glance.columns else None
    if time:
        reasons["time"] = "'updated_at' is when the annotation was last changed."
    details = tuple(column for column in free if column != label and column not in varying)
    roles = Roles(item=item, worker="annotator", label=label, time=time, details=details)
    return Guess(roles=roles, reasons=reasons, certain=len(varying) == 1)


PLATFORMS = (
    Platform(
        title="Label Studio",
        headers=("annotation_id", "annotator", "lead_time"),
        roles=_roles,
    ),
    Platform(
        title="Label Studio (nested JSON)",
        headers=("annotations", "data"),
        refusal="Export the project from Label Studio as CSV or JSON-MIN.",
    ),
)
