"""`crowdcore bench gate`: whether EBCC's evidence tells where to take it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.bench.commands import read_datasets
from crowdcore.cli.bench.confidence import WORTH
from crowdcore.cli.bench.reading import JsonFile
from crowdcore.cli.terminal import counter, paragraphs, table, write_json

if TYPE_CHECKING:
    from crowdcore.bench.evidence_gate import GateCrowd, GateGain


def gate(
    *,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...",
            help="Folders with labels.csv and truth.csv, or above such ones.",
        ),
    ],
    seeds: Annotated[int, typer.Option(min=1, help="Fits of each whole crowd.")] = 3,
    resampled: Annotated[int, typer.Option(min=0, help="Crowds without a third of workers.")] = 4,
    json_file: JsonFile = None,
) -> None:
    """Measure whether EBCC should replace auto where its evidence for subtypes is high."""
    from crowdcore.bench import evidence_gate

    datasets, skipped = read_datasets(folders)
    with counter(len(datasets), "Measuring") as on_done:
        crowds = evidence_gate.measure(
            datasets, n_seeds=seeds, n_resampled=resampled, on_done=on_done
        )
    gains = evidence_gate.left_out_gains(crowds)
    typer.echo(_crowds_table(crowds))
    typer.echo("")
    typer.echo(_gains_table(gains))
    typer.echo(paragraphs(["", evidence_gate.PROTOCOL, *skipped]))
    if json_file is not None:
        write_json(evidence_gate.to_json(crowds, gains), json_file)


def _crowds_table(crowds: "list[GateCrowd]") -> str:
    rows = []
    for name in dict.fromkeys(crowd.dataset for crowd in crowds):
        whole = [each for each in crowds if each.dataset == name and not each.is_resampled]
        fewer = [each.surplus for each in crowds if each.dataset == name and each.is_resampled]
        averaged = [each.ebcc[1] for each in whole]
        rows.append(
            [
                name,
                f"{min(each.surplus for each in whole):+.0f} to "
                f"{max(each.surplus for each in whole):+.0f}",
                f"{min(fewer):+.0f} to {max(fewer):+.0f}" if fewer else "-",
                f"{sum(each.vote for each in whole) / len(whole):.3f}",
                f"{sum(each.auto for each in whole) / len(whole):.3f}",
                f"{min(averaged):.3f} to {max(averaged):.3f}",
            ]
        )
    heads = ["set", "surplus in nats", "without a third", "vote", "auto", "ebcc averaged"]
    return table(heads, rows)


def _gains_table(gains: "list[GateGain]") -> str:
    rows = []
    for each in gains:
        n, mean = len(each.gains), sum(each.gains) / max(1, len(each.gains))
        variance = sum((gain - mean) ** 2 for gain in each.gains) / max(1, n - 1)
        rows.append(
            [
                each.variant,
                "steady" if each.is_steady else "by its own evidence",
                f"{mean:+.4f} ± {(variance / max(1, n)) ** 0.5:.4f}",
                f"{each.n_open} of {n}",
                f"{sum(gain > WORTH for gain in each.gains)}, "
                f"{sum(gain < -WORTH for gain in each.gains)}",
                f"{min(each.gains, default=0.0):+.4f}",
            ]
        )
    return table(["taken", "gate", "gain", "open on", "won, lost", "worst"], rows)
