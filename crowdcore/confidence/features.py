"""What other crowds have in common with this one: numbers of its items, and of all of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.pool_members import PoolMembers
from crowdcore.data import CrowdData, Floats
from crowdcore.results.result import Result

ITEM_FEATURES = (
    "logit of the confidence",
    "vote share of the truth",
    "margin of the votes",
    "log labels",
    "voices that agree",
    "logit of the confidence x log labels",
)
CROWD_FEATURES = (
    "logit of the mean confidence",
    "spread of the confidence",
    "share of confidences above .9",
    "log classes",
    "log labels per item",
    "kappa",
    "mean vote share of the winner",
    "share of unanimous items",
)

MAX_CONFIDENCE = 0.9999
"""Confidences are cut here before their logit is taken."""

HIGH_CONFIDENCE = 0.9


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """The votes of a crowd, item by item.

    Parameters
    ----------
    n
        Labels of each item [N].
    share, margin
        The share of the winner, and its lead before the second [N].
    wins
        Whether a class has most votes, alone or with others [N, K].
    """

    n: Floats
    share: Floats
    margin: Floats
    wins: NDArray[np.bool_]

    @classmethod
    def from_data(cls, data: CrowdData) -> Votes:
        """Count the votes of labels.

        Parameters
        ----------
        data
            Labels with classes.

        Returns
        -------
        Votes
            With zeros where nobody voted.
        """
        votes = data.votes
        n = votes.sum(1).astype(np.float64)
        top = votes.max(1)
        second = np.partition(votes, -2, axis=1)[:, -2] if votes.shape[1] > 1 else 0 * top
        size = np.maximum(n, 1)
        return cls(n=n, share=top / size, margin=(top - second) / size, wins=votes == top[:, None])


def item_features(result: Result, votes: Votes, confidence: Floats) -> Floats:
    """Describe how sure a method and its crowd are of each truth.

    Parameters
    ----------
    result
        The truths, and the members of a pool.
    votes
        The votes of the same items.
    confidence
        The method's own probability of the likeliest class [N].

    Returns
    -------
    numpy.ndarray
        One column per name in `ITEM_FEATURES` [N, 6].
    """
    rows, data = np.arange(len(confidence)), result.data
    truth = np.maximum(result.truth, 0)
    logit = log_odds(np.clip(confidence, 1 / data.n_classes, MAX_CONFIDENCE))
    share = data.votes[rows, truth] / np.maximum(votes.n, 1)
    log_n = np.log1p(votes.n)
    return np.stack(
        [logit, share, votes.margin, log_n, _agreement(result, votes, truth), logit * log_n], 1
    )


def _agreement(result: Result, votes: Votes, truth: NDArray[np.int64]) -> Floats:
    """Share of the voices, a pool's members and the votes, that choose the truth [N]."""
    by_votes = votes.wins[np.arange(len(truth)), truth].astype(np.float64)
    members = result.artefact(PoolMembers)
    if members is None or "members_against" not in result.item_scores:
        return by_votes
    n_members = len(members.names)
    agreeing = n_members - result.item_scores["members_against"]
    return (agreeing + by_votes) / (n_members + 1)


def crowd_features(data: CrowdData, votes: Votes, confidence: Floats) -> Floats:
    """Describe a crowd by its mapped confidences and its votes.

    Parameters
    ----------
    data
        The labels.
    votes
        Their votes.
    confidence
        Mapped confidences [N].

    Returns
    -------
    numpy.ndarray
        One number per name in `CROWD_FEATURES` [8].
    """
    voted = votes.n > 0
    sure = confidence[voted]
    n = votes.n[voted]
    return np.array(
        [
            float(log_odds(np.clip(sure.mean(), 0.01, 0.995))),
            sure.std(),
            (sure > HIGH_CONFIDENCE).mean(),
            np.log(data.n_classes),
            np.log(n.mean()),
            kappa(data.votes[voted]),
            votes.share[voted].mean(),
            (votes.share[voted] == 1).mean(),
        ]
    )


def kappa(votes: NDArray[np.int64]) -> float:
    """Return Fleiss' kappa: agreement of two labels of an item beyond chance.

    Parameters
    ----------
    votes
        How often each item got each class [N, K].

    Returns
    -------
    float
        0 where no item has two labels, or only one class is given.
    """
    n = votes.sum(1)
    pairs = n > 1
    if not pairs.any():
        return 0.0
    several, n = votes[pairs].astype(np.float64), n[pairs]
    observed = ((several**2).sum(1) - n) / (n * (n - 1))
    shares = votes.sum(0) / votes.sum()
    chance = float((shares**2).sum())
    return float((observed.mean() - chance) / (1 - chance)) if chance < 1 else 0.0


def log_odds(share: Floats | float) -> Floats:
    """Return log(p / (1 - p)).

    Parameters
    ----------
    share
        Numbers between 0 and 1.
    """
    share = np.asarray(share, np.float64)
    return np.asarray(np.log(share) - np.log1p(-share))
