"""What methods that learn ratings from features share: the net, its training, its estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import mse_loss

from crowdcore.artefacts.trained_network import NumberTarget, TrainedNetwork
from crowdcore.engine import rating_model
from crowdcore.engine.learning import networks
from crowdcore.engine.learning.item_features import ItemFeatures, standardised
from crowdcore.engine.learning.ridge import fit_ridge
from crowdcore.engine.learning.training import Learner, Training
from crowdcore.engine.splits import Split, hold_out_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.config import RegressorConfig
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run

MAX_ITEMS_TO_COMPARE = 2000
"""Items on which a ridge regression tells how features are best scaled, and what they leave."""

MIN_SHARE_LEFT = 0.1
"""The least share of a ridge's error that is not put down to the noise of ratings."""

MODEL_ROUNDS, MODEL_TOLERANCE = 200, 1e-6
"""Of the Gaussian worker model that predictions are compared with."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearCheck:
    """What a ridge regression on mean ratings says before any net is trained.

    Attributes
    ----------
    together : bool
        Whether features foretell left-out items better when all are divided by one deviation.
    left_out_variance : float
        Mean squared error for left-out items, of standardised ratings.
    truth_variance : float
        The part of it that is not noise of the mean ratings.
    """

    together: bool
    left_out_variance: float
    truth_variance: float


@dataclass(kw_only=True, eq=False)
class ItemRegressor:
    """A net from the items' features to standardised ratings, as a method's settings describe it.

    Attributes
    ----------
    ratings : Ratings
        The ratings.
    run : Run
        Counts epochs, and can stop the training.
    cfg : RegressorConfig
        Sizes and training settings.
    items : ItemFeatures
        Features of the items.
    linear : LinearCheck
        What a ridge regression says.
    description : dict
        What the net is built from.
    """

    ratings: Ratings
    run: Run
    cfg: RegressorConfig
    items: ItemFeatures
    linear: LinearCheck
    description: dict[str, Any]
    _held_out: tuple[Tensor, Tensor] | None = None  # items, and what the net said of them

    @classmethod
    def from_ratings(cls, ratings: Ratings, cfg: RegressorConfig, run: Run) -> ItemRegressor:
        """Describe the net that suits the items.

        Parameters
        ----------
        ratings : Ratings
            The ratings, and the items with their features.
        cfg : RegressorConfig
            Sizes and training settings.
        run : Run
            Counts epochs, and can stop the training.

        Returns
        -------
        ItemRegressor
        """
        features = ratings.data.features
        assert features is not None  # or `Needs` would have refused the data
        linear = _check_linear(ratings, features)
        items = standardised(ratings, features, together=linear.together)
        hidden = (cfg.hidden,) if cfg.hidden else ()
        description = networks.describe(items.shape, 1, hidden=hidden, dropout=cfg.dropout)
        return cls(
            ratings=ratings, run=run, cfg=cfg, items=items, linear=linear, description=description
        )

    @property
    def training(self) -> Training:
        """The training loop with the method's settings."""
        return Training(labels=self.ratings, run=self.run, cfg=self.cfg)

    def new_net(self, heads: int = 0) -> networks.Net:
        """Build the net with new weights; with so many heads instead of one, if any."""
        description = {**self.description, "heads": heads} if heads else self.description
        return networks.build(description).to(self.ratings.device)

    def features(self, item: Tensor) -> Tensor:
        """Return the features of some items, which may repeat [n, ...]."""
        return self.items.x.index_select(0, item)

    def predict(self, net: torch.nn.Module, item: Tensor | None = None) -> Tensor:
        """Return what a net says of items, all if none are given [n], in standardised ratings."""
        x = self.items.x if item is None else self.features(item)
        return networks.apply_in_chunks(net, x).squeeze(1).to(self.ratings.dtype)

    def split_ratings(self) -> Split:
        """Hold out items, each with all of its ratings, as rows of `ratings.rows`."""
        item_of_row = self.ratings.data.item[self.ratings.rows.order]
        return hold_out_groups(self.ratings, item_of_row, self.cfg.held_out, self.run)

    def learn_numbers(self, items: NDArray[Any], targets: Tensor) -> networks.Net:
        """Train a net on items whose standardised numbers are taken for certain.

        Parameters
        ----------
        items : array of int [T]
            The items to learn from.
        targets : Tensor [T]
            Their numbers.

        Returns
        -------
        Net
        """
        item = self.ratings.tensor(items.astype(np.int64))
        target = targets.to(torch.float32)
        split = hold_out_groups(self.ratings, np.arange(len(items)), self.cfg.held_out, self.run)

        def build() -> Learner:
            net = self.new_net()

            def loss(rows: Tensor) -> Tensor:
                x = self.features(item.index_select(0, rows))
                return mse_loss(net(x).squeeze(1), target.index_select(0, rows))

            return Learner(module=net, loss=loss, stopped=self.remember(net, item))

        net = self.training.learn(split, build).module
        assert isinstance(net, networks.Net)
        return net

    def solve_ridge(self, items: NDArray[Any], targets: Tensor) -> networks.Net:
        """Make a linear net by ridge regression, and keep its errors for left-out items.

        Parameters
        ----------
        items : array of int [T]
            The items to learn from.
        targets : Tensor [T]
            Their standardised numbers.

        Returns
        -------
        Net
        """
        item = self.ratings.tensor(items.astype(np.int64))
        x = self.features(item).flatten(1).cpu().numpy()
        fitted = fit_ridge(x, targets.cpu().numpy())
        self.description = {**self.description, "kind": "linear", "hidden": []}
        net = self.new_net()
        weight = torch.from_numpy(fitted.weight).to(torch.float32).unsqueeze(0)
        intercept = torch.tensor([fitted.intercept], dtype=torch.float32)
        net.load_state_dict({"head.weight": weight, "head.bias": intercept})
        left_out = self.ratings.tensor(fitted.left_out, self.ratings.dtype)
        self._held_out = item, targets - left_out
        return net

    def remember(self, net: torch.nn.Module, item_of_row: Tensor) -> Callable[[Tensor], None]:
        """Make what keeps a net's predictions for held-out rows, before it learns from them too.

        Parameters
        ----------
        net : torch.nn.Module
            From features to numbers.
        item_of_row : Tensor [R]
            The item of each row.

        Returns
        -------
        callable
            Fits `Learner.stopped`.
        """

        def keep(rows: Tensor) -> None:
            items: Tensor = item_of_row.index_select(0, rows).unique()  # type: ignore[no-untyped-call]
            self._held_out = items, self.predict(net, items)

        return keep

    def spread(self, known: Tensor | None = None) -> float:
        """Return the standard error of a prediction, in standardised ratings.

        Predictions for held-out items are compared with what is known, or with the truths of the
        Gaussian worker model, whose own variance counts too. Where nothing was held out, it is
        the error of a ridge regression for left-out items.

        Parameters
        ----------
        known : Tensor [N], optional
            Standardised truths of the items, where the method was told them.
        """
        if self.ratings.is_constant:
            return 0.0
        if self._held_out is None:
            return float(self.linear.left_out_variance**0.5)
        items, predicted = self._held_out
        variance: Tensor | float = 0.0
        if known is None:
            model = rating_model.fit(
                self.ratings,
                self.run.part("Spread"),
                max_iter=MODEL_ROUNDS,
                tol=MODEL_TOLERANCE,
            )
            known, variance = model.truth, model.spread().index_select(0, items) ** 2
        errors = (known.index_select(0, items) - predicted) ** 2 + variance
        return float(errors.mean().sqrt())

    def estimate(
        self,
        net: networks.Net,
        *,
        method: str,
        spread: float | None = None,
        truth: Tensor | None = None,
        truth_spread: Tensor | None = None,
        notes: Sequence[str] = (),
        **fields: Any,
    ) -> NumberEstimate:
        """Make the method's estimate, with the net for further items.

        Parameters
        ----------
        net : Net
            The trained net, with one output.
        method : str
            The method's id.
        spread : float, optional
            The standard error of a prediction; `spread()` if not given.
        truth, truth_spread : Tensor [N], optional
            Standardised truths and their standard errors; the net's own, if not given.
        notes : sequence of str
            What the result should say.
        **fields
            Further fields of the estimate.

        Returns
        -------
        NumberEstimate
        """
        error = self.spread() if spread is None else spread
        if truth is None or truth_spread is None:
            truth = self.predict(net)
            truth_spread = torch.full_like(truth, error)
        network = TrainedNetwork.from_state(
            self.description,
            net.state_dict(),
            mean=self.items.mean,
            scale=self.items.scale,
            method=method,
            target=NumberTarget(
                centre=self.ratings.centre,
                unit=self.ratings.unit,
                scale=self.ratings.scale,
                spread=error,
            ),
        )
        return self.ratings.estimate(
            truth, truth_spread, artefacts=[network], notes=(*self.items.notes, *notes), **fields
        )


def _check_linear(ratings: Ratings, features: NDArray[Any]) -> LinearCheck:
    """Compare two ways to scale features by a ridge regression on mean ratings."""
    flat = features.reshape(len(features), -1)
    n = ratings.labels_per_item
    usable = np.flatnonzero((n > 0) & ~np.isnan(flat).any(1))[:MAX_ITEMS_TO_COMPARE]
    if len(usable) < 3 or ratings.is_constant:  # noqa: PLR2004  (two points are a line)
        return LinearCheck(together=False, left_out_variance=1.0, truth_variance=1.0)
    means, noise = ratings.host_means()
    centred = flat[usable] - flat[usable].mean(0, dtype=np.float64)
    deviation = centred.std(0)
    by_feature = np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
    errors = {}
    for together, x in ((False, by_feature), (True, centred)):
        errors[together] = fit_ridge(x, means[usable]).left_out_variance
        if features.ndim > 2:  # noqa: PLR2004  (pictures are scaled by channel)
            break
    together = errors.get(True, np.inf) < errors[False]
    error = errors[together]
    left = max(error - noise * float((1 / n[usable]).mean()), MIN_SHARE_LEFT * error)
    return LinearCheck(together=together, left_out_variance=error, truth_variance=left)
