"""`crowdcore bench verdicts`: simulated crowds, rivals, coverage, and the tables it prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from crowdcore.bench.verdicts.coverage import coverage
from crowdcore.bench.verdicts.crowds import SHAPING_SEED, SIMULATORS, crowds
from crowdcore.bench.verdicts.rivals import peer_scores, rules_on_truths
from crowdcore.cli import app


def test_both_simulators_know_who_is_what_and_tell_no_gold() -> None:
    for simulator in SIMULATORS:
        (crowd,) = crowds(simulator, 1, first_seed=SHAPING_SEED)
        assert crowd.data.gold is None
        assert len(crowd.character) == crowd.data.n_workers == 60
        assert 10 <= crowd.is_bad.sum() <= 13
        honest = ~crowd.is_bad
        right = crowd.truth[crowd.data.item] == crowd.data.label
        assert (
            right[honest[crowd.data.worker]].mean() > right[crowd.is_bad[crowd.data.worker]].mean()
        )


def test_rivals_find_bad_workers_too() -> None:
    (crowd,) = crowds("product", 1, first_seed=SHAPING_SEED + 2)
    accused = rules_on_truths(crowd.data).accused
    assert accused[crowd.is_bad].mean() > accused[~crowd.is_bad].mean() + 0.5
    for scores in peer_scores(crowd.data).values():
        assert np.median(scores[crowd.is_bad]) > np.median(scores[~crowd.is_bad])


def test_intervals_hold_on_new_items_of_simulated_crowds() -> None:
    holds = []
    for simulator in SIMULATORS:
        for number, crowd in enumerate(crowds(simulator, 6, first_seed=SHAPING_SEED)):
            holds.append(coverage(crowd.data, crowd.truth, seed=number).holds)
    assert 0.92 < np.concatenate(holds).mean() < 0.985


def test_the_command_prints_every_table(tmp_path: Path) -> None:
    (crowd,) = crowds("response theory", 1, first_seed=SHAPING_SEED)
    data = crowd.data
    names = np.array(data.classes)
    rows = [
        f"i{item},w{worker},{name}"
        for item, worker, name in zip(
            data.item.tolist(), data.worker.tolist(), names[data.label].tolist(), strict=True
        )
    ]
    (tmp_path / "labels.csv").write_text("\n".join(["task,worker,label", *rows]), "utf-8")
    truths = [f"i{item},{name}" for item, name in enumerate(names[crowd.truth].tolist())]
    (tmp_path / "truth.csv").write_text("\n".join(["task,truth", *truths]), "utf-8")
    done = CliRunner().invoke(app, ["bench", "verdicts", str(tmp_path), "--crowds", "1"])
    assert done.exit_code == 0, done.output
    for title in (
        "Accusations\n",
        "What a probability means",
        "Other shares of bad workers",
        "Pairs of copies",
        "One worker dropped",
        "What times show",
        "new items of real crowds",
        "Accusations in real crowds",
    ):
        assert title in done.output
