"""TrainedNetwork: the weights of a classifier of items, as a method leaves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedNetwork(Artefact):
    """A trained network, and how its input was standardised."""

    name: ClassVar[str] = "classifier"
    description: Mapping[str, Any]  # net, classes, method, feature_shape
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
        classes: Sequence[str],
        method: str,
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
        classes : sequence of str
            The classes in the order of the network's outputs.
        method : str
            The id of the method that trained it.
        """
        description = {
            "net": dict(net),
            "classes": list(classes),
            "method": method,
            "feature_shape": list(net["shape"]),
        }
        return cls(description=description, mean=mean, scale=scale, parameters=dict(state))
