"""Spectral methods meet EM (2014): Dawid-Skene, started by the method of moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class SpectralConfig(GoldConfig):
    """Settings of the spectral start with EM."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of EM iterations.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when the mean log-likelihood per label gains less."
    )
    smoothing: float = Field(
        0.01,
        ge=0,
        le=10,
        description="Labels added to each cell of a confusion matrix, against zeros.",
    )


MAX_CLASSES = 50
"""The third moments have this number cubed of entries."""

MIN_ENTRY = 0.01
"""The smallest entry of a matrix that comes from moments; EM would never leave a zero."""


@method(
    title="Spectral start and EM",
    year=2014,
    paper="Zhang et al., NIPS 2014; JMLR 17(102)",
    config=SpectralConfig,
    excuses={
        "fake_cuda": "The moments are taken apart on the host, and numbers decide whether that is "
        "valid.",
    },
)
def spectral_em(labels: Labels, cfg: SpectralConfig, run: Run) -> ClassEstimate:
    """Start Dawid-Skene from moments across three groups of workers instead of from votes."""
    from crowdcore.engine import em
    from crowdcore.methods.confusion.spectral_em import _moments as moments

    notes: tuple[str, ...] = ()
    posterior = em.initial_posterior(labels, "votes")
    if labels.warm_start is None:
        try:
            posterior = _start(labels)
        except moments.NotValidError as reason:
            notes = (f"The spectral start was not possible, as {reason}; EM began from the votes.",)
    for _ in run.loop(cfg.max_iter, "EM"):
        prior = em.class_prior(labels, posterior)
        confusion = em.normalise_rows(em.given_counts(labels, posterior), cfg.smoothing)
        posterior, log_likelihood = em.e_step(labels, prior, confusion, posterior)
        run.log(loglik=log_likelihood / labels.n_labels)
        if run.plateaued("loglik", cfg.tol):
            break
    return ClassEstimate(posterior=posterior, confusion=confusion, notes=notes)


def _start(labels: Labels) -> Tensor:
    """The posterior [N, K] under the matrices that the moments give."""
    import numpy as np
    import torch

    from crowdcore.engine import em
    from crowdcore.methods.confusion.spectral_em import _moments as moments

    n_classes, n_workers = labels.n_classes, labels.n_workers
    if not 1 < n_classes <= MAX_CLASSES:
        raise moments.NotValidError(f"it takes 2 to {MAX_CLASSES} classes")
    groups = moments.group(labels.data)
    member = labels.tensor(np.eye(3)[groups], labels.dtype)  # [W, 3]
    eye = torch.eye(n_classes, dtype=labels.dtype, device=labels.device)
    table = torch.einsum("wg,lk->wlgk", member, eye).reshape(n_workers * n_classes, -1)
    votes = labels.sum_over_items(table).reshape(-1, 3, n_classes)  # [N, 3, K]
    total = votes.sum(2, keepdim=True)
    shares = votes / total.clamp(min=1)  # a group without labels has none, and adds nothing
    on_host = shares.cpu().numpy().astype(np.float64)
    by_all_groups = (on_host.sum(2) > 0).all(1)
    matrices, prior = moments.decompose(on_host[by_all_groups].transpose(1, 0, 2))
    joint = labels.sum_over_keys(shares.reshape(len(shares), -1)).cpu().numpy()
    joint = joint.astype(np.float64).reshape(n_workers, n_classes, 3, n_classes)
    confusion = moments.worker_confusions(joint.transpose(2, 0, 1, 3), groups, matrices, prior)
    confusion = np.maximum(confusion, MIN_ENTRY)
    confusion /= confusion.sum(2, keepdims=True)
    posterior, _ = em.e_step(labels, labels.tensor(prior), labels.tensor(confusion))
    return posterior
