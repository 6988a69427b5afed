"""Which container holds the labels of each kind, as tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from crowdcore.data import CrowdData, Kind
from crowdcore.engine.comparisons import Comparisons
from crowdcore.engine.labels import Labels
from crowdcore.engine.ratings import Ratings
from crowdcore.engine.set_answers import SetAnswers
from crowdcore.engine.texts.valid_tags import with_valid_tags

if TYPE_CHECKING:
    import torch

    from crowdcore.config import Config
    from crowdcore.warm_start import WarmStart

CONTAINERS: Mapping[Kind, type[Any]] = {
    "classes": Labels,
    "comparisons": Comparisons,
    "ratings": Ratings,
    "sequences": Labels,
    "sets": SetAnswers,
}
"""The class that a method of each kind gets its labels in.

Each takes the data, a device, and by name `use_gold`, `start` and what the method's config lists
in `container_settings`; its `warm_start_was_used` says whether the method began from an earlier
result.
"""

FINISHERS: Mapping[Kind, Callable[[Any, CrowdData], Any]] = {"sequences": with_valid_tags}
"""What an estimate of a kind still needs, such as tags that fit together; most need nothing."""


def finished(estimate: Any, data: CrowdData) -> Any:
    """Give an estimate what its kind of labels still needs.

    Parameters
    ----------
    estimate
        What a method returned.
    data
        The labels.

    Returns
    -------
    Estimate
        The same estimate where its kind is not one of `FINISHERS`.
    """
    finish = FINISHERS.get(data.kind)
    return estimate if finish is None else finish(estimate, data)


def labels_of(
    data: CrowdData,
    device: torch.device,
    config: Config,
    *,
    use_gold: bool = False,
    start: WarmStart | None = None,
) -> Any:
    """Put labels into the container of their kind.

    Parameters
    ----------
    data
        The labels.
    device
        What computes.
    config
        The method's settings, of which some may be for the container.
    use_gold
        Whether the method may see the gold.
    start
        An earlier result to begin from.

    Returns
    -------
    object
        One of `CONTAINERS`.
    """
    settings = {name: getattr(config, name) for name in config.container_settings}
    return CONTAINERS[data.kind](data, device, use_gold=use_gold, start=start, **settings)
