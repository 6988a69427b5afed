"""Communities: workers who err alike, where a method looks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.evidence import cell_counts
from crowdcore.data import Floats

if TYPE_CHECKING:
    from crowdcore.result import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class Community:
    """Workers who err alike."""

    share: float  # of all workers
    confusion: Floats  # [true, given]
    counts: NDArray[np.int64]  # [true, given], labels of its members against the truths
    members: NDArray[np.intp]  # codes of the workers likeliest to belong, the surest first

    @property
    def right(self) -> float:
        """How often such a worker is right, every class counting the same."""
        return float(np.diagonal(self.confusion).mean())


def communities(result: Result) -> list[Community]:
    """The communities that a method found, the commonest first; none if it looks for none."""
    found = result.artefacts.get("communities")
    if found is None:
        return []
    membership = np.asarray(found["membership"])  # [W, communities]
    likeliest = np.where(result.data.labels_per_worker > 0, membership.argmax(1), -1)
    made = []
    for place, share in enumerate(found["share"]):
        members = np.flatnonzero(likeliest == place)
        made.append(
            Community(
                share=float(share),
                confusion=np.asarray(found["confusion"][place]),
                counts=cell_counts(result, np.flatnonzero(np.isin(result.data.worker, members))),
                members=members[np.argsort(-membership[members, place], kind="stable")],
            )
        )
    return made
