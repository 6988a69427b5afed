"""`crowdcore bench confidence` and `bench default`: how sure to be, and whether that is honest."""

from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.bench.commands import read_datasets
from crowdcore.cli.bench.reading import JsonFile
from crowdcore.cli.terminal import counter, paragraphs, table, write_json

if TYPE_CHECKING:
    from crowdcore.bench.default import Report
    from crowdcore.bench.feature_gains import FeatureGain

WORTH = 0.0005
"""Gains and losses below it are neither."""


def confidence(
    *,
    crowds: Annotated[int, typer.Option(min=50, help="Simulated crowds to learn from.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the crowds.")] = 0,
    fresh: Annotated[int, typer.Option(min=0, help="Further crowds to check on.")] = 400,
    write: Annotated[
        bool, typer.Option("--write", help="Write the constants into this installation.")
    ] = False,
) -> None:
    """Learn on simulated crowds how often truths are right that look so sure, and check it."""
    from crowdcore.bench import confidence as learning

    with counter(crowds, "Simulating") as on_done:
        outcomes = learning.simulate_outcomes(crowds, seed, on_done)
    constants = learning.learn(outcomes)
    if write:
        learning.write_module(constants, n_crowds=crowds, seed=seed)
        typer.echo(f"Wrote {learning.MODULE}")
    with counter(fresh, "Checking") as on_done:
        checks = learning.check(constants, fresh, seed + 1, on_done)
    rows = [
        [
            each.method,
            f"{each.own_bias:+.3f}",
            f"{each.bias:+.3f}",
            f"{each.coverage:.1%}",
            f"{each.half_width:.3f}",
        ]
        for each in checks
    ]
    heads = ["method", "own bias", "mapped bias", "coverage", "half width"]
    typer.echo(table(heads, rows))
    typer.echo(paragraphs(["", learning.PROTOCOL.format(fresh=fresh)]))


def default(
    *,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...",
            help="Folders with labels.csv and truth.csv, or above such ones.",
        ),
    ],
    repeats: Annotated[int, typer.Option(min=1, help="Rounds of questions per set.")] = 20,
    seeds: Annotated[int, typer.Option(min=0, help="Fits with features per set.")] = 3,
    json_file: JsonFile = None,
) -> None:
    """Measure how honest auto is about itself, and what a few answers and features bring."""
    from dataclasses import asdict

    from crowdcore.bench import feature_gains
    from crowdcore.bench.default import PROTOCOL, measure

    datasets, skipped = read_datasets(folders)
    with counter(len(datasets), "Measuring") as on_done:
        report = measure(datasets, repeats, on_done)
    typer.echo(_honesty_table(report))
    typer.echo("")
    typer.echo(_gains_table(report))
    featured = feature_gains.featured_sets(datasets) if seeds else []
    with counter(len(featured), "Learning from features") as on_done:
        gains = feature_gains.measure(featured, seeds, on_done)
    if gains:
        typer.echo("")
        typer.echo(_features_table(gains))
    typer.echo(paragraphs(["", PROTOCOL, *skipped]))
    if json_file is not None:
        write_json({**report.to_json(), "features": [asdict(gain) for gain in gains]}, json_file)


def _honesty_table(report: "Report") -> str:
    from crowdcore.bench.default import by_source

    rows = [
        [
            row.dataset,
            f"{row.n:,}",
            f"{row.accuracy:.3f}",
            f"{row.ece:.3f} {row.mapped_ece:.3f}",
            f"{row.log_loss:.3f} {row.mapped_log_loss:.3f}",
            f"{row.bias:+.3f} {row.mapped_bias:+.3f}",
            f"{row.low:.2f} to {row.high:.2f}{'' if row.is_covered else ' missed'}",
        ]
        for row in report.honesty
    ]

    def mean_of(name: str) -> str:
        values = by_source({row.dataset: getattr(row, name) for row in report.honesty})
        return f"{values.mean():.3f}"

    covered = [row.is_covered for row in report.honesty]
    half = sum(row.high - row.low for row in report.honesty) / 2 / max(1, len(covered))
    rows.append(
        [
            "mean",
            "",
            mean_of("accuracy"),
            f"{mean_of('ece')} {mean_of('mapped_ece')}",
            f"{mean_of('log_loss')} {mean_of('mapped_log_loss')}",
            f"{mean_of('bias')} {mean_of('mapped_bias')}",
            f"{sum(covered)} of {len(covered)} held, ±{half:.3f}",
        ]
    )
    heads = ["set", "items", "accuracy", "ECE own mapped", "log loss", "bias", "90% interval"]
    return table(heads, rows)


def _gains_table(report: "Report") -> str:
    from crowdcore.bench.default import MIN_DISTANCE, N_ANSWERS, STRATEGIES, by_source

    rows = []
    for strategy in STRATEGIES:
        for number in N_ANSWERS:
            matching = [
                row for row in report.gains if (row.strategy, row.n_answers) == (strategy, number)
            ]
            if not matching:
                continue
            gain = by_source({row.dataset: row.pooled - row.auto for row in matching})
            far = [row for row in matching if row.best - row.auto >= MIN_DISTANCE]
            closed = by_source(
                {row.dataset: (row.pooled - row.auto) / (row.best - row.auto) for row in far}
            )
            error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else float("nan")
            rows.append(
                [
                    strategy,
                    str(number),
                    f"{by_source({row.dataset: row.auto for row in matching}).mean():.4f}",
                    f"{by_source({row.dataset: row.pooled for row in matching}).mean():.4f}",
                    f"{by_source({row.dataset: row.best for row in matching}).mean():.4f}",
                    f"{gain.mean():+.4f} ± {error:.4f}",
                    f"{(gain > WORTH).sum()}, {(gain < -WORTH).sum()}",
                    f"{gain.min():+.4f}",
                    f"{closed.mean():.0%} of {len(closed)}" if len(closed) else "-",
                    "-"
                    if strategy == "least confident"
                    else f"{by_source({row.dataset: row.covered for row in matching}).mean():.0%}",
                ]
            )
    heads = ["asked", "answers", "auto", "chosen", "best", "gain", "won, lost", "worst", "closed"]
    return table([*heads, "covered"], rows)


def _features_table(gains: "list[FeatureGain]") -> str:
    rows = []
    for name in dict.fromkeys(gain.dataset for gain in gains):
        each = [gain for gain in gains if gain.dataset == name]
        changes = [gain.with_features - gain.without for gain in each]
        held = sum(gain.low <= gain.with_features <= gain.high for gain in each)
        rows.append(
            [
                name,
                f"{each[0].without:.4f}",
                f"{mean(gain.with_features for gain in each):.4f}",
                f"{min(changes):+.4f} to {max(changes):+.4f}",
                f"{sum(gain.is_heard for gain in each)} of {len(each)}",
                f"{mean(gain.nats for gain in each):+.3f}",
                f"{each[0].ece_without:.3f} {mean(gain.ece for gain in each):.3f}",
                f"{held} of {len(each)}",
                f"{mean(gain.seconds for gain in each):.1f}",
            ]
        )
    heads = ["set", "without", "with features", "change", "heard", "nats per label", "ECE"]
    return table([*heads, "interval held", "CPU s"], rows)
