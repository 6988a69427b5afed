"""Files for other tools, made of a finished run; one module per target.

A module here holds ``TARGET``, a `Target`; that is all it takes to add one.
"""

from __future__ import annotations

import pkgutil
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from crowdcore.atomic import atomic
from crowdcore.data import DataError
from crowdcore.export.finished import FinishedRun


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """One file of an export.

    Parameters
    ----------
    name
        Its name; it may stand in a folder, as in "data/train.parquet".
    write
        Writes it to a path.
    """

    name: str
    write: Callable[[Path], object]


@dataclass(frozen=True, kw_only=True)
class Target:
    """Somewhere results can go.

    Parameters
    ----------
    id
        What `--as` calls it.
    title
        What the page calls it.
    contents
        What is written, and what it is good for, in a sentence or two.
    order
        Where it stands in the list; the lowest comes first.
    obstacle
        Says why a run cannot be written so, in a sentence; "" where it can.
    files
        Lists the files of a run.
    span_files
        Lists the files of a run of texts with spans; None where the tool takes none from here.
    guards_formulas
        Whether the files are CSV in which `FinishedRun.for_spreadsheets` marks formulas.
    rejects
        Whether the files reject work of excluded workers.
    """

    id: str
    title: str
    contents: str
    order: int
    obstacle: Callable[[FinishedRun], str]
    files: Callable[[FinishedRun], Sequence[ExportFile]]
    span_files: Callable[[FinishedRun], Sequence[ExportFile]] | None = None
    guards_formulas: bool = False
    rejects: bool = False


@cache
def targets() -> dict[str, Target]:
    """List every target by its id, found by walking this folder.

    Returns
    -------
    dict of str to Target
        In the order of the page.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    every = [import_module(f"{__name__}.{name}") for name in names if not name.startswith("_")]
    ordered = sorted((module.TARGET for module in every), key=lambda target: target.order)
    return {target.id: target for target in ordered}


def get_target(id: str) -> Target:
    """Return a target.

    Parameters
    ----------
    id
        What it is called.

    Returns
    -------
    Target

    Raises
    ------
    DataError
        If there is none of this id.
    """
    if id not in targets():
        raise DataError(
            f"There is no export called {id!r}", fix=f"Choose one of {', '.join(targets())}."
        )
    return targets()[id]


def find_obstacle(target: Target, run: FinishedRun) -> str:
    """Say why a run cannot be written for a target.

    Parameters
    ----------
    target, run
        What goes where.

    Returns
    -------
    str
        A sentence; "" where it can be written.
    """
    if run.data.kind != "sequences":
        return target.obstacle(run)
    if target.span_files is None:
        able = [each.title for each in targets().values() if each.span_files is not None]
        return f"These are spans in texts. Tools that take them: {', '.join(able)}."
    return ""


def checked_files(target: Target, run: FinishedRun) -> Sequence[ExportFile]:
    """List the files of a run for a target.

    Parameters
    ----------
    target, run
        What goes where.

    Returns
    -------
    sequence of ExportFile

    Raises
    ------
    DataError
        If this run cannot be written so; the message says why.
    """
    if problem := find_obstacle(target, run):
        raise DataError(f"This run cannot be exported for {target.title}. {problem}")
    if run.data.kind == "sequences" and target.span_files is not None:
        return target.span_files(run)
    return target.files(run)


def span_file(run: FinishedRun, name: str) -> list[ExportFile]:
    """List one of the files that are written of texts with spans.

    Parameters
    ----------
    run
        The run.
    name
        What `crowdcore run --out` calls the file.

    Returns
    -------
    list of ExportFile
    """
    return [
        ExportFile(
            name=f"{run.name}-{name}",
            write=lambda path: path.write_text(run.span_files[name](), encoding="utf-8"),
        )
    ]


def write_files(files: Sequence[ExportFile], folder: Path) -> list[Path]:
    """Write files into a folder, each whole or not at all.

    Parameters
    ----------
    files
        What to write.
    folder
        Where to; it is made where there is none, and older files of these names are replaced.

    Returns
    -------
    list of Path
        The files that were written.
    """
    paths = []
    for file in files:
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic(path) as temporary:
            file.write(temporary)
        paths.append(path)
    return paths


def write_download(files: Sequence[ExportFile], path: Path) -> None:
    """Write one file as it is, and several as a zip.

    Parameters
    ----------
    files
        What to write.
    path
        Where to.
    """
    if len(files) == 1:
        files[0].write(path)
        return
    scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=".tmp-export-"))
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for number, file in enumerate(files):
                part = scratch / f"{number}{Path(file.name).suffix}"
                file.write(part)
                archive.write(part, file.name)
                part.unlink()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def download_name(files: Sequence[ExportFile], stem: str) -> str:
    """Return the name of what `write_download` writes.

    Parameters
    ----------
    files
        What it writes.
    stem
        The name of a zip, without its suffix.

    Returns
    -------
    str
    """
    return Path(files[0].name).name if len(files) == 1 else f"{stem}.zip"


def never(run: FinishedRun) -> str:
    """Find no obstacle."""
    del run
    return ""


def needs_classes(run: FinishedRun) -> str:
    """Find an obstacle where the truths are not single classes."""
    if run.data.kind != "classes":
        return f"It takes one class per item, and these are {run.data.kind}."
    return ""
