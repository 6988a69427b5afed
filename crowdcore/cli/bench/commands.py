"""`crowdcore bench`: accuracy against published truths, speed against peers."""

from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from crowdcore.bench.papers import names
from crowdcore.cli.bench.kinds import tabulate_kind
from crowdcore.cli.bench.peers import peers
from crowdcore.cli.bench.reading import JsonFile, reading
from crowdcore.cli.terminal import counter, paragraphs, table, write_json
from crowdcore.wording import count

if TYPE_CHECKING:
    from crowdcore.bench.accuracy import Cell
    from crowdcore.bench.datasets import DataSet
    from crowdcore.bench.pools import Pools
    from crowdcore.bench.speed import Cost, Measurement
    from crowdcore.bench.warm_start import Gain
    from crowdcore.method import Method

bench = typer.Typer(
    help="Measure accuracy against known truths, and speed against peers.", no_args_is_help=True
)

MILLION = 1_000_000


@bench.command("accuracy")
def accuracy(
    *,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER...",
            help="Folders with labels.csv and truth.csv (and features.npz), or above such ones; "
            "none for sets and comparisons, which are simulated.",
        ),
    ] = None,
    kind: Annotated[
        Literal["classes", "ratings", "sets", "comparisons"],
        typer.Option(help="What the labels are."),
    ] = "classes",
    methods: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Ids of methods; all if not given.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Seeds, for methods that depend on one.")] = 3,
    labels_only: Annotated[
        bool, typer.Option("--labels-only", help="Leave features of the items out.")
    ] = False,
    json_file: JsonFile = None,
) -> None:
    """Tabulate how often methods are right on data sets whose truth is known."""
    from crowdcore.bench.accuracy import compare

    if kind != "classes" or not folders:
        tabulate_kind(kind, folders or [], methods, repeats, json_file)
        return
    chosen = _choose(methods)
    datasets, skipped = read_datasets(folders)
    if labels_only:
        datasets = [dataset.without_features() for dataset in datasets]
    with counter(len(datasets) * len(chosen), "Fitting") as on_done:
        cells = compare(chosen, datasets, repeats=repeats, on_done=on_done)
    typer.echo(_accuracy_table(cells, chosen, datasets))
    typer.echo(paragraphs(["", *_accuracy_notes(cells, datasets), *skipped]))
    if json_file is not None:
        write_json([cell.to_json() for cell in cells], json_file)


def read_datasets(folders: list[Path]) -> "tuple[list[DataSet], list[str]]":
    """Return the data sets in folders or below, and a sentence for each that cannot be used."""
    from crowdcore.bench.datasets import find_folders, load, short_names
    from crowdcore.data import DataError

    paths = find_folders(folders)
    datasets: list[DataSet] = []
    skipped: list[str] = []
    with counter(len(paths), "Reading") as on_done:
        for path, name in zip(paths, short_names(paths), strict=True):
            try:
                datasets.append(load(path, name))
            except DataError as error:
                skipped.append(f"{name} is skipped: {error}")
            on_done(name)
    if not datasets:
        raise DataError(f"None of the folders can be used. {' '.join(skipped)}")
    return datasets, skipped


def _choose(methods: str | None) -> "list[Method]":
    from crowdcore.registry import get_method
    from crowdcore.registry import methods as registered

    if methods is None:
        return list(registered().values())
    names = dict.fromkeys(name.strip() for name in methods.split(",") if name.strip())
    return [get_method(name) for name in names]


def _accuracy_table(cells: "list[Cell]", methods: "list[Method]", datasets: "list[DataSet]") -> str:
    from crowdcore.bench.accuracy import common_sets, macro_average

    by_pair = {(cell.dataset, cell.method): cell for cell in cells}
    rows = [
        [dataset.name, f"{dataset.n_scored:,}"]
        + [_accuracy(by_pair[dataset.name, method.id].accuracies) for method in methods]
        for dataset in datasets
    ]
    common = common_sets(cells)
    averages = [macro_average(cells, method.id, common) for method in methods]
    label = "average" if len(common) == len(datasets) else f"average of {len(common)}"
    rows.append([label, "", *("-" if value is None else f"{value:.4f}" for value in averages)])
    rows += [
        [f"{dataset.name}, held out", f"{dataset.n_tested:,}"]
        + [_accuracy(by_pair[dataset.name, method.id].held_out) for method in methods]
        for dataset in datasets
        if any(by_pair[dataset.name, method.id].held_out for method in methods)
    ]
    return table(["data set", "items", *(method.id for method in methods)], rows)


def _accuracy(shares: tuple[float, ...]) -> str:
    if not shares:
        return "-"
    spread = f" ± {stdev(shares):.4f}" if len(shares) > 1 else ""
    return f"{mean(shares):.4f}{spread}"


def _accuracy_notes(cells: "list[Cell]", datasets: "list[DataSet]") -> list[str]:
    from crowdcore.bench.accuracy import PROTOCOL, common_sets

    notes = [PROTOCOL]
    if any(cell.spread is not None for cell in cells):
        notes.append("± is the standard deviation over seeds.")
    if any(cell.held_out for cell in cells):
        notes.append("Held out: what classifiers say of the items of test.npz, unseen in training.")
    common = common_sets(cells)
    if len(common) < len(datasets):
        notes.append(f"The average is over the sets that all could run on: {', '.join(common)}.")
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.reason:
            reasons.setdefault((cell.method, cell.reason), []).append(cell.dataset)
    notes += [f"{method} on {', '.join(on)}: {why}" for (method, why), on in reasons.items()]
    notes += [
        f"{dataset.name}: {count(dataset.unlabelled, 'true answer')} of items that nobody labelled."
        for dataset in datasets
        if dataset.unlabelled
    ]
    return notes


@bench.command("speed")
def speed(
    *,
    labels: Annotated[
        list[float] | None,
        typer.Option(min=100, help="Labels, 1e6 if unset; give more to see how costs grow."),
    ] = None,
    classes: Annotated[int, typer.Option(min=2, help="Classes.")] = 5,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Workers; one for every 1,000 labels if unset.")
    ] = None,
    methods: Annotated[
        str,
        typer.Option(metavar="A,B,…", help="Ids of methods; alpha stands for Krippendorff's."),
    ] = "mv,ds",
    steps: Annotated[int, typer.Option(min=1, help="Steps of methods that iterate.")] = 20,
    repeats: Annotated[int, typer.Option(min=1, help="Measurements to take medians of.")] = 3,
    peers: Annotated[
        bool, typer.Option("--peers", help="Also measure peers; see `crowdcore bench peers`.")
    ] = False,
    peers_in: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The peers' environment, if moved.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Time methods on simulated labels, on one thread, and watch the memory that they add."""
    from crowdcore.bench.peers import default_folder, python_of
    from crowdcore.bench.speed import compare, settings

    chosen = list(dict.fromkeys(name.strip() for name in methods.split(",") if name.strip()))
    for name in chosen:
        settings(name, steps)  # a wrong name is told before anything is measured
    python = python_of(peers_in or default_folder()) if peers or peers_in else None
    sizes = sorted({round(size) for size in labels or [MILLION]})
    n_fits = len(sizes) * len(chosen) * repeats * (1 if python is None else 2)
    with counter(n_fits, "Measuring") as on_done:
        rows = compare(
            chosen,
            sizes=sizes,
            n_classes=classes,
            n_workers=workers,
            steps=steps,
            repeats=repeats,
            peers=python,
            on_done=on_done,
        )
    typer.echo(_speed_table(rows, with_peers=python is not None))
    typer.echo(paragraphs(["", *_speed_notes(rows, classes)]))
    if json_file is not None:
        write_json([row.to_json() for row in rows], json_file)


def _speed_table(rows: "list[Measurement]", *, with_peers: bool) -> str:
    grows = any(row.smallest is not None for row in rows)
    header = ["method", "labels", "steps", "seconds", "CPU s", "labels/s", "memory"]
    header += ["times the fewest"] * grows
    if with_peers:
        header += ["peer", "steps", "seconds", "CPU s", "memory", "times faster"]
    lines = []
    for row in rows:
        ours, theirs = row.ours, row.theirs
        line = [row.method, f"{row.n_labels:,}"]
        if ours is not None:
            line += [*_times(ours), f"{row.n_labels / ours.seconds:,.0f}", _megabytes(ours.bytes)]
            line += [f"{row.growth:.1f}" if row.growth is not None else "-"] * grows
        if theirs is not None and row.ratio is not None:
            line += [row.peer, *_times(theirs), _megabytes(theirs.bytes), f"{row.ratio:.1f}"]
        lines.append(line + ["-"] * (len(header) - len(line)))
    return table(header, lines)


def _times(cost: "Cost") -> list[str]:
    return [str(cost.steps), f"{cost.seconds:.3f}", f"{cost.cpu_seconds:.3f}"]


def _megabytes(size: float) -> str:
    return f"{size / MILLION:,.0f} MB"


def _speed_notes(rows: "list[Measurement]", classes: int) -> list[str]:
    from crowdcore.bench.peers import PEERS
    from crowdcore.bench.speed import LABELS_PER_ITEM, PROTOCOL

    crowds = {row.n_labels: row.n_workers for row in rows}
    of_whom = " and ".join(f"{size:,} of {workers:,}" for size, workers in crowds.items())
    notes = [
        f"Simulated labels ({of_whom} workers, whose activity follows a power law), "
        f"{LABELS_PER_ITEM} per item, {classes} classes. {PROTOCOL}"
    ]
    notes += dict.fromkeys(PEERS[row.method].note for row in rows if row.theirs)
    notes += [f"{row.method}: {row.reason}" for row in rows if row.reason]
    return [note for note in notes if note]


@bench.command("warm")
def warm(
    *,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER...]",
            help="Folders with labels.csv and truth.csv, or above such ones.",
        ),
    ] = None,
    labels: Annotated[
        float, typer.Option(min=1000, help="Labels to simulate where no folder is given.")
    ] = 1e6,
    classes: Annotated[int, typer.Option(min=2, help="Classes of simulated labels.")] = 5,
    methods: Annotated[
        str, typer.Option(metavar="A,B,…", help="Ids of methods.")
    ] = "ds,hds,lfc,ibcc,hbcc,cbcc,zc,glad,mace",
    json_file: JsonFile = None,
) -> None:
    """Compare fits from scratch and from the last result, after small changes of the data."""
    from crowdcore.bench.warm_start import PROTOCOL, compare, simulated

    chosen = _choose(methods)
    datasets, skipped = (
        read_datasets(folders) if folders else ([simulated(round(labels), classes)], [])
    )
    with counter(4 * len(chosen) * len(datasets), "Fitting") as on_done:
        gains = compare(chosen, datasets, on_done)
    typer.echo(_warm_table(gains))
    typer.echo(paragraphs(["", PROTOCOL, *skipped]))
    if json_file is not None:
        write_json([vars(gain) for gain in gains], json_file)


def _warm_table(gains: "list[Gain]") -> str:
    cells = {
        (gain.data, gain.method, gain.change): f"{gain.cold_steps} > {gain.warm_steps} "
        f"({gain.cold_seconds / gain.warm_seconds:.1f}x; {gain.truths})"
        for gain in gains
    }
    changes = list(dict.fromkeys(gain.change for gain in gains))
    rows = dict.fromkeys((gain.data, gain.method) for gain in gains)
    lines = [[*row, *(cells[(*row, change)] for change in changes)] for row in rows]
    return table(["data", "method", *changes], lines, n_left=2)


@bench.command("pools")
def pools(
    *,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Folders with labels.csv and truth.csv, or above such ones."
        ),
    ],
    members: Annotated[
        str, typer.Option(metavar="A,B,…", help="Ids of methods that may be members.")
    ] = "hds,ds,lfc,ibcc,hbcc",
    leader: Annotated[
        str, typer.Option(metavar="A", help="The method that may weigh as much as all others.")
    ] = "mace",
    json_file: JsonFile = None,
) -> None:
    """Tell what choosing a pool of methods is worth on data sets that had no say in it."""
    from crowdcore.bench.pools import PROTOCOL, compare

    chosen = [method.id for method in _choose(members)]
    datasets, skipped = read_datasets(folders)
    with counter((len(chosen) + 2) * len(datasets), "Fitting") as on_done:
        scored = compare(chosen, _choose(leader)[0].id, datasets, on_done)
    typer.echo(_pools_table(scored))
    typer.echo(paragraphs(["", PROTOCOL, *skipped]))
    if json_file is not None:
        sets = [dataset.name for dataset in datasets]
        rows = [*scored.accuracy.tolist(), scored.left_out().tolist()]
        *scores, left_out = (dict(zip(sets, row, strict=True)) for row in rows)
        both = zip(scored.pools, scores, strict=True)
        each = [{"pool": pool, "accuracy": score} for pool, score in both]
        write_json({"pools": each, "left_out": left_out}, json_file)


def _pools_table(scored: "Pools") -> str:
    from crowdcore.bench.pools import VOTES
    from crowdcore.methods.pool import auto

    indices = {
        "best single method": scored.best(max_members=1),
        "auto": scored.index({**dict(auto.MEMBERS), VOTES: auto.VOTES_WEIGHT}),
        f"highest mean of {len(scored.pools):,}": scored.best(),
    }
    rows = []
    for title, index in indices.items():
        if index is not None:
            names = (f"{weight} {name}" for name, weight in scored.pools[index].items())
            rows.append([title, " + ".join(names), f"{scored.mean[index]:.4f}"])
    rows.append(["left out", "", f"{scored.left_out().mean():.4f}"])
    return table(["", "pool", "mean"], rows, n_left=2)


@bench.command("paper")
def paper(
    *,
    name: Annotated[str, typer.Argument(metavar="PAPER", help=f"One of: {', '.join(names())}.")],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with the paper's data sets.")
    ],
    folds: Annotated[
        int | None,
        typer.Option(
            min=2, max=5, help="Of papers with folds: how many of the five; all if unset."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=2, help="Of papers with seeds to choose: how many; the paper's if unset."),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw what the paper draws, into an HTML file."),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Make a published table again, ours beside the paper's."""
    from crowdcore.bench.papers import reproduce, write_charts

    with counter(None, "Fitting") as on_done:
        tables = reproduce(name, folder, on_done, folds=folds, seeds=seeds)
    for result_table in tables:
        typer.echo(f"{result_table.title}\n")
        typer.echo(table(list(result_table.header), [list(row) for row in result_table.rows]))
        typer.echo(paragraphs(["", *result_table.notes]))
    if json_file is not None:
        write_json([result_table.to_json() for result_table in tables], json_file)
    if chart is not None:
        write_charts(tables, chart)


bench.command("peers")(peers)
bench.command("reading")(reading)
