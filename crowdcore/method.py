"""Method: a typed config, a few facts, and one function from labels to an estimate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import ValidationError

from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.completion import Completion
from crowdcore.config import Config, RatingConfig, TruthConfig
from crowdcore.data import CrowdData, DataError, Kind
from crowdcore.needs import Needs
from crowdcore.run import Device, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crowdcore.artefacts.completion import Filled
    from crowdcore.results.result import Estimate, Result
    from crowdcore.warm_start import WarmStart

Role = Literal["aggregate", "complete"]

MAX_CONFUSION_CELLS = 500_000_000
"""Most numbers in all confusion matrices together: 4 GB."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method as everyone else sees it; `method` makes one, the registry finds it.

    Parameters
    ----------
    id, family
        The names of its file and of its folder.
    title, year, paper
        What it is called, and where it was published.
    role
        Whether it infers truths ("aggregate"), or fills in labels that nobody gave ("complete").
    config
        Its settings.
    needs
        What it cannot do without.
    function
        Makes an `Estimate` of labels, settings and a run; of a completing method, `Filled`. The
        labels come in the container of their kind, see `engine.containers`.
    card_path
        The file that describes it.
    leaves
        What it may leave beside truths; settings and data decide what of it.
    quick
        Small settings for tests, with which it leaves all that it may.
    excuses
        Promises of the conformance suite that it cannot keep, promise -> reason.
    spreads
        Whether it was tested over several parts, each with some of the items.
    """

    id: str
    title: str
    family: str
    year: int
    paper: str
    role: Role
    config: type[Config]
    needs: Needs
    function: Callable[[Any, Any, Run], Any]
    card_path: Path
    leaves: tuple[type[Artefact], ...] = ()
    quick: Mapping[str, Any] = field(default_factory=dict)
    excuses: Mapping[str, str] = field(default_factory=dict)
    spreads: bool = False

    @property
    def kinds(self) -> frozenset[Kind]:
        """What the labels may be that it works on."""
        return self.needs.kinds

    @property
    def slug(self) -> str:
        """A name that no other method has: ids are unique only among methods of one kind."""
        return self.id if "classes" in self.kinds else f"{min(self.kinds)}-{self.id}"

    @property
    def card(self) -> str:
        """The method's card, in Markdown."""
        return self.card_path.read_text(encoding="utf-8")

    @property
    def summary(self) -> str:
        """The first sentence of the function's docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    def configure(self, params: dict[str, Any]) -> Config:
        """Check settings.

        Parameters
        ----------
        params
            Settings by name; the others keep their defaults.

        Returns
        -------
        Config
            All settings.

        Raises
        ------
        DataError
            If there is no such setting, or a value is out of bounds.
        """
        try:
            return self.config(**params)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            settings = ", ".join(self.config.model_fields) or "none"
            if first["type"] == "extra_forbidden":
                raise DataError(f"{self.id} has no setting {name!r}; it has: {settings}") from None
            message = f"{first['msg'].lower()}, not {first['input']!r}"
            raise DataError(f"The setting {name!r} of {self.id} is wrong: {message}") from None

    def check(self, config: Config, data: CrowdData, *, completed: bool = False) -> None:
        """Refuse a fit that cannot work, before anything is computed.

        Parameters
        ----------
        config
            The settings.
        data
            The data, or the record of a data set: its sizes are enough.
        completed
            Whether labels are filled in before.

        Raises
        ------
        DataError
            If the data lack what the method needs, or the settings contradict them.
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
            from crowdcore.calibration import MIN_GOLD_ITEMS, check_gold

            used = bool(use_gold) or self.needs.gold
            check_gold(data.n_gold, used=used, minimum=MIN_GOLD_ITEMS[data.kind])
        if "classes" in self.kinds:
            _refuse_huge(data)

    def fit(
        self,
        data: CrowdData,
        *,
        run: Run | None = None,
        seed: int = 0,
        device: Device = "auto",
        warm_start: WarmStart | None = None,
        completion: Completion | None = None,
        **params: Any,
    ) -> Result:
        """Infer the truths. Settings are checked first, the result last.

        Parameters
        ----------
        data
            The labels.
        run
            Watches and cancels the fit; it has a seed and a device of its own.
        seed, device
            Of the fit, where no run is given.
        warm_start
            What to begin from: an earlier result of the same or of similar data.
        completion
            Labels that were filled in, to be used beside the observed ones.
        **params
            Settings by name.

        Returns
        -------
        Result
            The truths, and what was learnt on the way to them.

        Raises
        ------
        DataError
            If the method, its settings and the data do not fit together.
        Cancelled
            If the run was asked to stop.
        """
        config = self.configure(params)
        self.check(config, data, completed=completion is not None)
        use_gold = bool(getattr(config, "use_gold", False))
        from crowdcore.engine.completed_labels import CompletedLabels
        from crowdcore.engine.containers import finished, labels_of
        from crowdcore.results.classes import ClassResult
        from crowdcore.results.result import Result

        run = run if run is not None else Run(seed=seed, device=device)
        began = time.perf_counter()
        with seeded(run):
            if completion is None:
                labels = labels_of(data, run.device, config, use_gold=use_gold, start=warm_start)
            else:
                labels = CompletedLabels(
                    completion, run.device, use_gold=use_gold, start=warm_start
                )
            estimate: Estimate = finished(self.function(labels, config, run), data)
        if warm_start is not None and not labels.warm_start_was_used:
            unused = f"{self.title} does not begin from an earlier result: that one was not used."
            estimate = replace(estimate, notes=(*estimate.notes, unused))
        result = Result.checked(
            estimate,
            data=data,
            method=self,
            config=config,
            run=run,
            began=began,
            used_gold=use_gold or self.needs.gold,
        )
        if completion is not None:
            return completion.add_to(result)
        if isinstance(config, RatingConfig) and config.calibrate == "gold":
            from crowdcore.gold_anchor import anchored

            return anchored(result)
        # Of sets, the answers to their yes/no questions are calibrated already.
        of_classes = isinstance(result, ClassResult)
        if not of_classes or not isinstance(config, TruthConfig) or config.calibrate == "off":
            return result
        if config.calibrate == "crowds":
            from crowdcore.confidence.mapping import map_confidence

            return map_confidence(result)
        from crowdcore.calibration import calibrated

        uncalibrated = {**config.model_dump(), "calibrate": "off"}

        def refit(fewer_labels: CrowdData) -> Result:
            # From nothing: a start from this result would have seen what is held out.
            return self.fit(fewer_labels, run=run.part("Calibration"), **uncalibrated)

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
        """Fill in labels that nobody gave. Settings are checked first, the cells last.

        Parameters
        ----------
        data
            The labels.
        run
            Watches and cancels the work; it has a seed and a device of its own.
        seed, device
            Of the work, where no run is given.
        **params
            Settings by name.

        Returns
        -------
        Completion
            The filled labels beside the observed ones.

        Raises
        ------
        DataError
            If the method, its settings and the data do not fit together.
        Cancelled
            If the run was asked to stop.
        """
        from crowdcore.artefacts.completion import refuse_huge
        from crowdcore.engine.labels import Labels

        config = self.configure(params)
        if unmet := self.needs.unmet(data):
            raise DataError(f"{self.title} cannot run on these data. {' '.join(unmet)}")
        refuse_huge(data)
        run = run if run is not None else Run(seed=seed, device=device)
        began = time.perf_counter()
        with seeded(run):
            filled: Filled = self.function(Labels(data, run.device), config, run)
        facts = {
            "method": self.id,
            "title": self.title,
            "params": config.model_dump(mode="json"),
            "seed": run.seed,
            "seconds": time.perf_counter() - began,
        }
        return Completion.from_filled(data, filled, facts)


@contextmanager
def seeded(run: Run) -> Iterator[None]:
    """Seed torch for a fit, and leave its own state as it was.

    Parameters
    ----------
    run
        Whose seed it is.
    """
    import torch

    cuda = [torch.cuda.current_device()] if run.device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        torch.manual_seed(run.seed)
        yield


def _refuse_huge(data: CrowdData) -> None:
    """Say so before memory runs out: a confusion matrix per worker is W * K * K numbers."""
    cells = data.n_workers * data.n_classes**2
    if cells > MAX_CONFUSION_CELLS:
        raise DataError(
            f"{data.n_workers:,} workers with {data.n_classes:,} classes need confusion matrices "
            f"of {8 * cells / 2**30:.0f} GB",
            fix="Merge rare classes, or check that the label column is really the label.",
        )


def _card_path(source: Path) -> Path:
    """`<id>.md` beside a method's file, or `card.md` in its folder."""
    if source.name == "__init__.py":
        return source.with_name("card.md")
    return source.with_suffix(".md")


def method(
    *,
    title: str,
    year: int,
    paper: str,
    config: type[Config],
    role: Role = "aggregate",
    needs: Needs = Needs(),  # noqa: B008  (frozen)
    leaves: Sequence[type[Artefact]] = (),
    quick: Mapping[str, Any] | None = None,
    excuses: Mapping[str, str] | None = None,
    spreads: bool = False,
) -> Callable[[Callable[[Any, Any, Run], Estimate | Filled]], Method]:
    """Make a function a `Method`; its file gives the id, its folder the family.

    Parameters
    ----------
    title, year, paper
        What it is called, and where it was published.
    config
        Its settings.
    role
        Whether it infers truths ("aggregate"), or fills in labels that nobody gave ("complete").
    needs
        What it cannot do without.
    leaves
        What it may leave beside truths; a completing method leaves its `Completion` anyway.
    quick
        Small settings for tests, with which it leaves all that it may.
    excuses
        Promises of the conformance suite that it cannot keep, promise -> reason; those of its
        settings count too.
    spreads
        Whether it was tested over several parts, each with some of the items.

    Returns
    -------
    callable
        A decorator of the function.
    """

    def wrap(function: Callable[[Any, Any, Run], Estimate | Filled]) -> Method:
        family, name = function.__module__.split(".")[-2:]
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
            card_path=_card_path(Path(function.__code__.co_filename)),
            leaves=(Completion, *leaves) if role == "complete" else tuple(leaves),
            quick=quick or {},
            excuses={**config.excuses, **(excuses or {})},
            spreads=spreads,
        )

    return wrap
