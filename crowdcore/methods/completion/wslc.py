"""WSLC (2024): a missing label follows the workers who are most alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdcore.artefacts.completion import AT_ONCE, Filled
from crowdcore.method import Config, method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import CrowdData
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class SimilarWorkersConfig(Config):
    """WSLC has no settings."""


@method(
    title="Worker similarity (WSLC)",
    year=2024,
    paper="Wu et al. 2024, Worker similarity-based label completion",
    config=SimilarWorkersConfig,
    role="complete",
)
def wslc(labels: Labels, cfg: SimilarWorkersConfig, run: Run) -> Filled:
    """Ask the workers who labelled an item what another would say; the alike weigh more."""
    import numpy as np
    from scipy.sparse import csr_array

    from crowdcore.engine.items import known_items

    data, items = labels.data, known_items(labels, run.seed)
    features = items.x.cpu().numpy().reshape(data.n_items, -1)
    similar = _similarity(_habits(data, features)).astype(np.float32)  # [W, W]
    given = [
        csr_array(
            (np.ones(int(chosen.sum()), np.float32), (data.item[chosen], data.worker[chosen])),
            shape=(data.n_items, data.n_workers),
        )
        for chosen in (data.label == code for code in range(data.n_classes))
    ]
    label = np.full((data.n_items, data.n_workers), -1, np.int16)
    probability = np.zeros(label.shape, np.float16)
    step = max(1, AT_ONCE // data.n_workers)
    for at in run.loop(-(-data.n_items // step), "Filling"):
        rows = slice(at * step, (at + 1) * step)
        best = np.zeros(label[rows].shape, np.float32)
        total = np.zeros_like(best)
        for code, one in enumerate(given):
            votes = one[rows] @ similar  # [rows, W]
            label[rows] = np.where(votes > best, code, label[rows])
            best = np.maximum(best, votes)
            total += votes
        probability[rows] = best / np.maximum(total, 1e-12)
        run.log(items=float(len(best)))
    run.converged = None
    return Filled(label=label, probability=probability, notes=items.notes)


def _habits(data: CrowdData, features: NDArray[Any]) -> NDArray[Any]:
    """How each worker's labels go with each feature [W, D].

    Pearson's correlations of a feature with having given a class, weighed by how often the
    worker gave it; 0 where either does not vary.
    """
    import numpy as np
    from scipy.sparse import csr_array

    keys = data.worker.astype(np.int64) * data.n_classes + data.label
    shape = (data.n_workers * data.n_classes, data.n_items)
    said = csr_array((np.ones(data.n_labels), (keys, data.item)), shape=shape)
    x = features.astype(np.float64)
    size = (data.n_workers, data.n_classes, -1)
    sums, squares = ((said @ power).reshape(size) for power in (x, x * x))  # [W, K, D]
    n = np.maximum(data.labels_per_worker, 1)[:, None]  # [W, 1]
    share = said.sum(1).reshape(size[:2]) / n  # [W, K]
    mean = sums.sum(1) / n  # [W, D]
    spread = np.sqrt(np.maximum(squares.sum(1) / n - mean**2, 0))
    apart = sums / n[:, :, None] - share[:, :, None] * mean[:, None]  # covariances [W, K, D]
    scale = np.sqrt(share * (1 - share))[:, :, None] * spread[:, None]
    varies = scale > 1e-9  # noqa: PLR2004  (rounding)
    correlation = np.where(varies, apart / np.where(varies, scale, 1), 0)
    habits: NDArray[Any] = np.einsum("wk,wkd->wd", share, correlation)
    return habits


def _similarity(habits: NDArray[Any]) -> NDArray[Any]:
    """Half of one plus the cosine [W, W]; 0 where a worker has no habits."""
    import numpy as np

    length = np.linalg.norm(habits, axis=1)
    there = length > 1e-12  # noqa: PLR2004  (rounding)
    unit = habits / np.where(there, length, 1)[:, None]
    similar: NDArray[Any] = np.where(there[:, None] & there, (1 + unit @ unit.T) / 2, 0)
    return similar
