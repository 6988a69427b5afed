"""MMLC-df (2025): every worker's missing labels, as a mixture of experts foretells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.artefacts.completion import AT_ONCE, Filled
from crowdcore.method import ExpertsConfig, method

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class ForetoldConfig(ExpertsConfig):
    """Settings of MMLC-df."""

    threshold: int = Field(
        0,
        ge=0,
        le=1_000_000_000,
        description="Only workers with more labels than this are completed; of the others only "
        "their own labels are used.",
    )


@method(
    title="Foretold by a mixture of experts (MMLC-df)",
    year=2025,
    paper="Han et al., AAAI 2025, Mixture of experts based multi-task supervised learning",
    config=ForetoldConfig,
    role="complete",
    quick={"epochs": 8, "rate": 0.01, "held_out": 0.0, "dropout": 0.0, "members": 2},
)
def mmlc_df(labels: Labels, cfg: ForetoldConfig, run: Run) -> Filled:
    """Learn what each worker would say of any item, and take it for what they did not say."""
    from crowdcore.engine.experts import train_experts

    experts = train_experts(labels, cfg, run)
    chosen = np.flatnonzero(labels.data.labels_per_worker > cfg.threshold)
    items, note = experts.items.told(labels)
    gates = experts.gates.index_select(0, labels.tensor(chosen))
    label = np.full((labels.n_items, labels.n_workers), -1, np.int16)
    probability = np.zeros(label.shape, np.float16)
    step = max(1, AT_ONCE // (labels.n_workers * labels.n_classes))
    for at in range(0, len(items) if len(chosen) else 0, step):
        run.check()
        rows = items[at : at + step]
        sure, said = experts.predict(labels.tensor(rows), gates).max(2)  # eq. 10
        label[np.ix_(rows, chosen)] = said.cpu().numpy()
        probability[np.ix_(rows, chosen)] = sure.exp().clamp(max=1).cpu().numpy()
    idle = labels.n_workers - len(chosen)
    few = f"{idle:,} workers have no more than {cfg.threshold:,} labels and were not completed."
    notes = (*experts.items.notes, *note, *((few,) if idle else ()))
    return Filled(label=label, probability=probability, notes=notes)
