"""Estimate, what a method returns; Result, what everyone else reads; of any kind of labels."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.distributions import Z_95, checked_scores
from crowdcore.warm_start import WarmStart

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from crowdcore.artefacts.artefact import AnyArtefact, Artefact
    from crowdcore.config import Config
    from crowdcore.method import Method
    from crowdcore.run import Run


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What every method infers besides its answers; each shape of answer has a class of its own.

    Parameters
    ----------
    worker_scores, item_scores
        Further numbers by name, [W] and [N].
    artefacts
        What else the method leaves.
    members
        Results of methods that this one is made of.
    used_gold
        Whether it learnt from gold, where the method itself decides that.
    notes
        Sentences that a reader of the result must see.
    """

    worker_scores: Mapping[str, Tensor | Floats] = field(default_factory=dict)  # name -> [W]
    item_scores: Mapping[str, Tensor | Floats] = field(default_factory=dict)  # name -> [N]
    artefacts: Sequence[Artefact] = ()
    members: tuple[Result, ...] = ()
    used_gold: bool = False
    notes: tuple[str, ...] = ()

    def to_result(self, **common: Any) -> Result:
        """Check the answers and make the result of their shape.

        Parameters
        ----------
        **common
            The fields that every `Result` has.

        Returns
        -------
        Result
            The answers as arrays.

        Raises
        ------
        ResultError
            If a shape or a number is impossible.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a result came about: enough to make it again, and to trust it.

    Parameters
    ----------
    method, title
        The id and the title of the method.
    params, seed, device
        What it was run with.
    seconds, steps
        How long it took.
    converged
        Whether it reached its goal; None where nothing iterates, or for a fixed number of steps.
    created
        When it ended, in ISO 8601.
    version, torch
        The versions of crowdcore and torch.
    data
        The fingerprint of the data.
    used_gold
        Whether the method saw the gold, so that it cannot be scored by it.
    temperature
        By which the probabilities were calibrated; None where they were not.
    notes
        Sentences that a reader of the result must see.
    completion
        How labels were filled in before; None where none were.
    """

    method: str
    title: str
    params: dict[str, Any]
    seed: int
    device: str
    seconds: float
    steps: int
    converged: bool | None
    created: str
    version: str
    torch: str
    data: str
    used_gold: bool = False
    temperature: float | None = None
    notes: tuple[str, ...] = ()
    completion: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Score:
    """How far truths agree with gold; each shape of answer has measures of its own.

    Parameters
    ----------
    n
        How many items have gold.
    """

    n: int

    def __getattr__(self, name: str) -> Any:
        """Say which measures there are instead of one that there is not."""
        if name.startswith("__"):
            raise AttributeError(name)
        has = ", ".join(self.__dataclass_fields__)
        raise AttributeError(f"A {type(self).__name__} has no {name!r}; it has {has}")

    @property
    def figures(self) -> dict[str, float | int]:
        """The measures by name, as they are written to files."""
        raise NotImplementedError

    @property
    def lines(self) -> list[str]:
        """The measures in sentences."""
        raise NotImplementedError

    @property
    def headline(self) -> str:
        """The measure that counts most, in a few words."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """Truths, and everything that was learnt on the way to them; `fit` makes one.

    This is what results of all kinds of labels have in common. What a truth is depends on the
    kind: see `ClassResult` and `NumberResult`.

    Parameters
    ----------
    data
        The labels as observed.
    worker_scores, item_scores
        The method's own numbers by name, [W] and [N].
    artefacts
        What else the method left, as it is stored; read it by `artefact`.
    history
        One row per step, with what was logged.
    provenance
        How the result came about.
    members
        Results of the methods that this one is made of.

    Examples
    --------
    >>> result = crowdcore.fit(data, "ds")  # doctest: +SKIP
    >>> result.truths().head()  # doctest: +SKIP
    """

    data: CrowdData
    worker_scores: dict[str, Floats]
    item_scores: dict[str, Floats]
    artefacts: dict[str, dict[str, Any]]
    history: list[dict[str, float | str]]
    provenance: Provenance
    members: tuple[Result, ...] = ()

    answers: ClassVar[tuple[str, ...]] = ()
    """The fields that hold the answers, arrays with a row per item or per worker."""

    def __getattr__(self, name: str) -> Any:
        """Say what a result of this kind has instead of what it lacks."""
        if name.startswith("__") or "data" not in self.__dict__:
            raise AttributeError(name)
        has = ", ".join(self.answers)
        raise AttributeError(f"A result of {self.data.kind} has no {name!r}; it has {has}")

    @staticmethod
    def checked(
        estimate: Estimate,
        *,
        data: CrowdData,
        method: Method,
        config: Config,
        run: Run,
        began: float,
        used_gold: bool,
    ) -> Result:
        """Convert what a method returned, hold it to its promises, and note how it came about.

        Parameters
        ----------
        estimate
            What the method returned.
        data
            The labels as observed.
        method, config, run
            What made the estimate.
        began
            When, by `time.perf_counter`.
        used_gold
            Whether gold was given to the method.

        Returns
        -------
        Result
            The estimate as arrays.

        Raises
        ------
        ResultError
            If a shape or a number is impossible: a bug of the method.
        """
        import torch

        from crowdcore import __version__

        return estimate.to_result(
            data=data,
            worker_scores=checked_scores(estimate.worker_scores, data.n_workers),
            item_scores=checked_scores(estimate.item_scores, data.n_items),
            artefacts=_stored(estimate.artefacts),
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

    def score(self) -> Score | None:
        """Compare the truths with gold.

        Returns
        -------
        Score or None
            In the measures of this shape of answer; None where there is no gold, or where the
            method has seen it.

        Raises
        ------
        NotImplementedError
            Every shape of answer measures by itself.
        """
        raise NotImplementedError

    @property
    def summary(self) -> dict[str, float | int]:
        """A few numbers about all truths, by name."""
        raise NotImplementedError

    @property
    def summary_line(self) -> str:
        """The same numbers in a sentence."""
        raise NotImplementedError

    @property
    def can_be_scored(self) -> bool:
        """Whether there is gold that the method has not seen."""
        return self.data.n_gold > 0 and not self.provenance.used_gold

    def artefact(self, kind: type[AnyArtefact]) -> AnyArtefact | None:
        """Return what the method left besides, of one class of `crowdcore.artefacts`.

        Parameters
        ----------
        kind : type
            The class of the artefact, such as `Communities`.

        Returns
        -------
        Artefact or None
            None where the method leaves none of this class.

        Examples
        --------
        >>> from crowdcore.artefacts.communities import Communities
        >>> communities = result.artefact(Communities)  # doctest: +SKIP
        """
        stored = self.artefacts.get(kind.name)
        return None if stored is None else kind.from_stored(stored, self.data)

    def with_fields(self, **fields: Any) -> Self:
        """Return the same result with some fields changed.

        Parameters
        ----------
        **fields
            New values by name.

        Returns
        -------
        Result
            A copy that shares all other arrays.
        """
        return replace(self, **fields)

    def with_artefacts(self, *artefacts: Artefact) -> Result:
        """Return the same result with further artefacts.

        Parameters
        ----------
        *artefacts
            Artefacts to keep; each replaces one of the same class.

        Returns
        -------
        Result
            A copy that shares all arrays.
        """
        return replace(self, artefacts={**self.artefacts, **_stored(artefacts)})

    def with_notes(self, *notes: str) -> Result:
        """Return the same result with further sentences that a reader must see.

        Parameters
        ----------
        *notes
            Sentences.

        Returns
        -------
        Result
            A copy that shares all arrays.
        """
        provenance = replace(self.provenance, notes=(*self.provenance.notes, *notes))
        return replace(self, provenance=provenance)

    @property
    def warm_start(self) -> WarmStart:
        """What a later fit of the same or of similar data can begin from."""
        raise DataError(f"Fits of {self.data.kind} do not begin from an earlier result")

    def truths(self) -> pd.DataFrame:
        """Make a table with one row per item: its truth, and how sure that is.

        Returns
        -------
        pandas.DataFrame
            With the columns that `audit.kinds` lists for this kind of labels.
        """
        from crowdcore.audit.kinds import audit_of

        return audit_of(self.data.kind).truths(self)

    def workers(
        self, *, requirement: float | None = None, rows_in_order: bool = False
    ) -> pd.DataFrame:
        """Make a table with one row per worker: quality with intervals, a verdict, its evidence.

        Parameters
        ----------
        requirement
            The accuracy, between 0 and 1, that is asked for; without one nobody is weak.
        rows_in_order
            Whether rows stand in the order of work, for labels without times.

        Returns
        -------
        pandas.DataFrame
            With the columns that `audit.kinds` lists for this kind of labels.
        """
        from crowdcore.audit.kinds import audit_of

        options = {"requirement": requirement, "rows_in_order": rows_in_order or None}
        given = {name: value for name, value in options.items() if value is not None}
        return audit_of(self.data.kind).judge_workers(self, given)


def wilson(hits: Any, n: Any) -> tuple[Floats, Floats]:
    """Give shares their 95 % Wilson intervals.

    Parameters
    ----------
    hits, n
        Counts whose ratios are the shares; they need not be whole numbers.

    Returns
    -------
    tuple of numpy.ndarray
        The lower and the upper ends; 0 and 1 where n is 0.
    """
    hits, n = np.asarray(hits, np.float64), np.asarray(n, np.float64)
    size = np.maximum(n, 1e-12)
    share, square = hits / size, Z_95**2
    middle = (share + square / (2 * size)) / (1 + square / size)
    spread = np.sqrt(np.maximum(share * (1 - share) / size + square / (4 * size**2), 0))
    half = Z_95 / (1 + square / size) * spread
    low = np.where(n > 0, np.clip(middle - half, 0, 1), 0.0)
    return low, np.where(n > 0, np.clip(middle + half, 0, 1), 1.0)


def _stored(artefacts: Sequence[Artefact]) -> dict[str, dict[str, Any]]:
    return {artefact.name: artefact.as_stored() for artefact in artefacts}
