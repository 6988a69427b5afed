"""AALI (2023): classifiers learn from the items whose votes can be relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from crowdcore.method import TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import Codes, Floats
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class AugmentationConfig(TruthConfig):
    """Settings of AALI."""

    folds: int = Field(
        5, ge=2, le=20, description="Parts of the reliable items; each classifier misses one."
    )
    trees: int = Field(100, ge=1, le=2000, description="Trees of the random forest.")
    augment: bool = Field(
        True, description="Let the classifiers see the votes beside the features, as published."
    )
    votes: bool = Field(
        True, description="Count an item's own votes as one more opinion beside the classifiers."
    )


@method(
    title="Attribute augmentation (AALI)",
    year=2023,
    paper="Zhang et al. 2023, Attribute augmentation-based label integration",
    config=AugmentationConfig,
    quick={"trees": 10},
)
def aali(labels: Labels, cfg: AugmentationConfig, run: Run) -> Estimate:
    """Train classifiers on items with clear votes, and let them vote on every item."""
    import numpy as np

    from crowdcore.engine.items import known_items

    items = known_items(labels, run.seed)
    shares = labels.shares().cpu().numpy()
    x = items.x.cpu().numpy().reshape(labels.n_items, -1)
    x = np.hstack([x, shares]) if cfg.augment else x
    counts = labels.counts.cpu().numpy()
    reliable, answer = _reliable(shares, counts)
    opinions = _opinions(x, answer, reliable, n_classes=labels.n_classes, cfg=cfg, run=run)
    silent = ~opinions.any(1, keepdims=True)
    opinions += shares * (cfg.votes | silent)
    note = f"Classifiers learnt from {len(reliable):,} items with clear votes."
    posterior = labels.tensor(opinions / opinions.sum(1, keepdims=True), labels.dtype)
    return Estimate(posterior=posterior, notes=(note, *items.notes))


def _reliable(shares: Floats, counts: Floats) -> tuple[NDArray[Any], Codes]:
    """Items whose top share is at least the average of those with the same majority [R]."""
    import numpy as np

    answer, top = shares.argmax(1), shares.max(1)
    voted = counts > 0
    n = np.bincount(answer[voted], minlength=shares.shape[1])
    mean = np.bincount(answer[voted], top[voted], shares.shape[1]) / np.maximum(n, 1)
    # A tie has no majority to rely on.
    clear = (shares >= top[:, None] - 1e-9).sum(1) == 1
    keep = voted & clear & (top >= mean[answer] - 1e-9)
    return np.flatnonzero(keep), answer.astype(np.int32)


def _opinions(
    x: NDArray[Any],
    answer: Codes,
    reliable: NDArray[Any],
    *,
    n_classes: int,
    cfg: AugmentationConfig,
    run: Run,
) -> Floats:
    """The mean class probabilities [N, K] of the classifiers; zeros where none has a say.

    A classifier has no say on the items that it learnt from.
    """
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    total = np.zeros((len(x), n_classes))
    order = run.rng.permutation(reliable)
    parts = np.array_split(order, max(1, min(cfg.folds, len(order))))
    said = np.zeros(len(x))
    for at in run.loop(len(parts) if len(parts) > 1 else 0, "Classifiers"):
        learn = np.concatenate([part for place, part in enumerate(parts) if place != at])
        asked = np.ones(len(x), bool)
        asked[learn] = False
        for model in (
            RandomForestClassifier(cfg.trees, random_state=run.seed % 2**32, min_samples_leaf=2),
            LogisticRegression(max_iter=1000),
            GaussianNB(var_smoothing=1e-3),
        ):
            if len(np.unique(answer[learn])) < 2:  # noqa: PLR2004  (nothing to tell apart)
                continue
            model.fit(x[learn], answer[learn])
            total[np.ix_(asked, model.classes_)] += model.predict_proba(x[asked])
            said += asked
        run.log(learnt_from=float(len(learn)))
    return total / np.maximum(said, 1)[:, None]
