"""Communities: workers who err alike, where a method looks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.artefact import Array, Artefact
from crowdcore.confusion import cell_counts
from crowdcore.data import UNKNOWN, Floats

if TYPE_CHECKING:
    from crowdcore.results.result import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class Community:
    """Workers who err alike."""

    share: float  # of all workers
    confusion: Floats  # [true, given]
    counts: NDArray[np.int64]  # [true, given], labels of its members against the truths
    members: NDArray[np.intp]  # codes of the workers likeliest to belong, the surest first

    @property
    def accuracy(self) -> float:
        """How often such a worker is right, every class counting the same."""
        return float(np.diagonal(self.confusion).mean())


@dataclass(frozen=True, kw_only=True, eq=False)
class Communities(Artefact):
    """Kinds of workers, the commonest first."""

    name: ClassVar[str] = "communities"
    share: Array  # [C] of all workers
    confusion: Array  # [C, true, given]
    membership: Array  # [W, C] probability that a worker belongs to a community

    def with_members(self, result: Result) -> list[Community]:
        """List the communities, each with the workers who likeliest belong to it.

        Parameters
        ----------
        result : Result
            The result that the communities are of.

        Returns
        -------
        list of Community
            In the order of the arrays; a worker without labels belongs to none.
        """
        data = result.data
        likeliest = np.where(data.labels_per_worker > 0, self.membership.argmax(1), UNKNOWN)
        communities = []
        for index, share in enumerate(self.share):
            members = np.flatnonzero(likeliest == index)
            label_rows = np.flatnonzero(np.isin(data.worker, members))
            surest_first = np.argsort(-self.membership[members, index], kind="stable")
            communities.append(
                Community(
                    share=float(share),
                    confusion=self.confusion[index],
                    counts=cell_counts(result, label_rows),
                    members=members[surest_first],
                )
            )
        return communities
