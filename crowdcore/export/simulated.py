"""Tables of a simulated crowd: the truth of every item, and what each worker was made to be."""

from __future__ import annotations

import numpy as np

from crowdcore.data import UNKNOWN, Floats
from crowdcore.export.columns import TableColumn
from crowdcore.simulation.classes import Simulation
from crowdcore.simulation.ratings import RatingSimulation


def _copied_names(simulation: Simulation) -> list[str]:
    workers = simulation.data.workers
    return ["" if code == UNKNOWN else workers[code] for code in simulation.copied_from]


def _expected_accuracy(simulation: Simulation) -> Floats:
    data = simulation.data
    class_shares = np.bincount(simulation.truth, minlength=data.n_classes) / data.n_items
    accuracy: Floats = simulation.confusion.diagonal(axis1=1, axis2=2) @ class_shares
    return accuracy.round(4)


TRUTH_COLUMNS: tuple[TableColumn[Simulation], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The item's name.",
        unit="name",
        values=lambda simulation: list(simulation.data.items),
    ),
    TableColumn(
        name="truth",
        title="Truth",
        help="The item's class, from which the labels were made.",
        unit="class",
        values=lambda simulation: simulation.data.class_names(simulation.truth),
    ),
)
"""Columns of truth.csv."""

WORKER_COLUMNS: tuple[TableColumn[Simulation], ...] = (
    TableColumn(
        name="worker",
        title="Worker",
        help="The worker's name.",
        unit="name",
        values=lambda simulation: list(simulation.data.workers),
    ),
    TableColumn(
        name="character",
        title="Character",
        help="What the worker was made to be, such as good, careless, random or copier.",
        unit="text",
        values=lambda simulation: list(simulation.character),
    ),
    TableColumn(
        name="copied_from",
        title="Copied from",
        help="Whom a copier copied; empty for all others.",
        unit="name",
        values=_copied_names,
    ),
    TableColumn(
        name="n_labels",
        title="Labels",
        help="How many labels the worker gave.",
        unit="labels",
        values=lambda simulation: simulation.data.labels_per_worker,
    ),
    TableColumn(
        name="accuracy",
        title="Accuracy",
        help="How often the worker is right on easy items, as asked for; chance makes the share "
        "in the labels a little different.",
        unit="share",
        values=_expected_accuracy,
    ),
)
"""Columns of workers.csv."""

RATED_TRUTHS: tuple[TableColumn[RatingSimulation], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The item's name.",
        unit="name",
        values=lambda simulation: list(simulation.data.items),
    ),
    TableColumn(
        name="truth",
        title="Truth",
        help="The true number.",
        unit="number",
        values=lambda simulation: simulation.truth,
    ),
)
"""Columns of truth.csv, for ratings."""

RATERS: tuple[TableColumn[RatingSimulation], ...] = (
    TableColumn(
        name="worker",
        title="Worker",
        help="The worker's name.",
        unit="name",
        values=lambda simulation: list(simulation.data.workers),
    ),
    TableColumn(
        name="character",
        title="Character",
        help="What the worker was made to be.",
        unit="text",
        values=lambda simulation: list(simulation.character),
    ),
    TableColumn(
        name="bias",
        title="Bias",
        help="How much higher than the truth the worker rates an average item.",
        unit="number",
        values=lambda simulation: simulation.bias,
    ),
    TableColumn(
        name="slope",
        title="Slope",
        help="How much more the worker gives where the truth is higher by 1.",
        unit="number",
        values=lambda simulation: simulation.slope,
    ),
    TableColumn(
        name="noise",
        title="Noise",
        help="The standard deviation of the worker's errors.",
        unit="number",
        values=lambda simulation: simulation.noise,
    ),
)
"""Columns of workers.csv, for ratings."""
