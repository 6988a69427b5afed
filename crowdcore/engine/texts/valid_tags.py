"""Valid tags: what methods that know nothing of neighbours infer, made to fit together."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import torch

from crowdcore.engine.texts.chain import FORBIDDEN, ChainLayout, viterbi
from crowdcore.results.sequences import SequenceEstimate
from crowdcore.spans import TagSet

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import CrowdData
    from crowdcore.results.classes import ClassEstimate

MIN_PROBABILITY = 1e-10
"""The smallest probability whose logarithm is taken."""


def likeliest_valid_tags(
    posterior: Tensor, offsets: NDArray[np.integer], tag_set: TagSet
) -> Tensor:
    """Return the likeliest valid tags of each text, where tokens are independent [N].

    Parameters
    ----------
    posterior : Tensor [N, K]
        The probability of each tag of each token.
    offsets : array of int [S + 1]
        Where each text starts, and the last one ends.
    tag_set : TagSet
        What the tags mean.

    Returns
    -------
    Tensor [N]
    """
    layout = ChainLayout(offsets)
    device = posterior.device
    order, rank = (torch.from_numpy(x).to(device) for x in (layout.order, layout.rank))
    forbidden = torch.from_numpy(np.where(tag_set.allowed, 0.0, FORBIDDEN)).to(device)
    scores = posterior.clamp(min=MIN_PROBABILITY).log()[order]
    return viterbi(layout, scores, forbidden, forbidden[tag_set.outside])[rank]


def with_valid_tags(estimate: ClassEstimate, data: CrowdData) -> SequenceEstimate:
    """Give an estimate of tokens valid tags, unless it has them.

    Parameters
    ----------
    estimate : ClassEstimate
        What a method inferred of each token.
    data : CrowdData
        The texts.

    Returns
    -------
    SequenceEstimate
    """
    if isinstance(estimate, SequenceEstimate):
        return estimate
    values = {field.name: getattr(estimate, field.name) for field in fields(estimate)}
    posterior = torch.as_tensor(estimate.posterior)
    if data.offsets is None:
        raise ValueError("Sequences have offsets")
    truth = likeliest_valid_tags(posterior, data.offsets, TagSet(data.classes))
    return SequenceEstimate(**{**values, "truth": truth})
