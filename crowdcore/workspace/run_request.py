"""What a run is asked to do, checked before it is queued, as values of its row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast, get_args

from crowdcore.data import CrowdData, DataError
from crowdcore.decisions import QUESTION, Decision
from crowdcore.run import Device
from crowdcore.workspace.catalogue import now

if TYPE_CHECKING:
    from crowdcore.method import Method
    from crowdcore.results.result import Result
    from crowdcore.workspace.records import Dataset, RunRow

MAX_SEED = 2**63 - 1


def unmet(dataset: Dataset, method: str | Method) -> list[str]:
    """Say in sentences why a method does not fit a data set, without reading it."""
    from crowdcore.registry import get_method

    if isinstance(method, str):
        try:
            method = get_method(method, kind=dataset.kind)
        except DataError as error:
            return [str(error)]
    # A data set's row has every fact that needs are about, under the same names.
    return method.needs.unmet(cast("CrowdData", dataset))


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
    decisions: Sequence[Decision] = (),
) -> dict[str, Any]:
    """Return the values of a new run's row; a wish that cannot be met is a `DataError`."""
    from crowdcore.registry import get_method

    chosen = get_method(method, kind=dataset.kind)
    n_truths = sum(decision.action == "truth" for decision in decisions)
    dataset = replace(dataset, n_gold=min(dataset.n_items, dataset.n_gold + n_truths))
    config = chosen.configure(dict(params))
    # As in `unmet`, a data set's row has every fact that the checks are about.
    chosen.check(config, cast("CrowdData", dataset), completed=complete is not None)
    if device not in get_args(Device):
        raise DataError(f"There is no device {device!r}; choose {', '.join(get_args(Device))}")
    if not 0 <= seed <= MAX_SEED:
        raise DataError(f"The seed is a whole number from 0 to 2^63 - 1, not {seed}")
    title, completion = chosen.title, None
    if complete is not None:
        completer = get_method(complete, "complete", dataset.kind)
        if problems := unmet(dataset, completer):
            raise DataError(f"{completer.title} cannot run on these data. {' '.join(problems)}")
        settings = completer.configure(dict(complete_params)).model_dump(mode="json")
        completion = json.dumps({"method": completer.id, "params": settings})
        title = f"{chosen.title} after {completer.title}"
    return {
        "project_id": dataset.project_id,
        "dataset_id": dataset.id,
        "method": chosen.id,
        "title": title,
        "params": json.dumps(config.model_dump(mode="json")),
        "seed": int(seed),
        "device": device,
        "excluded": json.dumps(list(excluded)),
        "completion": completion,
        "decisions": _as_json(decisions),
    }


def values_of_member(pool: RunRow, member: Result) -> dict[str, Any]:
    """Return the row of a part of a result, as if it had been queued alone."""
    facts = member.provenance
    return {
        "project_id": pool.project_id,
        "dataset_id": pool.dataset_id,
        "method": facts.method,
        "title": facts.title,
        "params": json.dumps(facts.params),
        "seed": facts.seed,
        "device": pool.device,
        "excluded": json.dumps(pool.excluded),
        "decisions": _as_json(pool.decisions),
        "preview": int(pool.preview),
        "warm_from": pool.warm_from,
        "member_of": pool.id,
        "started": now(),
    }


def _as_json(decisions: Sequence[Decision]) -> str:
    """What a run goes by; notes, and evidence but how a question was drawn, stay in the ledger."""
    kept = [
        replace(decision, note="", evidence=_only_question(decision.evidence))
        for decision in decisions
    ]
    return json.dumps([asdict(decision) for decision in kept])


def _only_question(evidence: Mapping[str, Any]) -> dict[str, Any]:
    return {QUESTION: evidence[QUESTION]} if QUESTION in evidence else {}
