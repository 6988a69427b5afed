"""AALI (2023): classifiers learn from the items whose votes can be relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import Codes, Floats
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class AugmentationConfig(TruthConfig):
    """Settings of AALI."""

    folds: int = Field(
        5, ge=2, le=20, description="Folds of the reliable items; each classifier misses one."
    )
    trees: int = Field(100, ge=1, le=2000, description="Number of trees in the random forest.")
    augment: bool = Field(
        True, description="Add the vote shares to the features of the classifiers, as published."
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
    excuses={
        "fake_cuda": "Its classifiers are scikit-learn's, which compute on the host.",
        "renaming": "Which items a classifier misses is drawn, and the draws follow the codes.",
    },
)
def aali(labels: Labels, cfg: AugmentationConfig, run: Run) -> ClassEstimate:
    """Train classifiers on items with clear votes, and average their predictions."""
    import numpy as np

    from crowdcore.engine.learning.item_features import item_features

    items = item_features(labels, run.seed)
    shares = labels.shares().cpu().numpy()
    x = items.x.cpu().numpy().reshape(labels.n_items, -1)
    x = np.hstack([x, shares]) if cfg.augment else x
    counts = labels.counts.cpu().numpy()
    reliable, answer = _reliable(shares, counts)
    opinions = _opinions(x, answer, reliable, n_classes=labels.n_classes, cfg=cfg, run=run)
    no_opinion = ~opinions.any(1, keepdims=True)
    opinions += shares * (cfg.votes | no_opinion)
    note = f"Classifiers learnt from {len(reliable):,} items with clear votes."
    posterior = labels.tensor(opinions / opinions.sum(1, keepdims=True), labels.dtype)
    return ClassEstimate(posterior=posterior, notes=(note, *items.notes))


def _reliable(shares: Floats, counts: Floats) -> tuple[NDArray[Any], Codes]:
    """Items whose top share is at least the average of those with the same majority [R]."""
    import numpy as np

    from crowdcore.engine.learning.supervision import clear_majorities

    answer, top = shares.argmax(1), shares.max(1)
    # A tie has no majority to rely on, but counts for the mean.
    untied = (shares >= top[:, None] - 1e-9).sum(1) == 1
    reliable = untied & clear_majorities(top, answer, counts > 0)
    return np.flatnonzero(reliable), answer.astype(np.int32)


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

    from crowdcore.engine.splits import folds

    total = np.zeros((len(x), n_classes))
    splits = folds(reliable, cfg.folds, run.rng)
    n_opinions = np.zeros(len(x))
    for fold in run.loop(len(splits) if len(splits) > 1 else 0, "Classifiers"):
        train, _ = splits[fold]
        unseen = np.ones(len(x), bool)
        unseen[train] = False
        for model in (
            RandomForestClassifier(cfg.trees, random_state=run.seed % 2**32, min_samples_leaf=2),
            LogisticRegression(max_iter=1000),
            GaussianNB(var_smoothing=1e-3),
        ):
            if len(np.unique(answer[train])) < 2:  # noqa: PLR2004  (nothing to tell apart)
                continue
            model.fit(x[train], answer[train])
            total[np.ix_(unseen, model.classes_)] += model.predict_proba(x[unseen])
            n_opinions += unseen
        run.log(learnt_from=float(len(train)))
    return total / np.maximum(n_opinions, 1)[:, None]
