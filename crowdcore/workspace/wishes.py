"""What a run is asked to do, checked before it is queued, as values of its row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

from crowdcore.data import CrowdData, DataError
from crowdcore.run import Device
from crowdcore.workspace.catalogue import now

if TYPE_CHECKING:
    from crowdcore.method import Method
    from crowdcore.result import Result
    from crowdcore.workspace.rows import Dataset, RunRow

LARGEST_SEED = 2**63 - 1


def unmet(dataset: Dataset, method: str | Method) -> list[str]:
    """Say in sentences why a method does not fit a data set, without reading it."""
    from crowdcore.registry import get_method

    found = get_method(method) if isinstance(method, str) else method
    # A data set's row has every fact that needs are about, under the same names.
    return found.needs.unmet(cast("CrowdData", dataset))


def checked(
    dataset: Dataset,
    method: str,
    *,
    params: Mapping[str, Any],
    seed: int,
    device: str,
    excluded: Sequence[str],
    complete: str | None,
    complete_params: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values of a new run's row; a wish that cannot be met is a `DataError`."""
    from crowdcore.registry import get_method

    found = get_method(method)
    config = found.configure(dict(params))
    # As in `unmet`, a data set's row has every fact that the checks are about.
    found.check(config, cast("CrowdData", dataset), completed=complete is not None)
    if device not in get_args(Device):
        raise DataError(f"There is no device {device!r}; choose {', '.join(get_args(Device))}")
    if not 0 <= seed <= LARGEST_SEED:
        raise DataError(f"The seed is a whole number from 0 to 2^63 - 1, not {seed}")
    title, completion = found.title, None
    if complete is not None:
        completer = get_method(complete, "complete")
        if problems := unmet(dataset, completer):
            raise DataError(f"{completer.title} cannot run on these data. {' '.join(problems)}")
        settings = completer.configure(dict(complete_params)).model_dump(mode="json")
        completion = json.dumps({"method": completer.id, "params": settings})
        title = f"{found.title} after {completer.title}"
    return {
        "project_id": dataset.project_id,
        "dataset_id": dataset.id,
        "method": found.id,
        "title": title,
        "params": json.dumps(config.model_dump(mode="json")),
        "seed": int(seed),
        "device": device,
        "excluded": json.dumps(list(excluded)),
        "completion": completion,
    }


def of_member(whole: RunRow, member: Result) -> dict[str, Any]:
    """Return the row of a part of a result, as if it had been queued alone."""
    facts = member.provenance
    return {
        "project_id": whole.project_id,
        "dataset_id": whole.dataset_id,
        "method": facts.method,
        "title": facts.title,
        "params": json.dumps(facts.params),
        "seed": facts.seed,
        "device": whole.device,
        "excluded": json.dumps(whole.excluded),
        "warm_from": whole.warm_from,
        "member_of": whole.id,
        "status": "lost",  # until its result is there
        "error": "The pool that this run is a part of ended before it was saved.",
        "started": now(),
    }
