"""Results that leave a spectral space behind, made by hand."""

from __future__ import annotations

import numpy as np

from crowdcore.artefacts.spectral import Origin, SpectralSpace
from crowdcore.confusion import worker_confusion
from crowdcore.results.result import Result

CENTRES = ("kde", "kde_w", "mean")


def blending(
    result: Result,
    *,
    origin: Origin = "features",
    moved: int = 4,
    experts: int = 6,
    bound: bool = False,
) -> Result:
    """Give a result a spectral space: alike workers blend alike, and "mean" moves some truths.

    "mean" gives the first `moved` items the next class, the first of them the most surely.
    """
    data = result.data
    rng = np.random.default_rng(0)
    confusion = worker_confusion(result).reshape(data.n_workers, -1)
    score = 3 * confusion @ rng.normal(size=(confusion.shape[1], experts))
    workers = np.exp(score + 0.1 * rng.normal(size=score.shape))
    workers /= workers.sum(1, keepdims=True)
    centre = workers.mean(0)
    other = centre**2 / (centre**2).sum()
    truth = np.stack([result.truth] * len(CENTRES))
    truth[2, :moved] = (truth[2, :moved] + 1) % data.n_classes
    confidence = np.stack([result.confidence] * len(CENTRES))
    confidence[2, :moved] = np.linspace(0.9, 0.6, moved)
    space = SpectralSpace(
        workers=workers,
        centres=CENTRES,
        used="kde",
        oracle=np.stack([centre, centre, other]),
        truth=truth,
        confidence=confidence,
        origin=origin,
        bound=other if bound else None,
        bound_accuracy=0.97 if bound else None,
    )
    return result.with_artefacts(space)
