"""WSLC (2024): a missing label follows the workers who are most alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdcore.artefacts.completion import VALUES_PER_CHUNK, Filled
from crowdcore.config import Config
from crowdcore.method import method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.data import CrowdData
    from crowdcore.engine.labels import Labels
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
    """Fill each missing label by a vote of the item's workers, weighted by similarity."""
    import numpy as np
    from scipy.sparse import csr_array

    from crowdcore.engine.learning.item_features import item_features

    data, items = labels.data, item_features(labels, run.seed)
    features = items.x.cpu().numpy().reshape(data.n_items, -1)
    similarity = _similarity(_correlations(data, features)).astype(np.float32)  # [W, W]
    given = [
        csr_array(
            (np.ones(int(chosen.sum()), np.float32), (data.item[chosen], data.worker[chosen])),
            shape=(data.n_items, data.n_workers),
        )
        for chosen in (data.label == code for code in range(data.n_classes))
    ]
    label = np.full((data.n_items, data.n_workers), -1, np.int16)
    probability = np.zeros(label.shape, np.float16)
    step = max(1, VALUES_PER_CHUNK // data.n_workers)
    for chunk in run.loop(-(-data.n_items // step), "Filling"):
        rows = slice(chunk * step, (chunk + 1) * step)
        best = np.zeros(label[rows].shape, np.float32)
        total = np.zeros_like(best)
        for code, by_worker in enumerate(given):
            votes = by_worker[rows] @ similarity  # [rows, W]
            label[rows] = np.where(votes > best, code, label[rows])
            best = np.maximum(best, votes)
            total += votes
        probability[rows] = best / np.maximum(total, 1e-12)
        run.log(items=float(len(best)))
    run.converged = None
    return Filled(label=label, probability=probability, notes=items.notes)


def _correlations(data: CrowdData, features: NDArray[Any]) -> NDArray[Any]:
    """How each worker's labels correlate with each feature [W, D].

    Pearson's correlations of a feature with having given a class, weighted by how often the
    worker gave it; 0 where either does not vary.
    """
    import numpy as np
    from scipy.sparse import csr_array

    keys = data.worker.astype(np.int64) * data.n_classes + data.label
    shape = (data.n_workers * data.n_classes, data.n_items)
    given = csr_array((np.ones(data.n_labels), (keys, data.item)), shape=shape)
    x = features.astype(np.float64)
    size = (data.n_workers, data.n_classes, -1)
    sums, squares = ((given @ power).reshape(size) for power in (x, x * x))  # [W, K, D]
    n = np.maximum(data.labels_per_worker, 1)[:, None]  # [W, 1]
    share = given.sum(1).reshape(size[:2]) / n  # [W, K]
    mean = sums.sum(1) / n  # [W, D]
    deviation = np.sqrt(np.maximum(squares.sum(1) / n - mean**2, 0))
    covariance = sums / n[:, :, None] - share[:, :, None] * mean[:, None]  # [W, K, D]
    scale = np.sqrt(share * (1 - share))[:, :, None] * deviation[:, None]
    varies = scale > 1e-9  # noqa: PLR2004  (rounding)
    correlation = np.where(varies, covariance / np.where(varies, scale, 1), 0)
    mean_correlation: NDArray[Any] = np.einsum("wk,wkd->wd", share, correlation)
    return mean_correlation


def _similarity(correlations: NDArray[Any]) -> NDArray[Any]:
    """Half of one plus the cosine [W, W]; 0 where a worker has no correlations."""
    import numpy as np

    length = np.linalg.norm(correlations, axis=1)
    has_length = length > 1e-12  # noqa: PLR2004  (rounding)
    unit = correlations / np.where(has_length, length, 1)[:, None]
    both = has_length[:, None] & has_length
    similarity: NDArray[Any] = np.where(both, (1 + unit @ unit.T) / 2, 0)
    return similarity
