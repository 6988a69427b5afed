"""Estimate, what a method returns; Result, what everyone else reads."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError, Floats

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from crowdcore.method import Config, Method
    from crowdcore.run import Run

TIE = 1e-6
"""Two classes whose probabilities differ by less are tied."""

ROWS = 16_384
"""Rows of a table that are checked at a time, so that they stay next to the processor."""

FEW = 8
"""Up to so many classes are compared one by one: numpy is slow with short rows."""

CONFIDENCE = 1.959963984540054
"""Standard deviations of a 95 % interval."""


class ResultError(RuntimeError):
    """A method broke its promise; this is a bug in the method, not in the data."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Beliefs:
    """What an earlier result held of items and workers, by name; a fit can begin from it."""

    items: tuple[str, ...]
    classes: tuple[str, ...]
    posterior: Floats  # [N, K]
    item_scores: Mapping[str, Floats] = field(default_factory=dict)  # name -> [N]
    workers: tuple[str, ...] = ()
    worker_scores: Mapping[str, Floats] = field(default_factory=dict)  # name -> [W]

    def about(self, data: CrowdData) -> Floats:
        """The posterior for these data [N, K], matched by name; vote shares where it is silent."""
        votes = data.votes + 1e-3
        posterior: Floats = votes / votes.sum(1, keepdims=True)
        old, classes = _places(data.items, self.items), _places(data.classes, self.classes)
        known = np.zeros((int((old != UNKNOWN).sum()), data.n_classes))
        shared = np.flatnonzero(classes != UNKNOWN)
        known[:, shared] = self.posterior[old[old != UNKNOWN]][:, classes[shared]]
        total = known.sum(1)
        if not total.any():
            raise DataError(
                "The earlier result says nothing about these data: no item with one of its classes "
                "is in both",
                fix="Begin from a result of the same items and classes, or from none.",
            )
        told = total > 0
        posterior[np.flatnonzero(old != UNKNOWN)[told]] = known[told] / total[told, None]
        return posterior

    def of_items(self, name: str, data: CrowdData, *, otherwise: float) -> Floats:
        """A score of these data's items [N], and another number where there is none."""
        old = _places(data.items, self.items)
        return _picked(self.item_scores.get(name), old, otherwise)

    def of_workers(self, name: str, data: CrowdData, *, otherwise: float) -> Floats:
        """A score of these data's workers [W], and another number where there is none."""
        old = _places(data.workers, self.workers)
        return _picked(self.worker_scores.get(name), old, otherwise)


def _places(names: tuple[str, ...], among: tuple[str, ...]) -> NDArray[np.int64]:
    """Where each of the names stands among others; UNKNOWN where it does not."""
    if names == among:
        return np.arange(len(names))
    place = {name: index for index, name in enumerate(among)}
    return np.array([place.get(name, UNKNOWN) for name in names], np.int64)


def _picked(scores: Floats | None, places: NDArray[np.int64], otherwise: float) -> Floats:
    if scores is None:
        return np.full(len(places), otherwise)
    found: Floats = np.append(scores, np.nan)[places]  # UNKNOWN is the last
    return np.where(np.isfinite(found), found, otherwise)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a method infers, as tensors or arrays, in the order of the codes."""

    posterior: Tensor | Floats  # [N, K]
    confusion: Tensor | Floats | None = None  # [W, true, given]
    truth: Tensor | Codes | None = None  # [N]; only where it is not simply the likeliest class
    worker_scores: Mapping[str, Tensor | Floats] = field(default_factory=dict)  # name -> [W]
    item_scores: Mapping[str, Tensor | Floats] = field(default_factory=dict)  # name -> [N]
    artefacts: Mapping[str, Any] = field(default_factory=dict)
    members: tuple[Result, ...] = ()  # results of methods that this one is made of
    used_gold: bool = False  # where the method itself decides whether it learns from gold
    notes: tuple[str, ...] = ()  # sentences that a reader of the result must see


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a result came about: enough to make it again, and to trust it."""

    method: str
    title: str
    params: dict[str, Any]
    seed: int
    device: str
    seconds: float
    steps: int
    converged: bool | None  # None where nothing iterates, or for a fixed number of steps
    created: str
    version: str
    torch: str
    data: str  # the data's fingerprint
    used_gold: bool = False
    temperature: float | None = None  # None where the probabilities were not calibrated
    expected_accuracy: tuple[float, float, float] | None = None  # point and 95 % interval
    notes: tuple[str, ...] = ()
    completion: dict[str, Any] | None = None  # how labels were filled in before, if they were


@dataclass(frozen=True, kw_only=True)
class Score:
    """How many of the items with gold are right, with a 95 % Wilson interval."""

    n: int
    correct: int
    undecided: int

    @property
    def accuracy(self) -> float:
        """The share that is right; undecided counts as wrong."""
        return self.correct / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval of the accuracy."""
        low, high = wilson(self.correct, self.n)
        return float(low), float(high)


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """Truths, and everything that was learnt on the way to them."""

    data: CrowdData
    posterior: Floats  # [N, K]
    truth: Codes  # [N]; UNKNOWN where the method left an item undecided
    tied: NDArray[np.bool_]  # [N]
    confusion: Floats | None  # [W, true, given]
    worker_scores: dict[str, Floats]
    item_scores: dict[str, Floats]
    artefacts: dict[str, Any]
    history: list[dict[str, float | str]]
    provenance: Provenance
    members: tuple[Result, ...] = ()

    @classmethod
    def checked(
        cls,
        estimate: Estimate,
        *,
        data: CrowdData,
        method: Method,
        config: Config,
        run: Run,
        began: float,
        used_gold: bool,
    ) -> Result:
        """Convert what a method returned, hold it to its promises, and note how it came about."""
        import torch

        from crowdcore import __version__

        posterior = _distributions(estimate.posterior, (data.n_items, data.n_classes), "posterior")
        confusion = None
        if estimate.confusion is not None:
            shape = (data.n_workers, data.n_classes, data.n_classes)
            confusion = _distributions(estimate.confusion, shape, "confusion")
        truth, tied = _winners(posterior)
        if estimate.truth is not None:
            truth = as_array(estimate.truth)
            allowed = np.arange(-1, data.n_classes)
            if truth.shape != (data.n_items,) or not np.isin(truth, allowed).all():
                raise ResultError("truth: one class code an item, or -1")
        return cls(
            data=data,
            posterior=posterior,
            truth=truth.astype(np.int32),
            tied=tied,
            confusion=confusion,
            worker_scores=_scores(estimate.worker_scores, data.n_workers),
            item_scores=_scores(estimate.item_scores, data.n_items),
            artefacts={name: _plain(one) for name, one in estimate.artefacts.items()},
            history=[row for row in run.history if len(row) > 2],  # noqa: PLR2004  (stage, step)
            provenance=Provenance(
                method=method.id,
                title=method.title,
                params=config.model_dump(mode="json"),
                seed=run.seed,
                device=str(run.device),
                seconds=time.perf_counter() - began,
                steps=run.steps,
                converged=run.converged,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                version=__version__,
                torch=str(torch.__version__),
                data=data.fingerprint,
                used_gold=used_gold or estimate.used_gold,
                notes=estimate.notes,
            ),
            members=estimate.members,
        )

    @property
    def confidence(self) -> Floats:
        """The probability of each item's likeliest class [N]."""
        top: Floats = self.posterior.max(1)
        return top

    def score(self) -> Score | None:
        """Compare the truths with gold; None where there is none, or where the method saw it."""
        known = self.data.has_gold
        if self.data.gold is None or not known.any() or self.provenance.used_gold:
            return None
        truth = self.truth[known]
        correct = int((truth == self.data.gold[known]).sum())
        return Score(n=len(truth), correct=correct, undecided=int((truth == UNKNOWN).sum()))

    @property
    def beliefs(self) -> Beliefs:
        """What a later fit can begin from."""
        return Beliefs(
            items=self.data.items,
            classes=self.data.classes,
            posterior=self.posterior,
            item_scores=self.item_scores,
            workers=self.data.workers,
            worker_scores=self.worker_scores,
        )

    def truths(self) -> pd.DataFrame:
        """One row an item: truth, confidence, labels, tie, the method's scores, `p:` columns."""
        from crowdcore.io.tables import truths_table

        return truths_table(self)

    def workers(self) -> pd.DataFrame:
        """One row a worker: quality with intervals, and a verdict with its evidence."""
        from crowdcore.audit.workers import worker_table

        return worker_table(self)


def wilson(hits: Any, n: Any) -> tuple[Floats, Floats]:
    """The 95 % Wilson intervals of shares `hits / n`; (0, 1) where n is 0."""
    hits, n = np.asarray(hits, np.float64), np.asarray(n, np.float64)
    size = np.maximum(n, 1e-12)
    share, square = hits / size, CONFIDENCE**2
    middle = (share + square / (2 * size)) / (1 + square / size)
    spread = np.sqrt(np.maximum(share * (1 - share) / size + square / (4 * size**2), 0))
    half = CONFIDENCE / (1 + square / size) * spread
    low = np.where(n > 0, np.clip(middle - half, 0, 1), 0.0)
    return low, np.where(n > 0, np.clip(middle + half, 0, 1), 1.0)


def as_array(value: Any, dtype: Any = None) -> NDArray[Any]:
    """A copy as an array, from a tensor on any device or from anything that numpy takes."""
    detach = getattr(value, "detach", None)
    return np.array(value if detach is None else detach().cpu().numpy(), dtype=dtype)


def _plain(artefact: Any) -> Any:
    """An artefact's tensors as arrays, like everything else that a result holds."""
    if not isinstance(artefact, Mapping):
        return artefact
    return {key: as_array(one) if hasattr(one, "detach") else one for key, one in artefact.items()}


def _distributions(value: Any, shape: tuple[int, ...], name: str) -> Floats:
    array = as_array(value, np.float64)
    if array.shape != shape:
        raise ResultError(f"{name}: shape {array.shape} instead of {shape}")
    for rows in _blocks(array.reshape(-1, shape[-1])):
        least = rows.min()
        if not least >= -TIE:  # also where one is not a number
            raise ResultError(f"{name}: a probability is negative or not a number")
        total = rows @ np.ones((shape[-1], 1))  # several times faster than sum(-1)
        if np.abs(total - 1).max() > 1e-3:  # noqa: PLR2004  (float32 rows are off by 1e-6 K)
            raise ResultError(f"{name}: a row does not sum to 1")
        if least < 0:
            np.maximum(rows, 0, out=rows)
        np.divide(rows, total, out=rows)
    return array


def _winners(posterior: Floats) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The likeliest class of every item [N], and whether it is tied with another [N]."""
    truth, tied = np.zeros(len(posterior), np.int32), np.zeros(len(posterior), np.bool_)
    parts = zip(_blocks(posterior), _blocks(truth), _blocks(tied), strict=True)
    for rows, winner, doubtful in parts:
        if rows.shape[1] > FEW:
            winner[:] = rows.argmax(1)
            top = np.take_along_axis(rows, winner[:, None], 1)
            even = np.flatnonzero(top <= 0.5 + TIE)  # more than half is never tied
            doubtful[even] = np.count_nonzero(rows[even] >= top[even] - TIE, axis=1) > 1
            continue
        best, second = rows[:, 0].copy(), np.full(len(rows), -1.0)
        for code in range(1, rows.shape[1]):
            column = rows[:, code].copy()
            np.copyto(winner, code, where=column > best)
            np.maximum(second, np.minimum(column, best), out=second)
            np.maximum(best, column, out=best)
        np.greater_equal(second, best - TIE, out=doubtful)
    return truth, tied


def _blocks(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (table[at : at + ROWS] for at in range(0, len(table), ROWS))


def _scores(scores: Mapping[str, Any], size: int) -> dict[str, Floats]:
    arrays = {name: as_array(value, np.float64) for name, value in scores.items()}
    for name, array in arrays.items():
        if array.shape != (size,) or not np.isfinite(array).all():
            raise ResultError(f"{name}: {size} finite numbers expected")
    return arrays
