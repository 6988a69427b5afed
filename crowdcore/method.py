"""Method: a typed config, a few facts, and one function from labels to an estimate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crowdcore.data import CrowdData, DataError, Kind
from crowdcore.run import Device, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crowdcore.artefacts.completion import Completion, Filled
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


class LearningConfig(Config):
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


class ClassifierConfig(LearningConfig, TruthConfig):
    """Settings of a method that trains a net from the items' features to their classes."""

    hidden: int = Field(
        128, ge=0, le=4096, description="Units in the hidden layer; 0 makes the net linear."
    )
    dropout: float = Field(
        0.5, ge=0, le=0.95, description="Share of the hidden units that are silenced in a step."
    )


class ExpertsConfig(LearningConfig):
    """Settings of a method that trains a mixture of experts to predict each worker's labels."""

    epochs: int = Field(200, ge=1, le=20_000, description="Most passes over the labels.")
    architecture: Literal["auto", "labelme", "text", "music"] = Field(
        "auto",
        description="How many experts of what size: fitting the number of workers, or as the paper "
        "has it for one of its data sets.",
    )
    members: int = Field(
        5, ge=1, le=50, description="Models that begin differently and whose answers are averaged."
    )
    dropout: float = Field(
        0.5, ge=0, le=0.95, description="Share of the hidden units that are silenced in a step."
    )


class JointConfig(ClassifierConfig, GoldConfig):
    """Settings of a method that fits a classifier and the workers together, by EM."""

    classifier: Literal["logistic", "network"] = Field(
        "logistic",
        description="What learns the classes from the features: logistic regression, or a network, "
        "to which all settings of training belong.",
    )
    ridge: float = Field(
        1.0,
        gt=0,
        le=1e6,
        description="How strongly the coefficients of the logistic regression are held near 0.",
    )
    max_iter: int = Field(
        30, ge=1, le=10_000, description="Most EM iterations with logistic regression."
    )
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when a label's mean log-likelihood gains less."
    )
    smoothing: float = Field(
        0.1, gt=0, le=10, description="Labels of each class added to what each worker gave."
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
    function: Callable[[Labels, Any, Run], Any]  # an Estimate; of a completing method, Filled
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

    def check(self, config: Config, data: CrowdData, *, completed: bool = False) -> None:
        """Refuse a fit that cannot work, in a sentence, before anything is computed.

        `data` may also be the row of a data set: its sizes are enough.
        """
        use_gold, calibrate = (getattr(config, name, None) for name in ("use_gold", "calibrate"))
        if use_gold and not data.n_gold:
            raise DataError("There is no gold to use", fix="Add gold, or switch use_gold off.")
        if unmet := self.needs.unmet(data):
            raise DataError(f"{self.title} cannot run on these data. {' '.join(unmet)}")
        if completed and calibrate in ("labels", "gold"):
            raise DataError(
                "Labels that were filled in cannot tell how sure to be",
                fix="Switch calibrate off, or aggregate without completion.",
            )
        if calibrate == "gold":
            from crowdcore.audit.calibration import check_gold

            check_gold(data.n_gold, used=bool(use_gold) or self.needs.gold)
        _refuse_huge(data)

    def fit(
        self,
        data: CrowdData,
        *,
        run: Run | None = None,
        seed: int = 0,
        device: Device = "auto",
        warm_start: Beliefs | None = None,
        completion: Completion | None = None,
        **params: Any,
    ) -> Result:
        """Infer the truths. Settings are checked first, the result last.

        `warm_start` is what an earlier result believes, of the same or of similar data.
        `completion` has labels that were filled in, to be used beside the observed ones.
        """
        config = self.configure(params)
        self.check(config, data, completed=completion is not None)
        use_gold = bool(getattr(config, "use_gold", False))
        from crowdcore.completed import CompletedLabels
        from crowdcore.labels import Labels
        from crowdcore.result import Result

        run = run if run is not None else Run(seed=seed, device=device)
        begun = time.perf_counter()
        with _seeded(run):
            if completion is None:
                labels = Labels(data, run.device, use_gold=use_gold, start=warm_start)
            else:
                labels = CompletedLabels(
                    completion, run.device, use_gold=use_gold, start=warm_start
                )
            estimate: Estimate = self.function(labels, config, run)
        if warm_start is not None and not labels.warm_was_used:
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
        if completion is not None:
            return _told_of(result, completion)
        if not isinstance(config, TruthConfig) or config.calibrate == "off":
            return result
        from crowdcore.audit.calibration import calibrated

        plain = {**config.model_dump(), "calibrate": "off"}

        def refit(less: CrowdData) -> Result:
            # From nothing: a start from this result would have seen what is held out.
            return self.fit(less, run=run.part("Calibration"), **plain)

        return calibrated(result, config.calibrate, refit, np.random.default_rng(run.seed))

    def complete(
        self,
        data: CrowdData,
        *,
        run: Run | None = None,
        seed: int = 0,
        device: Device = "auto",
        **params: Any,
    ) -> Completion:
        """Fill in labels that nobody gave. Settings are checked first, the cells last."""
        from crowdcore.artefacts.completion import checked, refuse_huge
        from crowdcore.labels import Labels

        config = self.configure(params)
        if unmet := self.needs.unmet(data):
            raise DataError(f"{self.title} cannot run on these data. {' '.join(unmet)}")
        refuse_huge(data)
        run = run if run is not None else Run(seed=seed, device=device)
        begun = time.perf_counter()
        with _seeded(run):
            filled: Filled = self.function(Labels(data, run.device), config, run)
        facts = {
            "method": self.id,
            "title": self.title,
            "params": config.model_dump(mode="json"),
            "seed": run.seed,
            "seconds": time.perf_counter() - begun,
        }
        return checked(data, filled, facts)


@contextmanager
def _seeded(run: Run) -> Iterator[None]:
    """Seed torch for a fit, and leave its own state as it was."""
    import torch

    cuda = [torch.cuda.current_device()] if run.device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        torch.manual_seed(run.seed)
        yield


def _told_of(result: Result, completion: Completion) -> Result:
    """Say in a result that it rests on labels that nobody gave; workers are not judged by them."""
    before, after = completion.density
    filled = (
        f"{completion.n_filled:,} labels that nobody gave were filled in by "
        f"{completion.facts['title']} before ({before:.1%} of all cells had a label, now "
        f"{after:.1%}). Workers are judged by the labels they gave themselves."
    )
    notes = (filled, *completion.facts["notes"], *result.provenance.notes)
    facts = {**completion.facts, "filled": completion.n_filled, "density": [before, after]}
    seconds = completion.facts["seconds"] + result.provenance.seconds
    told = replace(result.provenance, completion=facts, notes=notes, seconds=seconds)
    return replace(
        result,
        confusion=None,
        members=(),  # they are about the completed labels, which are no data set
        artefacts={**result.artefacts, **completion.parts()},
        provenance=told,
    )


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
) -> Callable[[Callable[[Labels, Any, Run], Estimate | Filled]], Method]:
    """Make a function a `Method`; its file gives the id, its folder the family."""

    def wrap(function: Callable[[Labels, Any, Run], Estimate | Filled]) -> Method:
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
