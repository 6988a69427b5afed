"""MMLC-df (2025): every worker's missing labels, as a mixture of experts predicts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.artefacts.completion import VALUES_PER_CHUNK, Filled
from crowdcore.config import ExpertsConfig
from crowdcore.method import method

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class PredictedLabelsConfig(ExpertsConfig):
    """Settings of MMLC-df."""

    threshold: int = Field(
        0,
        ge=0,
        le=1_000_000_000,
        description="Only workers with more labels than this are completed; of the others, only "
        "observed labels are used.",
    )


@method(
    title="Predicted by a mixture of experts (MMLC-df)",
    year=2025,
    paper="Han et al., AAAI 2025, Mixture of experts based multi-task supervised learning",
    config=PredictedLabelsConfig,
    role="complete",
    quick={"epochs": 8, "rate": 0.01, "held_out": 0.0, "dropout": 0.0, "members": 2},
)
def mmlc_df(labels: Labels, cfg: PredictedLabelsConfig, run: Run) -> Filled:
    """Predict each worker's missing labels by a mixture of experts on the items' features."""
    from crowdcore.engine.learning.expert_mixture import train_experts

    experts = train_experts(labels, cfg, run)
    chosen = np.flatnonzero(labels.data.labels_per_worker > cfg.threshold)
    items, note = experts.items.described_items(labels)
    gates = experts.gates.index_select(0, labels.tensor(chosen))
    label = np.full((labels.n_items, labels.n_workers), -1, np.int16)
    probability = np.zeros(label.shape, np.float16)
    step = max(1, VALUES_PER_CHUNK // (labels.n_workers * labels.n_classes))
    for begin in range(0, len(items) if len(chosen) else 0, step):
        run.check()
        rows = items[begin : begin + step]
        log_probability, predicted = experts.predict(labels.tensor(rows), gates).max(2)  # eq. 10
        label[np.ix_(rows, chosen)] = predicted.cpu().numpy()
        probability[np.ix_(rows, chosen)] = log_probability.exp().clamp(max=1).cpu().numpy()
    n_skipped = labels.n_workers - len(chosen)
    skipped = (
        f"{n_skipped:,} workers have no more than {cfg.threshold:,} labels and were not completed."
    )
    notes = (*experts.items.notes, *note, *((skipped,) if n_skipped else ()))
    return Filled(label=label, probability=probability, notes=notes)
