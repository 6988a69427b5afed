"""One part's share of a run on a prepared folder: the fit, the truths, and on rank 0 the rest."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdcore.data import DataError
from crowdcore.jobs import prepared_results
from crowdcore.jobs.prepared_results import Making, Totals
from crowdcore.parts import Alone, Parts
from crowdcore.prepared import results
from crowdcore.prepared.layout import PreparedFolder
from crowdcore.prepared.part import PreparedPart
from crowdcore.run import Device, Progress, Run

POOL = "auto"
"""Pools keep no counts: they would be those of one member."""


@dataclass(frozen=True, kw_only=True)
class PreparedRequest:
    """What is to be run on a prepared folder.

    Parameters
    ----------
    folder, out
        The labels, and where results go.
    method, params
        The method's id and its settings.
    seed, device
        Of the fit.
    worker_options
        How workers are to be judged, where that differs from the usual way.
    keep_every
        Seconds between two times that the counts of a step are kept.
    """

    folder: Path
    out: Path
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    device: Device = "auto"
    worker_options: Mapping[str, Any] = field(default_factory=dict)
    keep_every: float = 10.0


def check_request(request: PreparedRequest, folder: PreparedFolder) -> tuple[Any, Any]:
    """Refuse what does not work on prepared folders, before anything is computed.

    Returns
    -------
    method, config
        The method, and its settings.

    Raises
    ------
    DataError
        If the method was not tested over parts, or its settings need all labels at once.
    """
    from crowdcore.registry import all_methods, get_method

    manifest = folder.manifest
    method = get_method(request.method, kind=manifest.kind)
    if not method.spreads:
        able = sorted(m.id for m in all_methods() if m.spreads and manifest.kind in m.kinds)
        raise DataError(
            f"{method.title} needs all labels in memory, and does not run on a prepared folder",
            fix=f"Take one of {', '.join(able)}, or run it on the files themselves.",
        )
    config = method.configure(dict(request.params))
    for name, allowed in (("calibrate", ("off", "crowds")), ("choose", ("off",))):
        if getattr(config, name, allowed[0]) not in allowed:
            raise DataError(
                f"On a prepared folder the setting {name!r} can only be {' or '.join(allowed)}",
                fix="Leave it out, or run on the files themselves.",
            )
    method.check(config, manifest)  # type: ignore[arg-type]  # its sizes are enough
    return method, config


def run_part(
    request: PreparedRequest,
    *,
    parts: Parts | None = None,
    watch: Watch | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, Any] | None:
    """Fit a method on this part's buckets, together with the other parts, and write the results.

    Parameters
    ----------
    request
        What is to be run; the same on all parts.
    parts
        The parts, of which this is one.
    watch
        Told how far the fit is; of rank 0 only.
    should_stop
        Asked at every step; one part that is to stop stops all.

    Returns
    -------
    dict or None
        On rank 0 the record of `result.json` with `workers`, the number of workers by verdict.

    Raises
    ------
    DataError
        If the method and the folder do not fit together.
    Cancelled
        If the run was asked to stop.
    """
    parts = parts or Alone()
    clock = [time.process_time()]
    folder, out, began = PreparedFolder(request.folder), request.out, time.perf_counter()
    method, config = check_request(request, folder)
    _begin(out, parts, request, folder)
    run = Run(
        seed=request.seed,
        device=request.device,
        watch=_tell(out, watch) if parts.rank == 0 else None,
        should_stop=lambda: (should_stop is not None and should_stop()) or _is_to_stop(out, parts),
        parts=parts,
    )
    data = PreparedPart(folder, folder.share(parts.rank, parts.n))
    use_gold = bool(getattr(config, "use_gold", False))
    estimate = _fit(request, method, config, data, run, use_gold=use_gold)
    making = Making(
        method=method,
        config=config,
        run=run,
        began=began,
        used_gold=use_gold or method.needs.gold or estimate.used_gold,
    )
    clock.append(time.process_time())
    _tell_stage(out, watch, parts, "Writing truths")
    totals = _over_parts(prepared_results.write_truths(estimate, data, making, out), parts)
    if parts.rank:
        return None
    clock.append(time.process_time())
    _tell_stage(out, watch, parts, "Judging workers")
    estimate = _without_items(estimate)
    workers, provenance = prepared_results.judge_workers(
        estimate, folder, making, out, dict(request.worker_options)
    )
    history = [row for row in run.history if len(row) > 2]  # noqa: PLR2004  (stage, step)
    record = prepared_results.record_of(folder, provenance, history, totals, n_parts=parts.n)
    clock.append(time.process_time())
    stages = zip(("fit", "truths", "workers"), np.diff(clock).tolist(), strict=True)
    record["cpu_seconds"] = dict(stages)  # of rank 0
    prepared_results.finish(out, workers, record)
    shutil.rmtree(out / results.STATE, ignore_errors=True)
    return {**record, "workers": workers["verdict"].value_counts().to_dict()}


def _begin(out: Path, parts: Parts, request: PreparedRequest, folder: PreparedFolder) -> None:
    """Clear the way for the results; counts of another run are not gone on from."""
    import json

    import torch

    state = out / results.STATE
    wanted = {
        "data": folder.manifest.fingerprint,
        "method": request.method,
        "params": dict(request.params),
        "seed": request.seed,
    }
    if parts.rank == 0:
        out.mkdir(parents=True, exist_ok=True)
        (state / results.STOP).unlink(missing_ok=True)
        for name in (results.SUCCESS, results.RESULT, results.WORKERS):
            (out / name).unlink(missing_ok=True)
        path = state / "request.json"
        if not path.exists() or json.loads(path.read_text(encoding="utf-8")) != wanted:
            for older in state.glob("step-*.npz"):
                older.unlink()
            shutil.rmtree(out / results.TRUTHS, ignore_errors=True)
            state.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(wanted), encoding="utf-8")
    parts.sum(torch.zeros(1))  # nobody looks for counts before they are cleared


def _fit(
    request: PreparedRequest,
    method: Any,
    config: Any,
    data: PreparedPart,
    run: Run,
    *,
    use_gold: bool,
) -> Any:
    from crowdcore.engine.kept_counts import KeptCounts
    from crowdcore.engine.prepared_labels import PreparedLabels
    from crowdcore.engine.ratings import Ratings
    from crowdcore.method import seeded

    with seeded(run):
        labels: Any
        if data.kind == "ratings":
            settings = {name: getattr(config, name) for name in config.container_settings}
            labels = Ratings(data, run.device, use_gold=use_gold, parts=run.parts, **settings)
        else:
            labels = PreparedLabels(data, run.device, use_gold=use_gold, parts=run.parts)
            if method.id != POOL:
                labels.kept = KeptCounts(
                    request.out / results.STATE,
                    run,
                    writes=run.parts.rank == 0,
                    device=run.device,
                    every=request.keep_every,
                )
        return method.function(labels, config, run)


Watch = Callable[[Progress], None]


def _tell(out: Path, watch: Watch | None) -> Watch:
    """Leave word on the disk of how far the fit is, and tell whoever watches."""

    def tell(progress: Progress) -> None:
        results.write_progress(out, progress.stage, progress.step, progress.total)
        if watch is not None:
            watch(progress)

    return tell


def _tell_stage(out: Path, watch: Watch | None, parts: Parts, stage: str) -> None:
    if parts.rank == 0:
        _tell(out, watch)(Progress(stage=stage, step=0, total=1, speed=0.0))


def _is_to_stop(out: Path, parts: Parts) -> bool:
    """Whether somebody asked for a stop; one part looks, and all agree."""
    return parts.rank == 0 and (out / results.STATE / results.STOP).exists()


def _without_items(estimate: Any) -> Any:
    """Let go of what was found of items, which is on the disk by now."""
    fields: dict[str, Any] = {"item_scores": {}, "members": (), "artefacts": ()}
    for name in ("posterior", "truth", "spread", "low", "high", "confusion"):
        if getattr(estimate, name, None) is not None:
            fields[name] = None
    return replace(estimate, **fields)


def _over_parts(own: Totals, parts: Parts) -> Totals:
    import torch

    numbers = asdict(own)
    sums = parts.sum(torch.tensor(list(numbers.values()), dtype=torch.float64)).tolist()
    return Totals(**dict(zip(numbers, sums, strict=True)))
