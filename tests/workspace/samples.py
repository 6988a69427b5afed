"""Data and results made by hand, and processes of their own, for the workspace's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np

import crowdcore
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.reading.columns.roles import Roles
from crowdcore.reading.findings import Finding
from crowdcore.reading.labels.health import HealthReport
from crowdcore.results.classes import ClassResult
from crowdcore.results.result import Provenance, Result

ROOT = Path(crowdcore.__file__).resolve().parents[1]


def small_data(salt: int = 0) -> CrowdData:
    """Three items, two workers, gold for two items; another salt is another data set."""
    triples = [("a", "ann", "yes"), ("a", "bob", "yes"), ("b", "ann", "no"), ("c", "bob", "yes")]
    triples += [(f"salt{salt}", "ann", "no")]
    return CrowdData.from_triples(triples, gold={"a": "yes", "b": "yes"})


def rich_data() -> CrowdData:
    """Data with everything that data can have, and names that are hard on file formats."""
    return CrowdData(
        item=np.array([0, 0, 2, 2]),
        worker=np.array([0, 1, 0, 1]),
        label=np.array([1, 0, 2, 2]),
        items=("007", "nobody saw me", "NA", "=1+1\n,\"'"),
        workers=("../../etc/passwd", "Ζωή 🙂"),
        classes=("", "null", "ja", "never given"),
        gold=np.array([1, UNKNOWN, UNKNOWN, 3]),
        features=np.array([[1, 2], [np.nan, np.nan], [0.1, -0.0], [3, 4]], np.float32),
        feature_names=("x", "y"),
        time=np.array([1.5, np.nan, 3, 4]),
        duration=np.array([9.5, 2, np.nan, 4]),
        details={"text": ("one", "", "three", "four"), "gold": ("g", "o", "l", "d")},
        report=HealthReport(
            findings=(Finding(id="x", title="X", severity="notice", count=1, examples=("007",)),),
            source="labels.csv",
            n_rows=5,
            n_labels=4,
            n_items=4,
            n_workers=2,
            n_classes=4,
            roles=Roles(layout="long", item="task", worker="who", label="answer"),
            reasons={"item": "Its name says so."},
        ),
    )


def made_result(data: CrowdData) -> Result:
    """A result that no method made, so that nothing has to import torch."""
    rng = np.random.default_rng(1)
    posterior = rng.dirichlet(np.ones(data.n_classes), data.n_items)
    return ClassResult(
        data=data,
        posterior=posterior,
        truth=posterior.argmax(1).astype(np.int32),
        tied=rng.random(data.n_items) < 0.5,
        confusion=rng.dirichlet(np.ones(data.n_classes), (data.n_workers, data.n_classes)),
        worker_scores={"skill/θ": rng.random(data.n_workers)},
        item_scores={"ease": rng.random(data.n_items), "margin": rng.random(data.n_items)},
        artefacts={
            "space": {"axes": rng.random((3, 2)), "kind": "svd", "values": [0.1, None, {"k": 1}]},
            "empty": {},
        },
        history=[{"stage": "EM", "step": 0, "loglik": -0.1 - 0.2}, {"stage": "EM", "step": 1}],
        provenance=Provenance(
            method="mv",
            title="Majority vote",
            params={"ties": "random"},
            seed=7,
            device="cpu",
            seconds=0.1 + 0.2,
            steps=2,
            converged=None,
            created="2026-01-01T00:00:00+00:00",
            version="0.1.0",
            torch="2",
            data=data.fingerprint,
            temperature=1.1,
            notes=("Look twice.",),
        ),
    )


def assert_same_data(left: CrowdData, right: CrowdData) -> None:
    """Hold two data sets to each other, bit by bit."""
    assert left.fingerprint == right.fingerprint
    for field in fields(CrowdData):
        _assert_same(getattr(left, field.name), getattr(right, field.name))


def assert_same_result(left: Result, right: Result) -> None:
    """Hold two results to each other, bit by bit."""
    assert_same_data(left.data, right.data)
    for field in fields(Result):
        if field.name != "data":
            _assert_same(getattr(left, field.name), getattr(right, field.name))


def _assert_same(one: object, other: object) -> None:
    assert type(one) is type(other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, dict) and isinstance(other, dict):
        assert list(one) == list(other)
        for key in one:
            _assert_same(one[key], other[key])
    else:
        assert one == other


def start_python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a fresh interpreter on a piece of code."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def run_python(code: str, *arguments: object, status: int = 0) -> str:
    """Run a piece of code in a fresh interpreter and return what it printed."""
    with start_python(code, *arguments) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    return out
