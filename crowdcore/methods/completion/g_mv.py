"""G_MV: a missing label is drawn from what the others said of the item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.artefacts.completion import Filled
from crowdcore.config import Config
from crowdcore.method import method

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


CELLS_PER_CHUNK = 1_000_000
"""Missing labels that are drawn together."""


class DrawnVotesConfig(Config):
    """G_MV has no settings."""


@method(
    title="Drawn votes (G_MV)",
    year=2024,
    paper="Baseline of MMLC: labels generated from each item's votes",
    config=DrawnVotesConfig,
    role="complete",
)
def g_mv(labels: Labels, cfg: DrawnVotesConfig, run: Run) -> Filled:
    """Draw each missing label from the votes on its item."""
    import numpy as np

    shares = labels.data.votes / np.maximum(labels.data.votes.sum(1, keepdims=True), 1)
    cumulative = shares.cumsum(1)
    voted = np.flatnonzero(labels.data.labels_per_item)
    label = np.full((labels.n_items, labels.n_workers), -1, np.int16)
    probability = np.zeros(label.shape, np.float16)
    n_chunks = max(1, len(voted) * labels.n_workers // CELLS_PER_CHUNK)
    chunks = np.array_split(voted, n_chunks)
    for chunk in run.loop(n_chunks, "Drawing"):
        rows = chunks[chunk]
        draw = run.rng.random((len(rows), labels.n_workers), np.float32)
        # The number of classes whose shares are passed; a draw just below 1 must not pass all.
        drawn = (draw[:, :, None] >= cumulative[rows, None, :-1]).sum(2)
        label[rows] = drawn
        probability[rows] = np.take_along_axis(shares[rows], drawn, 1)
        run.log(items=float(len(rows)))
    run.converged = None
    return Filled(label=label, probability=probability)
