"""A result on disk: arrays as .npy and .npz, tables in Parquet, the rest as JSON. No pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.classifier import FILE, Classifier
from crowdcore.result import Provenance, Result, ResultError
from crowdcore.workspace.datafiles import read_json, write_json

if TYPE_CHECKING:
    from crowdcore.data import CrowdData

FORMAT = 1


def write_result(result: Result, folder: Path) -> None:
    """Write a result into an empty folder, with the tables that pages read ready-made."""
    from crowdcore.audit.workers import worker_confusion, worker_table
    from crowdcore.io.tables import truths_table

    artefacts = {name: _checked_artefact(name, one) for name, one in result.artefacts.items()}
    confusion = worker_confusion(result)
    own = result.confusion
    arrays: dict[str, NDArray[Any]] = {
        "posterior": result.posterior,
        "truth": result.truth,
        "tied": result.tied,
        "confusion": confusion,
    }
    same = own is not None and np.array_equal(own, confusion)
    if own is not None and not same:
        arrays["own_confusion"] = own
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    facts = {
        "format": FORMAT,
        "confusion": "none" if own is None else "shared" if same else "own",
        "worker_scores": _write_arrays(folder / "worker_scores.npz", result.worker_scores),
        "item_scores": _write_arrays(folder / "item_scores.npz", result.item_scores),
        "artefacts": _write_artefacts(folder, artefacts),
        "summary": _summary(result),
    }
    if (classifier := Classifier.of(result)) is not None:
        classifier.save(folder / FILE)  # here, where torch is loaded: a page can then offer it
    truths_table(result).to_parquet(folder / "truths.parquet", index=False)
    worker_table(result).to_parquet(folder / "workers.parquet", index=False)
    write_json(folder / "history.json", result.history)
    write_json(folder / "provenance.json", asdict(result.provenance))
    write_json(folder / "result.json", facts)


def read_result(folder: Path, data: CrowdData) -> Result:
    """Read a result back, equal to what was written."""
    facts = read_json(folder / "result.json")
    stem = {"none": None, "shared": "confusion", "own": "own_confusion"}[facts["confusion"]]
    return Result(
        data=data,
        posterior=_load(folder / "posterior.npy"),
        truth=_load(folder / "truth.npy"),
        tied=_load(folder / "tied.npy"),
        confusion=None if stem is None else _load(folder / f"{stem}.npy"),
        worker_scores=_read_arrays(folder / "worker_scores.npz", facts["worker_scores"]),
        item_scores=_read_arrays(folder / "item_scores.npz", facts["item_scores"]),
        artefacts=_read_artefacts(folder, facts["artefacts"]),
        history=read_json(folder / "history.json"),
        provenance=_read_provenance(folder / "provenance.json"),
    )


def read_summary(folder: Path) -> dict[str, Any]:
    """Read the few numbers of a result that its row in the catalogue shows."""
    summary: dict[str, Any] = read_json(folder / "result.json")["summary"]
    return summary


def _read_provenance(path: Path) -> Provenance:
    facts: dict[str, Any] = read_json(path)
    for name, value in facts.items():
        facts[name] = tuple(value) if isinstance(value, list) else value
    return Provenance(**facts)


def _summary(result: Result) -> dict[str, Any]:
    score = result.score()
    return {
        "seconds": result.provenance.seconds,
        "steps": result.provenance.steps,
        "accuracy": None if score is None else score.accuracy,
        "n_tied": int(result.tied.sum()),
    }


def _checked_artefact(name: str, artefact: Any) -> dict[str, Any]:
    """Return an artefact that can be written without pickle; refuse any other."""
    if not isinstance(artefact, dict) or not all(isinstance(key, str) for key in artefact):
        kind = type(artefact).__name__
        raise ResultError(f"{name}: an artefact is a dict with names as keys, not a {kind}")
    for key, value in artefact.items():
        plain = not value.dtype.hasobject if isinstance(value, np.ndarray) else _is_json(value)
        if not plain:
            raise ResultError(f"{name}: {key!r} is neither a plain array nor JSON")
    return artefact


def _is_json(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_json(one) for one in value)
    if isinstance(value, dict):
        return all(type(key) is str and _is_json(one) for key, one in value.items())
    # Exact types: a numpy float is a float, and would come back as another type.
    return value is None or type(value) in (bool, int, float, str)


def _write_artefacts(folder: Path, artefacts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = []
    for index, (name, artefact) in enumerate(artefacts.items()):
        arrays = {key: one for key, one in artefact.items() if isinstance(one, np.ndarray)}
        file = f"artefact-{index}.npz"
        listed.append(
            {
                "name": name,
                "file": file,
                "order": list(artefact),
                "json": {key: one for key, one in artefact.items() if key not in arrays},
                "arrays": _write_arrays(folder / file, arrays),
            }
        )
    return listed


def _read_artefacts(folder: Path, listed: list[dict[str, Any]]) -> dict[str, Any]:
    artefacts = {}
    for entry in listed:
        parts = {**entry["json"], **_read_arrays(folder / entry["file"], entry["arrays"])}
        artefacts[entry["name"]] = {key: parts[key] for key in entry["order"]}
    return artefacts


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Write arrays under numbers, for a name may be no file name; return the names in order."""
    if arrays:
        numbered: dict[str, Any] = {f"a{i}": a for i, a in enumerate(arrays.values())}
        np.savez(path, **numbered)
    return list(arrays)


def _read_arrays(path: Path, names: list[str]) -> dict[str, NDArray[Any]]:
    if not names:
        return {}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[f"a{index}"] for index, name in enumerate(names)}


def _load(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array
