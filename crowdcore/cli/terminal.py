"""What all commands share: errors as sentences, plain tables, progress on a terminal."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from crowdcore.run import Progress

BAD_INPUT = 2
INTERRUPTED = 130


class Frame(TyperGroup):
    """The root command: bad input becomes one sentence on stderr and exit code 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command line and leave with its exit code."""
        extra["standalone_mode"] = False  # typer's own wording of errors takes several lines
        try:
            code = super().main(*args, **extra)
        except (KeyboardInterrupt, typer.Abort):
            sys.exit(INTERRUPTED)
        except Exception as error:
            sentence = _sentence(error)
            if sentence is None:
                raise
            if sentence:
                typer.echo(sentence, err=True)
            sys.exit(BAD_INPUT)
        sys.exit(code if isinstance(code, int) else 0)


def _sentence(error: Exception) -> str | None:
    """Say what is wrong with the input; None for an error that is not the input's fault."""
    wording = getattr(error, "format_message", None)
    if wording is not None:  # wrong options and arguments, as typer words them
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "crowdcore"
        text = str(wording()).strip()
        if not text:  # without a command the help was shown, and that says it
            return ""
        end = "" if text.endswith((".", "?")) else "."
        return f"{text}{end} Try '{path} --help'."
    from crowdcore.data import DataError

    if isinstance(error, DataError):
        return str(error)
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        return _about_file(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; try fewer labels or another method."
    return None


def _about_file(error: OSError) -> str:
    if isinstance(error, FileExistsError) and error.filename:  # only making a folder raises it
        return f"'{error.filename}' is a file, not a folder. Choose another folder."
    location = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{location}."


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, n_left: int = 1) -> str:
    """Lay out columns of text.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : Sequence[sequence of str]
        One text per cell.
    n_left : int, default 1
        How many columns stand to the left; the others stand to the right.

    Returns
    -------
    str
        Lines without a trailing line break.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < n_left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def paragraphs(sentences: Sequence[str]) -> str:
    """Break long lines, one paragraph each.

    Parameters
    ----------
    sentences : sequence of str
        One text per paragraph.

    Returns
    -------
    str
        Lines of at most 100 characters.
    """
    from textwrap import fill

    return "\n".join(fill(text, 100, subsequent_indent="  ") for text in sentences)


def echo_json(values: Any) -> None:
    """Print values as JSON.

    Parameters
    ----------
    values : object
        Anything that JSON can hold.
    """
    typer.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))


def write_json(values: Any, path: Path) -> None:
    """Write values as a JSON file, whole or not at all.

    Parameters
    ----------
    values : object
        Anything that JSON can hold.
    path : Path
        The file to write.
    """
    from crowdcore.atomic import atomic

    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def progress() -> Iterator[Callable[["Progress"], None] | None]:
    """Show a fit's progress on a terminal.

    Yields
    ------
    callable or None
        A function for `Run(watch=…)`; None where nobody looks.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Bars(*columns, console=_stderr_console(), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def watch(now: "Progress") -> None:
            if now.stage not in tasks:
                tasks[now.stage] = bars.add_task(now.stage, total=now.total, note="")
            note = " ".join(f"{name} {value:.5g}" for name, value in now.metrics.items())
            bars.update(tasks[now.stage], completed=now.step, total=now.total, note=note)

        yield watch


@contextmanager
def counter(total: int | None, activity: str) -> Iterator[Callable[[str], None]]:
    """Count finished pieces on a terminal; silent where nobody looks.

    Parameters
    ----------
    total : int or None
        How many pieces there are; None if that is not known.
    activity : str
        What is done, as a participle.

    Yields
    ------
    callable
        Call it with a short text after each piece.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import Progress as Bars

    with Bars(console=_stderr_console(), transient=True) as bars:
        task = bars.add_task(activity, total=total)
        yield lambda now: bars.update(task, advance=1, description=f"{activity}: {now}")


def _stderr_console() -> Any:
    from rich.console import Console

    return Console(stderr=True)
