"""`crowdcore simulate`: labels of a crowd whose truth is known."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.frame import count

if TYPE_CHECKING:
    from crowdcore.simulation import Simulation

_CROWD, _ITEMS = "The crowd", "The items"


def simulate(
    *,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write the files.")],
    items: Annotated[int, typer.Option(min=1, help="Items.", rich_help_panel=_ITEMS)] = 1000,
    classes: Annotated[int, typer.Option(min=2, help="Classes.", rich_help_panel=_ITEMS)] = 4,
    labels_per_item: Annotated[
        int, typer.Option(min=1, help="Labels an item.", rich_help_panel=_ITEMS)
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
        int, typer.Option(min=0, help="Features an item; 0: none.", rich_help_panel=_ITEMS)
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
    seed: Annotated[int, typer.Option(min=0, help="The seed.")] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that are already there.")
    ] = False,
) -> None:
    """Simulate a crowd: labels.csv, truth.csv, features.npz, and workers.csv with who was what."""
    from crowdcore.simulation import simulate as make

    _check_empty(out, force=force)
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
    _write(simulation, out)
    data = simulation.data
    people = Counter(simulation.character).most_common()
    typer.echo(
        f"{out}: {count(data.n_labels, 'label')} of {count(data.n_items, 'item')} by "
        f"{count(data.n_workers, 'worker')} ({', '.join(f'{n} {name}' for name, n in people)})"
    )


def _check_empty(out: Path, *, force: bool) -> None:
    from crowdcore.data import DataError

    names = ("labels.csv", "truth.csv", "features.npz", "workers.csv")
    there = [name for name in names if (out / name).exists()]
    if there and not force:
        raise DataError(
            f"{out} already has {', '.join(there)}", fix="Choose another folder or add --force."
        )
    out.mkdir(parents=True, exist_ok=True)


def _write(simulation: "Simulation", out: Path) -> None:
    import numpy as np
    import pandas as pd

    from crowdcore.io.atomic import atomic
    from crowdcore.io.writers import write_csv

    data = simulation.data
    columns = {
        "item": pd.Categorical.from_codes(data.item, pd.Index(data.items)),
        "worker": pd.Categorical.from_codes(data.worker, pd.Index(data.workers)),
        "label": pd.Categorical.from_codes(data.label, pd.Index(data.classes)),
    }
    write_csv(pd.DataFrame(columns), out / "labels.csv")
    truth = pd.Categorical.from_codes(simulation.truth, pd.Index(data.classes))
    write_csv(pd.DataFrame({"item": list(data.items), "truth": truth}), out / "truth.csv")
    prior = np.bincount(simulation.truth, minlength=data.n_classes) / data.n_items
    accuracy = simulation.confusion.diagonal(axis1=1, axis2=2) @ prior
    people = {
        "worker": list(data.workers),
        "character": list(simulation.character),
        "copied_from": [data.workers[code] if code >= 0 else "" for code in simulation.copied_from],
        "n_labels": data.labels_per_worker,
        "accuracy": accuracy.round(4),  # as asked for, on easy items
    }
    write_csv(pd.DataFrame(people), out / "workers.csv")
    if data.features is None:
        (out / "features.npz").unlink(missing_ok=True)  # those of older items must not stay
    else:
        with atomic(out / "features.npz") as temporary:
            np.savez(temporary, item=np.array(data.items), x=data.features)
