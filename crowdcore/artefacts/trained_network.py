"""TrainedNetwork: what was learnt to tell of items by their features, as a method leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from crowdcore.artefacts.artefact import Array, Artefact
from crowdcore.data import Floats
from crowdcore.distributions import Z_95


@dataclass(frozen=True, kw_only=True)
class NumberTarget:
    """How a network's output becomes a number on the scale of the ratings.

    Attributes
    ----------
    centre, unit : float
        What is added to the output after multiplying; of logarithms, before the exponential.
    scale : {"linear", "log"}
        Whether the network learnt ratings or their logarithms.
    spread : float
        The standard error of the output, before it is multiplied.
    """

    centre: float
    unit: float
    scale: Literal["linear", "log"]
    spread: float

    def read(self, outputs: Floats) -> NumberPredictions:
        """Turn a network's outputs [n] into numbers.

        Parameters
        ----------
        outputs : array [n]
            Of the network.

        Returns
        -------
        NumberPredictions
        """
        truth = self.centre + self.unit * np.asarray(outputs, np.float64)
        spread = np.full_like(truth, abs(self.unit) * self.spread)
        low, high = truth - Z_95 * spread, truth + Z_95 * spread
        if self.scale == "log":
            truth, low, high = np.exp(truth), np.exp(low), np.exp(high)
            spread = truth * spread
        return NumberPredictions(truth=truth, spread=spread, low=low, high=high)


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberPredictions:
    """Numbers that a network tells of items, all [n].

    Attributes
    ----------
    truth, spread : array
        The numbers and their standard errors; of logarithms, a number is a median.
    low, high : array
        The ends of the 95 % intervals.
    """

    truth: Floats
    spread: Floats
    low: Floats
    high: Floats


TAGGER = "tagger"
"""The kind of a net whose items are tokens of texts, laid end to end with gaps."""

CRF = "crf"
"""The kind of a linear-chain conditional random field on the same rows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedNetwork(Artefact):
    """A trained network, and how its input was standardised."""

    name: ClassVar[str] = "classifier"
    description: Mapping[str, Any]  # net, classes, method, feature_shape; target, of numbers
    mean: Array  # [D], or [C, 1, 1] of pictures
    scale: Array
    parameters: Mapping[str, Array]  # torch's state

    @classmethod
    def from_state(
        cls,
        net: Mapping[str, Any],
        state: Mapping[str, Any],
        *,
        mean: Array,
        scale: Array,
        method: str,
        classes: Sequence[str] = (),
        target: NumberTarget | None = None,
    ) -> Self:
        """Describe a network that was just trained.

        Parameters
        ----------
        net : mapping
            The network in the words of `engine.networks.describe`.
        state : mapping
            Its weights by name, torch's `state_dict`.
        mean, scale : array
            What was subtracted from the features, and what they were divided by.
        method : str
            The id of the method that trained it.
        classes : sequence of str
            The classes in the order of the network's outputs; none where it tells a number.
        target : NumberTarget, optional
            What the network's one output means, where it tells a number.
        """
        description = {
            "net": dict(net),
            "classes": list(classes),
            "method": method,
            "feature_shape": list(net["shape"]),
        }
        if target is not None:
            description["target"] = asdict(target)
        return cls(description=description, mean=mean, scale=scale, parameters=dict(state))

    @property
    def target(self) -> NumberTarget | None:
        """What the one output means; None of a network that tells classes."""
        target = self.description.get("target")
        return None if target is None else NumberTarget(**target)

    def moved(self, shift: float, slope: float) -> Self:
        """Tell numbers that are moved and stretched; on logarithms where it learnt those.

        Parameters
        ----------
        shift, slope : float
            What is added after multiplying.
        """
        target = self.target
        assert target is not None
        moved = replace(
            target,
            centre=shift + slope * target.centre,
            unit=slope * target.unit,
        )
        return replace(self, description={**self.description, "target": asdict(moved)})
