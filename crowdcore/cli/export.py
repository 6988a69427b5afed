"""`crowdcore export`: a run's results as files for the tool that they go to."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.lookup import Root
from crowdcore.cli.options import ForSpreadsheets
from crowdcore.wording import count

if TYPE_CHECKING:
    from crowdcore.export.finished import FinishedRun


def export(
    *,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A folder that `crowdcore run --out` wrote, or a run of the workspace: its id, or "
            "PROJECT#NUMBER.",
        ),
    ],
    target: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="TARGET",
            help="Where to: same (the file that was given, with truths beside its rows), xlsx, "
            "mturk, toloka, appen, labelstudio, prodigy, doccano, spacy, conll, huggingface, long "
            "or wide.",
        ),
    ] = "same",
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Write there; older files are replaced.")
    ] = Path(),
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the labels of a run in a folder are, if they are no longer where they "
            "were.",
        ),
    ] = None,
    reject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORKER",
            help="Reject the work of this worker too, for mturk and toloka; may be repeated. "
            "Without it only workers are rejected whom the run left out.",
        ),
    ] = None,
    for_spreadsheets: ForSpreadsheets = False,
    root: Root = None,
) -> None:
    """Write a run's results as files for the tool that they go to."""
    from dataclasses import replace

    from crowdcore.data import DataError
    from crowdcore.export.targets import checked_files, get_target, write_files

    chosen = get_target(target)
    finished = _find(run, labels, root)
    if unknown := [name for name in reject or [] if name not in finished.data.workers]:
        raise DataError(f"There is no worker called {unknown[0]!r}")
    excluded = {**dict.fromkeys(reject or [], ""), **finished.excluded}
    finished = replace(finished, excluded=excluded, for_spreadsheets=for_spreadsheets)
    files = checked_files(chosen, finished)
    source = finished.original
    if source is not None and (out / files[0].name).resolve() == Path(source.name).resolve():
        raise DataError("The export would overwrite the labels", fix="Choose another --out.")
    paths = write_files(files, out)
    n_undecided = int((finished.truth == "").sum())
    typer.echo(
        f"{chosen.title}: {count(finished.data.n_items, 'item')}, {n_undecided:,} without a truth"
        + (f"; {count(len(excluded), 'worker')} left out" if excluded else "")
    )
    typer.echo(f"Wrote {', '.join(str(path) for path in paths)}")


def _find(run: str, labels: Path | None, root: Path | None) -> "FinishedRun":
    from crowdcore.cli.lookup import find_run
    from crowdcore.cli.result_folder import read_run
    from crowdcore.workspace import Workspace

    if Path(run).is_dir():
        return read_run(Path(run), labels=labels)
    home = Workspace(root)
    return home.finished(find_run(home, run).id)
