"""Method: a typed config, a few facts, and one function from labels to an estimate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crowdcore.data import CrowdData, DataError, Kind
from crowdcore.run import Device, Run

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.result import Beliefs, Estimate, Result

Role = Literal["aggregate", "complete"]

MOST_CELLS = 500_000_000
"""Most numbers in all confusion matrices together: 4 GB."""


class Config(BaseModel):
    """Settings of a method. Every field has bounds, a default and a description."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TruthConfig(Config):
    """Settings of every method that infers truths."""

    calibrate: Literal["off", "labels", "gold"] = Field(
        "off",
        description="Soften or sharpen the probabilities so that they fit labels that were held "
        "out, or the gold. The truths stay; the result then also estimates its own accuracy.",
    )


class GoldConfig(TruthConfig):
    """Settings of a method that can learn from gold answers."""

    use_gold: bool = Field(
        False,
        description="Hold the items with gold at their known answer, so that workers are judged "
        "by them. The result can then no longer be scored on these items.",
    )


class LearningConfig(TruthConfig):
    """Settings of a method that trains a network by mini-batches."""

    epochs: int = Field(100, ge=1, le=20_000, description="Most passes over what is learnt from.")
    batch: int = Field(64, ge=1, le=1_000_000, description="Rows that make one step.")
    rate: float = Field(1e-3, gt=0, le=1, description="Learning rate of Adam.")
    decay: float = Field(0.0, ge=0, le=1, description="Weight decay.")
    held_out: float = Field(
        0.2, ge=0, le=0.5, description="Share held out to choose when to stop; 0 never stops early."
    )
    patience: int = Field(
        10, ge=1, le=1000, description="Epochs without gain on what is held out before stopping."
    )
    refit: bool = Field(
        True,
        description="Train anew on everything, for as many epochs as were best with some held out.",
    )


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a method cannot do without."""

    features: bool = False
    gold: bool = False
    two_classes: bool = False
    kind: Kind = "classes"

    def unmet(self, data: CrowdData) -> list[str]:
        """Say in sentences why the method does not fit these data."""
        sentences = []
        if data.kind != self.kind:
            sentences.append(f"It works on {self.kind}; these data are {data.kind}.")
        if self.features and data.features is None:
            sentences.append("It needs item features; add a features file.")
        if self.gold and not data.n_gold:
            sentences.append("It needs gold answers; add a gold column or file.")
        if self.two_classes and data.n_classes != 2:  # noqa: PLR2004  (two is two)
            sentences.append(f"It needs exactly two classes; these data have {data.n_classes}.")
        return sentences

    def words(self) -> str:
        """Name the needs in a few words."""
        flags = [("features", self.features), ("gold", self.gold), ("2 classes", self.two_classes)]
        return ", ".join(name for name, needed in flags if needed) or "labels"


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method as everyone else sees it; found by the registry, run by `fit`."""

    id: str
    title: str
    family: str
    year: int
    paper: str
    role: Role
    config: type[Config]
    needs: Needs
    function: Callable[[Labels, Any, Run], Estimate]
    card_path: Path
    quick: Mapping[str, Any] = field(default_factory=dict)  # small settings for tests

    @property
    def card(self) -> str:
        """The method's card, in Markdown."""
        return self.card_path.read_text(encoding="utf-8")

    @property
    def summary(self) -> str:
        """The first sentence of the function's docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    def configure(self, params: dict[str, Any]) -> Config:
        """Check settings; a wrong one is a `DataError` that names it and its bounds."""
        try:
            return self.config(**params)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            known = ", ".join(self.config.model_fields) or "none"
            if first["type"] == "extra_forbidden":
                raise DataError(f"{self.id} has no setting {name!r}; it has: {known}") from None
            message = f"{first['msg'].lower()}, not {first['input']!r}"
            raise DataError(f"The setting {name!r} of {self.id} is wrong: {message}") from None

    def fit(
        self,
        data: CrowdData,
        *,
        run: Run | None = None,
        seed: int = 0,
        device: Device = "auto",
        warm_start: Beliefs | None = None,
        **params: Any,
    ) -> Result:
        """Infer the truths. Settings are checked first, the result last.

        `warm_start` is what an earlier result believes, of the same or of similar data.
        """
        config = self.configure(params)
        use_gold = bool(getattr(config, "use_gold", False))
        if use_gold and not data.n_gold:
            raise DataError("There is no gold to use", fix="Add gold, or switch use_gold off.")
        if unmet := self.needs.unmet(data):
            raise DataError(f"{self.title} cannot run on these data. {' '.join(unmet)}")
        _refuse_huge(data)
        import torch

        from crowdcore.labels import Labels
        from crowdcore.result import Result

        run = run if run is not None else Run(seed=seed, device=device)
        begun = time.perf_counter()
        cuda = [torch.cuda.current_device()] if run.device.type == "cuda" else []
        with torch.random.fork_rng(devices=cuda):
            torch.manual_seed(run.seed)
            posterior = None if warm_start is None else warm_start.about(data)
            labels = Labels(data, run.device, use_gold=use_gold, start=posterior)
            estimate = self.function(labels, config, run)
        if posterior is not None and not labels.warm_was_used:
            unused = f"{self.title} does not begin from an earlier result: that one was not used."
            estimate = replace(estimate, notes=(*estimate.notes, unused))
        result = Result.checked(
            estimate,
            data=data,
            method=self,
            config=config,
            run=run,
            began=begun,
            used_gold=use_gold or self.needs.gold,
        )
        if not isinstance(config, TruthConfig) or config.calibrate == "off":
            return result
        from crowdcore.audit.calibration import calibrated

        plain = {**config.model_dump(), "calibrate": "off"}

        def refit(less: CrowdData) -> Result:
            # From nothing: a start from this result would have seen what is held out.
            return self.fit(less, run=run.part("Calibration"), **plain)

        return calibrated(result, config.calibrate, refit, np.random.default_rng(run.seed))


def _refuse_huge(data: CrowdData) -> None:
    """Say so before memory runs out: a confusion matrix a worker is W * K * K numbers."""
    cells = data.n_workers * data.n_classes**2
    if cells > MOST_CELLS:
        raise DataError(
            f"{data.n_workers:,} workers with {data.n_classes:,} classes need confusion matrices "
            f"of {8 * cells / 2**30:.0f} GB",
            fix="Merge rare classes, or check that the label column is really the label.",
        )


def method(
    *,
    title: str,
    year: int,
    paper: str,
    config: type[Config],
    role: Role = "aggregate",
    needs: Needs = Needs(),  # noqa: B008  (frozen)
    quick: Mapping[str, Any] | None = None,
) -> Callable[[Callable[[Labels, Any, Run], Estimate]], Method]:
    """Make a function a `Method`; its file gives the id, its folder the family."""

    def wrap(function: Callable[[Labels, Any, Run], Estimate]) -> Method:
        family, name = function.__module__.split(".")[-2:]
        source = Path(function.__code__.co_filename)
        return Method(
            id=name,
            title=title,
            family=family,
            year=year,
            paper=paper,
            role=role,
            config=config,
            needs=needs,
            function=function,
            card_path=source.with_suffix(".md"),
            quick=quick or {},
        )

    return wrap
