"""Vote by token: the tag that most workers gave, with ties to spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.config import Config
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.sequences import SequenceEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class TokenVoteConfig(Config):
    """Settings of the vote by token."""

    ties: Literal["spans", "outside"] = Field(
        "spans",
        description="Who wins a tie between tags: B before I before O, or O before all others.",
    )


@method(
    title="Vote by token",
    year=2014,
    paper="Rodrigues, Pereira and Ribeiro, doi:10.1007/s10994-013-5411-2",
    config=TokenVoteConfig,
    needs=Needs(kinds=frozenset({"sequences"})),
)
def token_mv(labels: Labels, cfg: TokenVoteConfig, run: Run) -> SequenceEstimate:
    """Give each token the tag that most of its workers gave."""
    import numpy as np

    from crowdcore.annotations import vote_by_token
    from crowdcore.spans import TagSet, repaired

    data = labels.data
    winner = vote_by_token(data, ties=cfg.ties)
    truth = repaired(winner, np.asarray(data.offsets)[:-1], TagSet(data.classes))
    return SequenceEstimate(posterior=labels.shares(), truth=truth)
