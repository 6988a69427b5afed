"""Which methods can be told apart: Friedman's test, Nemenyi's post-hoc test, and their diagram.

A block is something that all methods were tried on, such as a data set; blocks should not repeat
each other. Within a block the best method has rank 1, and ties share the middle of their ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdcore.bench.papers import Table
from crowdcore.data import DataError

LEVEL = 0.05
MIN_METHODS = 3
"""Methods that Friedman's test needs; two are compared by a test for pairs."""

LINE, BAR = "#444444", "#c0392b"
HIGH = 0.5
"""Between two names, where the axis with its numbers is 1 high."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranking:
    """Methods by their mean rank, the best first, and which of them are told apart."""

    names: tuple[str, ...]
    mean_ranks: NDArray[np.float64]  # [M]
    n_blocks: int
    statistic: float  # Friedman's chi-square, corrected for ties
    p_value: float  # that all methods are alike
    critical_difference: float  # of mean ranks, at 5 %
    pairwise: NDArray[np.float64]  # [M, M] Nemenyi's p values
    groups: tuple[tuple[str, ...], ...]  # the largest sets of neighbours that are not told apart

    def table(self, title: str) -> Table:
        """Lay the ranking out, with its critical-difference diagram.

        Parameters
        ----------
        title : str
            Title of the table.

        Returns
        -------
        Table
            One row per method, the best first.
        """
        letters = {
            name: "".join(
                chr(ord("a") + index) for index, group in enumerate(self.groups) if name in group
            )
            for name in self.names
        }
        rows = [
            [name, f"{rank:.2f}", f"{p:.3f}", letters[name]]
            for name, rank, p in zip(self.names, self.mean_ranks, self.pairwise[0], strict=True)
        ]
        header = ["method", "mean rank", "p against the first", "groups"]
        figure = diagram(self, title)
        return Table(title=title, header=header, rows=rows, notes=self._notes(), figure=figure)

    def _notes(self) -> tuple[str, ...]:
        conclusion = "at least one differs" if self.p_value < LEVEL else "they are not told apart"
        return (
            f"Friedman's test over {self.n_blocks} blocks: chi-square {self.statistic:.2f}, "
            f"p = {self.p_value:.3g}, so {conclusion}. Rank 1 is best; ties share their ranks.",
            f"Nemenyi's test: mean ranks less than {self.critical_difference:.2f} apart do not "
            "differ at 5 %. Methods that share a letter are not told apart.",
        )


def compare(scores: Mapping[str, ArrayLike], *, higher_is_better: bool = True) -> Ranking:
    """Rank methods by their scores.

    Parameters
    ----------
    scores : dict of str to array_like
        Per method, one score per block; the same blocks for all.
    higher_is_better : bool, default True
        Whether the highest score of a block has rank 1.

    Returns
    -------
    Ranking
        Mean ranks, tests and groups.

    Raises
    ------
    DataError
        There are too few methods, or scores are missing.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    table = _table(scores)  # [M, B]
    n_methods, n_blocks = table.shape
    ranks = rankdata(-table if higher_is_better else table, axis=0)
    means = ranks.mean(1)
    order = np.argsort(means, kind="stable")
    means = means[order]
    # Where every block is one tie, the statistic is 0 / 0.
    all_tied = bool((table == table[0]).all())
    statistic, p_value = (0.0, 1.0) if all_tied else friedmanchisquare(*table)
    error = np.sqrt(n_methods * (n_methods + 1) / (12 * n_blocks))
    distance = np.abs(means[:, None] - means)
    critical = float(studentized_range.ppf(1 - LEVEL, n_methods, np.inf) * error)
    names = tuple(list(scores)[index] for index in order)
    # Pairs are looked at only where Friedman's test says that there is something to find.
    reach = critical if p_value < LEVEL else np.inf
    return Ranking(
        names=names,
        mean_ranks=means,
        n_blocks=n_blocks,
        statistic=float(statistic),
        p_value=float(p_value),
        critical_difference=critical,
        pairwise=np.clip(studentized_range.sf(distance / error, n_methods, np.inf), 0.0, 1.0),
        groups=_groups(names, means, reach),
    )


def _table(scores: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
    """The scores as numbers [M, B]."""
    rows = [np.asarray(values, np.float64).reshape(-1) for values in scores.values()]
    if len(rows) < MIN_METHODS:
        raise DataError(f"Ranks are compared for at least {MIN_METHODS} methods, not {len(rows)}")
    sizes = {len(row) for row in rows}
    if len(sizes) > 1 or sizes == {0}:
        raise DataError("Every method needs a score for each block, of which there is at least one")
    table = np.stack(rows)
    if not np.isfinite(table).all():
        name = list(scores)[int(np.flatnonzero(~np.isfinite(table).all(1))[0])]
        raise DataError(
            f"A score of {name} is missing or not finite",
            fix="Compare the blocks that all methods could be tried on.",
        )
    return table


def _groups(
    names: Sequence[str], means: NDArray[np.float64], reach: float
) -> tuple[tuple[str, ...], ...]:
    """The largest runs of neighbouring methods whose mean ranks are no further apart."""
    ends = [int(np.flatnonzero(means - first <= reach)[-1]) + 1 for first in means]
    return tuple(
        tuple(names[start:end])
        for start, end in enumerate(ends)
        if start == 0 or end > ends[start - 1]
    )


def diagram(ranking: Ranking, title: str) -> Any:
    """Draw the critical-difference diagram: names at their mean ranks, bars over groups.

    Parameters
    ----------
    ranking : Ranking
        The methods with their mean ranks.
    title : str
        Title of the figure.

    Returns
    -------
    object
        A Plotly figure.
    """
    import plotly.graph_objects as go

    n = len(ranking.names)
    x_min, x_max = 1 - 0.05 * n, max(n, 1 + ranking.critical_difference) + 0.05 * n
    bars = [group for group in ranking.groups if len(group) > 1]
    below = -1 - HIGH * len(bars)
    figure = go.Figure()
    for index, (name, rank) in enumerate(zip(ranking.names, ranking.mean_ranks, strict=True)):
        # The better half is named on the left, from the top; the worse on the right, mirrored.
        on_left = index < (n + 1) // 2
        height = below - HIGH * (index if on_left else n - 1 - index)
        edge = x_min if on_left else x_max
        figure.add_scatter(x=[rank, rank, edge], y=[0, height, height], **_line(LINE, 1))
        figure.add_annotation(
            x=edge,
            y=height,
            text=f"{name} ({rank:.2f})",
            showarrow=False,
            xanchor="right" if on_left else "left",
        )
    at = dict(zip(ranking.names, ranking.mean_ranks, strict=True))
    for index, group in enumerate(bars):
        height = -0.75 - HIGH * index
        ends = [at[group[0]] - 0.03, at[group[-1]] + 0.03]
        figure.add_scatter(x=ends, y=[height, height], **_line(BAR, 5))
    critical = 1 + ranking.critical_difference
    figure.add_scatter(x=[1, critical], y=[0.6, 0.6], **_line(LINE, 3))
    caption = f"critical difference {ranking.critical_difference:.2f}"
    figure.add_annotation(x=(1 + critical) / 2, y=0.85, text=caption, showarrow=False)
    figure.add_scatter(x=[1, n], y=[0, 0], **_line(LINE, 2))
    for rank in range(1, n + 1):
        figure.add_annotation(x=rank, y=0.25, text=str(rank), showarrow=False)
    lowest = below - HIGH * ((n + 1) // 2)
    figure.update_layout(
        title=title,
        xaxis={"visible": False, "range": [x_min, x_max]},
        yaxis={"visible": False, "range": [lowest, 1.1]},
        height=round(60 * (1.1 - lowest)) + 80,
        margin={"l": 180, "r": 180, "t": 60, "b": 20},
        showlegend=False,
        template="plotly_white",
    )
    return figure


def _line(colour: str, width: int) -> dict[str, Any]:
    return {"mode": "lines", "line": {"color": colour, "width": width}, "hoverinfo": "skip"}
