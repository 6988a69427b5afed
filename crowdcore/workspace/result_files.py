"""A result on disk: arrays as .npy and .npz, tables in Parquet, the rest as JSON. No pickle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, Kind
from crowdcore.engine.learning.classifier import FILE, Classifier
from crowdcore.results.classes import ClassResult
from crowdcore.results.numbers import NumberResult
from crowdcore.results.ranking import RankingResult
from crowdcore.results.result import Provenance, Result
from crowdcore.results.sequences import SequenceResult
from crowdcore.results.sets import SetResult
from crowdcore.workspace.data_files import read_json, write_json

if TYPE_CHECKING:
    from crowdcore.audit.judging.worker_evidence import WorkerEvidence

FORMAT = 1

EVIDENCE = "evidence.npz"

BYTES_PER_LABEL, BYTES_PER_WORKER = 20, 2_000
"""What the evidence on a label and on a worker takes, at most."""

WITHDRAWN = frozenset({"expected_accuracy"})
"""Facts in files of earlier versions that are not read: an interval that did not hold."""

CONTENTS = {
    "posterior.npy": "the probabilities",
    "probability.npy": "the probabilities of single classes",
    "truth.npy": "the truths",
    "tied.npy": "the ties",
    "spread.npy": "the standard errors of the truths",
    "low.npy": "the lower ends of the intervals",
    "high.npy": "the upper ends of the intervals",
    "others.npy": "the truths without each worker's own ratings",
    "components.npy": "the components of the ratings' variance",
    "confusion.npy": "the confusion matrices",
    "own_confusion.npy": "the method's own confusion matrices",
    "worker_scores.npz": "the scores of the workers",
    "item_scores.npz": "the scores of the items",
    "truths.parquet": "the table of truths",
    "workers.parquet": "the table of workers",
    EVIDENCE: "the evidence on the workers",
    "history.json": "the curve",
    "provenance.json": "how the result came about",
    "result.json": "the list of its parts",
    "members.json": "the list of its members",
    FILE: "the classifier",
}
"""What the files of a result hold, in words; all others are artefacts."""


def _class_files(result: Result) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays of classes: every run has confusion matrices for the pages, its own or counted."""
    from crowdcore.confusion import worker_confusion

    confusion = worker_confusion(result)
    fitted_confusion = result.confusion
    arrays: dict[str, NDArray[Any]] = {
        "posterior": result.posterior,
        "truth": result.truth,
        "tied": result.tied,
        "confusion": confusion,
    }
    is_shared = fitted_confusion is not None and np.array_equal(fitted_confusion, confusion)
    if fitted_confusion is not None and not is_shared:
        arrays["own_confusion"] = fitted_confusion
    form = "none" if fitted_confusion is None else "shared" if is_shared else "own"
    return arrays, {"confusion": form}


def _read_classes(folder: Path, facts: dict[str, Any]) -> dict[str, Any]:
    stem = {"none": None, "shared": "confusion", "own": "own_confusion"}[facts["confusion"]]
    return {
        "posterior": _load(folder / "posterior.npy"),
        "truth": _load(folder / "truth.npy"),
        "tied": _load(folder / "tied.npy"),
        "confusion": None if stem is None else _load(folder / f"{stem}.npy"),
    }


def _set_files(result: Result) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays = {name: getattr(result, name) for name in SetResult.answers}
    return {name: array for name, array in arrays.items() if array is not None}, {}


def _read_sets(folder: Path, facts: dict[str, Any]) -> dict[str, Any]:
    del facts  # what was not left by the method was not written
    paths = {name: folder / f"{name}.npy" for name in SetResult.answers}
    return {name: _load(path) if path.exists() else None for name, path in paths.items()}


def _number_files(result: Result) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    return {name: getattr(result, name) for name in NumberResult.answers}, {}


def _read_numbers(folder: Path, facts: dict[str, Any]) -> dict[str, Any]:
    del facts  # numbers are always written in the same form
    return {name: _load(folder / f"{name}.npy") for name in NumberResult.answers}


@dataclass(frozen=True, kw_only=True)
class AnswerFiles:
    """How the answers of a kind of result are written and read.

    Attributes
    ----------
    result
        The class of the result.
    write
        Makes the arrays to write, by name, and what result.json says of them.
    read
        Reads the fields of the result back, given the folder and result.json.
    """

    result: type[Result]
    write: Callable[[Result], tuple[dict[str, NDArray[Any]], dict[str, Any]]]
    read: Callable[[Path, dict[str, Any]], dict[str, Any]]


def _rating_files(result: Result) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays of ratings: for the pages also what workers are judged by."""
    from crowdcore.audit.ratings.judging import judge

    judged = judge(result.data)
    arrays, facts = _number_files(result)
    return {**arrays, "others": judged.others, "components": judged.components}, facts


_RATINGS = AnswerFiles(result=NumberResult, write=_rating_files, read=_read_numbers)

_CLASSES = AnswerFiles(result=ClassResult, write=_class_files, read=_read_classes)
_SETS = AnswerFiles(result=SetResult, write=_set_files, read=_read_sets)
_TEXTS = AnswerFiles(result=SequenceResult, write=_class_files, read=_read_classes)
_RANKINGS = AnswerFiles(result=RankingResult, write=_number_files, read=_read_numbers)

ANSWER_FILES: Mapping[Kind, AnswerFiles] = {
    "classes": _CLASSES,
    "comparisons": _RANKINGS,
    "ratings": _RATINGS,
    "sequences": _TEXTS,
    "sets": _SETS,
}
"""How results are kept, by the kind of their labels."""


def write_result(result: Result, folder: Path, *, judged: bool = True) -> None:
    """Write a result into an empty folder, with the tables that pages read ready-made.

    Parameters
    ----------
    result : Result
        The result.
    folder : Path
        The folder.
    judged : bool, default True
        Whether workers are judged too, which can take longer than the fit.
    """
    from crowdcore.audit.kinds import audit_of

    arrays, facts = ANSWER_FILES[result.data.kind].write(result)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    facts |= {
        "format": FORMAT,
        "worker_scores": _write_arrays(folder / "worker_scores.npz", result.worker_scores),
        "item_scores": _write_arrays(folder / "item_scores.npz", result.item_scores),
        "artefacts": _write_artefacts(folder, result.artefacts),
        "summary": _summary(result),
    }
    if (classifier := Classifier.from_result(result)) is not None:
        classifier.save(folder / FILE)  # here, where torch is loaded: a page can then offer it
    result.truths().to_parquet(folder / "truths.parquet", index=False)
    if judged:
        if (evidence := audit_of(result.data.kind).evidence) is not None:
            evidence(result.data).save(folder / EVIDENCE)
        result.workers().to_parquet(folder / "workers.parquet", index=False)
    write_json(folder / "history.json", result.history)
    write_json(folder / "provenance.json", asdict(result.provenance))
    write_json(folder / "result.json", facts)


def read_result(folder: Path, data: CrowdData) -> Result:
    """Read a result back, equal to what was written."""
    facts = read_json(folder / "result.json")
    files = ANSWER_FILES[data.kind]
    return files.result(
        data=data,
        **files.read(folder, facts),
        worker_scores=_read_arrays(folder / "worker_scores.npz", facts["worker_scores"]),
        item_scores=_read_arrays(folder / "item_scores.npz", facts["item_scores"]),
        artefacts=_read_artefacts(folder, facts["artefacts"]),
        history=read_json(folder / "history.json"),
        provenance=_read_provenance(folder),
    )


def read_evidence(folder: Path) -> WorkerEvidence | None:
    """Read what verdicts rest on; None of a result of an earlier version."""
    from crowdcore.audit.judging.worker_evidence import WorkerEvidence

    path = folder / EVIDENCE
    return WorkerEvidence.load(path) if path.exists() else None


def estimated_bytes(result: Result) -> int:
    """Estimate how much room a result takes.

    Parameters
    ----------
    result : Result
        The result, without its members.

    Returns
    -------
    int
        Bytes; rather too many than too few.
    """
    answers = [getattr(result, name) for name in result.answers]
    scores = [*result.worker_scores.values(), *result.item_scores.values()]
    parts = [value for artefact in result.artefacts.values() for value in artefact.values()]
    n_bytes = sum(getattr(part, "nbytes", 1000) for part in (*answers, *scores, *parts))
    in_tables = sum(getattr(part, "nbytes", 0) for part in answers)
    rows = 200 * result.data.n_items + BYTES_PER_WORKER * result.data.n_workers
    return int(n_bytes + 2 * in_tables + rows + BYTES_PER_LABEL * result.data.n_labels)


def read_summary(folder: Path) -> dict[str, Any]:
    """Read the few numbers of a result that its row in the catalogue shows."""
    summary: dict[str, Any] = read_json(folder / "result.json")["summary"]
    return summary


def read_provenance(folder: Path) -> dict[str, Any]:
    """Read how a result came about, without what earlier versions wrote and nobody may trust."""
    facts: dict[str, Any] = read_json(folder / "provenance.json")
    return {name: value for name, value in facts.items() if name not in WITHDRAWN}


def _read_provenance(folder: Path) -> Provenance:
    facts = read_provenance(folder)
    for name, value in facts.items():
        facts[name] = tuple(value) if isinstance(value, list) else value
    return Provenance(**facts)


def _summary(result: Result) -> dict[str, Any]:
    score = result.score()
    return {
        "seconds": result.provenance.seconds,
        "steps": result.provenance.steps,
        "headline": "" if score is None else score.headline,
        "accuracy": None if score is None else score.figures.get("accuracy"),
        "n_tied": result.summary.get("tied", 0),
    }


def _write_artefacts(folder: Path, artefacts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = []
    for index, (name, artefact) in enumerate(artefacts.items()):
        arrays = {key: value for key, value in artefact.items() if isinstance(value, np.ndarray)}
        file = f"artefact-{index}.npz"
        listed.append(
            {
                "name": name,
                "file": file,
                "order": list(artefact),
                "json": {key: value for key, value in artefact.items() if key not in arrays},
                "arrays": _write_arrays(folder / file, arrays),
            }
        )
    return listed


def _read_artefacts(folder: Path, listed: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    artefacts = {}
    for entry in listed:
        values = {**entry["json"], **_read_arrays(folder / entry["file"], entry["arrays"])}
        artefacts[entry["name"]] = {key: values[key] for key in entry["order"]}
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
    # Opened here: numpy leaves a file open that it cannot read.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[f"a{index}"] for index, name in enumerate(names)}


def _load(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array
