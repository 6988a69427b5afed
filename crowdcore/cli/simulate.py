"""`crowdcore simulate`: labels of a crowd whose truth is known."""

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdcore.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdcore.export.columns import TableColumn
    from crowdcore.simulation.classes import Simulation
    from crowdcore.simulation.ratings import RatingSimulation


class SimulatedKind(StrEnum):
    """What simulated labels are."""

    CLASSES = "classes"
    RATINGS = "ratings"


_CROWD, _ITEMS = "The crowd", "The items"


def simulate(
    *,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write the files.")],
    items: Annotated[int, typer.Option(min=1, help="Items.", rich_help_panel=_ITEMS)] = 1000,
    classes: Annotated[int, typer.Option(min=2, help="Classes.", rich_help_panel=_ITEMS)] = 4,
    labels_per_item: Annotated[
        int, typer.Option(min=1, help="Labels per item.", rich_help_panel=_ITEMS)
    ] = 5,
    hard_items: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Share that looks like another class.", rich_help_panel=_ITEMS
        ),
    ] = 0.0,
    skew: Annotated[
        float,
        typer.Option(min=0, help="0: all classes equally common.", rich_help_panel=_ITEMS),
    ] = 0.0,
    features: Annotated[
        int, typer.Option(min=0, help="Features per item; 0: none.", rich_help_panel=_ITEMS)
    ] = 16,
    workers: Annotated[int, typer.Option(min=1, help="Workers.", rich_help_panel=_CROWD)] = 50,
    spammers: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the workers.", rich_help_panel=_CROWD),
    ] = 0.1,
    adversaries: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the workers.", rich_help_panel=_CROWD),
    ] = 0.0,
    copiers: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the workers.", rich_help_panel=_CROWD),
    ] = 0.0,
    experts: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the honest workers.", rich_help_panel=_CROWD),
    ] = 0.1,
    careless: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of the honest workers.", rich_help_panel=_CROWD),
    ] = 0.2,
    class_bias: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Lopsided share of the honest workers.", rich_help_panel=_CROWD
        ),
    ] = 0.1,
    activity: Annotated[
        float,
        typer.Option(
            min=0, help="0: all work equally much; 1: a steep power law.", rich_help_panel=_CROWD
        ),
    ] = 0.8,
    kind: Annotated[
        SimulatedKind,
        typer.Option(
            help="What the labels are. For ratings only items, workers, labels per item, features, "
            "activity and seed count."
        ),
    ] = SimulatedKind.CLASSES,
    seed: Annotated[int, typer.Option(min=0, help="The seed.")] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that are already there.")
    ] = False,
) -> None:
    """Simulate a crowd: labels.csv, truth.csv, features.npz, and workers.csv with who was what."""
    from crowdcore.export import simulated
    from crowdcore.simulation.classes import simulate as make

    _check_empty(out, force=force)
    if kind is SimulatedKind.RATINGS:
        from crowdcore.simulation.ratings import simulate_ratings

        rated = simulate_ratings(
            items=items,
            workers=workers,
            ratings_per_item=labels_per_item,
            features=features,
            activity=activity,
            seed=seed,
        )
        _write(rated, out, simulated.RATED_TRUTHS, simulated.RATERS)
        _report(rated, out)
        return
    simulation = make(
        items=items,
        workers=workers,
        classes=classes,
        labels_per_item=labels_per_item,
        experts=experts,
        careless=careless,
        spammers=spammers,
        adversaries=adversaries,
        copiers=copiers,
        class_bias=class_bias,
        hard_items=hard_items,
        skew=skew,
        activity=activity,
        features=features,
        seed=seed,
    )
    _write(simulation, out, simulated.TRUTH_COLUMNS, simulated.WORKER_COLUMNS)
    _report(simulation, out)


def _report(simulation: "Simulation | RatingSimulation", out: Path) -> None:
    data = simulation.data
    people = Counter(simulation.character).most_common()
    typer.echo(
        f"{out}: {count(data.n_labels, 'label')} of {count(data.n_items, 'item')} by "
        f"{count(data.n_workers, 'worker')} ({', '.join(f'{n} {name}' for name, n in people)})"
    )


def _check_empty(out: Path, *, force: bool) -> None:
    from crowdcore.data import DataError

    names = ("labels.csv", "truth.csv", "features.npz", "workers.csv")
    existing = [name for name in names if (out / name).exists()]
    if existing and not force:
        raise DataError(
            f"{out} already has {', '.join(existing)}", fix="Choose another folder or add --force."
        )
    out.mkdir(parents=True, exist_ok=True)


def _write(
    simulation: "Simulation | RatingSimulation",
    out: Path,
    truth_columns: "Sequence[TableColumn[Any]]",
    worker_columns: "Sequence[TableColumn[Any]]",
) -> None:
    import numpy as np

    from crowdcore.atomic import atomic
    from crowdcore.export.columns import build_table
    from crowdcore.export.tables import labels
    from crowdcore.export.writers import write_csv

    data = simulation.data
    write_csv(labels(data), out / "labels.csv")
    write_csv(build_table(truth_columns, simulation), out / "truth.csv")
    write_csv(build_table(worker_columns, simulation), out / "workers.csv")
    if data.features is None:
        (out / "features.npz").unlink(missing_ok=True)  # those of older items must not stay
    else:
        with atomic(out / "features.npz") as temporary:
            np.savez(temporary, item=np.array(data.items), x=data.features)
