"""How near methods for ratings, sets and comparisons come to known answers, beside peers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdcore.bench.rated_sets import load_rated
from crowdcore.data import OUTCOMES, CrowdData, DataError, Kind
from crowdcore.registry import methods
from crowdcore.results.ranking import RankingScore

if TYPE_CHECKING:
    from crowdcore.data import Floats

ARENA: Mapping[str, Any] = {
    "items": 50,
    "workers": 100,
    "comparisons": 10_000,
    "ties": 0.0,
    "random": 0.2,
}
TAGS: Mapping[str, Any] = {"items": 500, "workers": 40, "labels_per_item": 5}
PEER_STEPS = 100

COLUMNS: Mapping[Kind, tuple[str, ...]] = {
    "ratings": ("rmse", "mae", "r2", "r", "coverage"),
    "sets": ("accuracy", "jaccard", "f1"),
    "comparisons": ("tau", "rho", "pairs_right"),
}
"""The measures of each kind, as its score names them."""

PROTOCOL: Mapping[Kind, str] = {
    "ratings": "Against the known numbers of all rated items; no method sees them. Coverage is "
    "the share of the 95 % intervals that hold the known number. Sets whose ratings are all above "
    "0 and scatter more where they are higher are run on logarithms (log), and scored there.",
    "sets": "Simulated crowds, one per seed. Accuracy is the share of items whose set is exactly "
    "right; F1 is over all yes/no decisions.",
    "comparisons": "Simulated arenas without ties, one per seed; a fifth of the workers answer "
    "blindly. Kendall's and Spearman's correlation with the true scores, and the share of pairs in "
    "the right order. BradleyTerry (tol=0, or it stops at its second step) and NoisyBradleyTerry "
    "are crowd-kit's, with 100 steps.",
}


@dataclass(frozen=True, kw_only=True)
class KindRow:
    """What one method did on one data set."""

    dataset: str
    method: str
    figures: Mapping[str, float]
    cpu_seconds: float

    def to_json(self) -> dict[str, Any]:
        """Turn the row into plain JSON values."""
        figures = {name: float(value) for name, value in self.figures.items()}
        facts = {"dataset": self.dataset, "method": self.method, "cpu_seconds": self.cpu_seconds}
        return {**facts, **figures}


def compare_kind(
    kind: Kind,
    folders: Sequence[Path],
    *,
    names: Sequence[str] | None,
    repeats: int,
    on_done: Callable[[str], None],
) -> tuple[list[KindRow], list[str]]:
    """Run the methods of a kind on data sets with known answers.

    Parameters
    ----------
    kind : Kind
        One of `COLUMNS`.
    folders : sequence of Path
        Folders of rated data sets; sets and comparisons are simulated.
    names : sequence of str, optional
        Ids of methods; all that need labels alone, if not given.
    repeats : int
        How many crowds are simulated.
    on_done : callable
        Called with a short text after each fit.

    Returns
    -------
    rows : list of KindRow
        One per data set and method, peers included.
    skipped : list of str
        A sentence for each data set that cannot be used.
    """
    known = methods(kind=kind)
    if unknown := set(names or ()) - set(known):
        raise DataError(
            f"There is no method {min(unknown)!r} for {kind}", fix=f"There are {', '.join(known)}."
        )
    chosen = [
        known[name] for name in names or known if not (known[name].needs.gold and names is None)
    ]
    sets, skipped = _rated(folders) if kind == "ratings" else (_simulated(kind, repeats), [])
    rows = []
    for title, data, params in sets:
        for method in chosen:
            if method.needs.unmet(data):
                continue
            begun = time.process_time()
            score = method.fit(data, **params).score()
            cpu = time.process_time() - begun
            if score is not None:
                rows.append(_row(kind, title, method.id, score.figures, cpu))
            on_done(f"{method.id} on {title}")
        for peer, figures, cpu in _peers(kind, data):
            rows.append(_row(kind, title, peer, figures, cpu))
            on_done(f"{peer} on {title}")
    return rows, skipped


def _row(kind: Kind, title: str, method: str, figures: Mapping[str, float], cpu: float) -> KindRow:
    kept = {name: figures[name] for name in COLUMNS[kind]}
    return KindRow(dataset=title, method=method, figures=kept, cpu_seconds=cpu)


def _rated(
    folders: Sequence[Path],
) -> tuple[list[tuple[str, CrowdData, dict[str, Any]]], list[str]]:
    """The rated data sets with their truths as gold; on logarithms where errors grow."""
    import numpy as np

    sets: list[tuple[str, CrowdData, dict[str, Any]]] = []
    skipped = []
    for folder in folders:
        try:
            dataset = load_rated(folder)
        except DataError as error:
            skipped.append(f"{folder.name} is skipped: {error}")
            continue
        data, truth, title = dataset.data, dataset.truth, dataset.name
        if _errors_grow(data):
            with np.errstate(invalid="ignore"):
                data, truth = replace(data, label=np.log(data.label)), np.log(truth)
            title += " (log)"
        sets.append((title, replace(data, gold=truth, features=None), {}))
    if not sets:
        raise DataError(f"None of the folders can be used. {' '.join(skipped)}")
    return sets, skipped


def _errors_grow(data: CrowdData) -> bool:
    """Whether the reader says that logarithms suit the ratings."""
    findings = () if data.report is None else data.report.findings
    return any(each.id == "growing_errors" and each.count for each in findings)


def _simulated(kind: Kind, repeats: int) -> list[tuple[str, CrowdData, dict[str, Any]]]:
    from crowdcore.simulation.comparisons import simulate_arena
    from crowdcore.simulation.sets import simulate_sets

    if kind == "sets":
        crowds = [simulate_sets(**TAGS, seed=seed).data for seed in range(repeats)]
    else:
        crowds = [simulate_arena(**ARENA, seed=seed).data for seed in range(repeats)]
    return [(f"simulated, seed {seed}", data, {}) for seed, data in enumerate(crowds)]


def _peers(kind: Kind, data: CrowdData) -> Iterable[tuple[str, Mapping[str, float], float]]:
    """What crowd-kit makes of the same data, where it is installed."""
    if kind != "comparisons" or find_spec("crowdkit") is None:
        return
    import numpy as np
    import pandas as pd
    from crowdkit.aggregation import BradleyTerry, NoisyBradleyTerry

    names = np.array(data.items, dtype=object)
    left, right = names[data.item], names[np.asarray(data.other)]
    winner = np.where(data.label == OUTCOMES.index("left"), left, right)
    frame = pd.DataFrame(
        {
            "worker": np.array(data.workers, dtype=object)[data.worker],
            "left": left,
            "right": right,
            "label": winner,
        }
    )
    for model in (BradleyTerry(n_iter=PEER_STEPS, tol=0), NoisyBradleyTerry(n_iter=PEER_STEPS)):
        begun = time.process_time()
        scores: Floats = model.fit_predict(frame).reindex(names).to_numpy(float)
        cpu = time.process_time() - begun
        assert data.gold is not None
        score = RankingScore.from_scores(scores, data.gold)
        yield f"crowd-kit {type(model).__name__}", score.figures, cpu
