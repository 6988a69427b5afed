"""`crowdcore ask`: answer a few questions, so that it is known which method to trust."""

from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.lookup import Root, find_run
from crowdcore.cli.terminal import table
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    from crowdcore.asking import Round
    from crowdcore.data import CrowdData
    from crowdcore.workspace import RunRow, Workspace

UNSURE, STOP = "?", "."

POLL_SECONDS = 0.2
"""Seconds between two looks at a run that works."""


def ask(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A finished run of auto: its id, or PROJECT#NUMBER."),
    ],
    *,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="NAME",
            envvar="CROWDCORE_NAME",
            help="Who answers; kept with the answers.",
        ),
    ],
    questions: Annotated[
        int | None,
        typer.Option(min=1, help="Questions to ask; until the weights settle if not given."),
    ] = None,
    root: Root = None,
) -> None:
    """Ask about items where methods disagree; the answers choose, and act as gold afterwards."""
    from crowdcore.asking import Round
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    row = _with_candidates(home, find_run(home, run))
    result = home.load_result(row.id)
    standing = Round.from_result(result, home.asked(row.id))
    typer.echo(standing.describe())
    n_asked = 0
    while questions is None or n_asked < questions:
        if questions is None and standing.is_settled:
            break
        if not _ask_one(home, row, standing, by):
            break
        n_asked += 1
        standing = Round.from_result(result, home.asked(row.id))
        typer.echo(_weights(standing))
    typer.echo(standing.describe())
    if n_asked:
        _finish(home, home.run_answered(row.id))


def _with_candidates(home: "Workspace", row: "RunRow") -> "RunRow":
    """The run itself, or one with candidates on the same data, which is made if need be."""
    from crowdcore.artefacts.candidates import Candidates
    from crowdcore.asking import refuse_other_kinds
    from crowdcore.data import DataError

    if row.status != "done":
        raise DataError(f"The run {row.label} has no result", fix="Choose a finished run.")
    result = home.load_result(row.id)
    refuse_other_kinds(result.data.kind)
    if result.artefact(Candidates) is not None:
        return row
    typer.echo("Fitting further methods to choose among.")
    return _finish(home, home.run_answered(row.id, prepare=True))


def _finish(home: "Workspace", row: "RunRow") -> "RunRow":
    """Let a queued run be done, and say how it ended."""
    import time

    from crowdcore.data import DataError
    from crowdcore.jobs import ensure_daemon

    ensure_daemon(home)
    while (done := home.run(row.id)).status in ("queued", "running"):
        time.sleep(POLL_SECONDS)
    if done.status != "done":
        raise DataError(f"The run {done.label} ended with: {done.error or done.status}")
    typer.echo(f"Made {done.label}, id {done.id}")
    return done


def _ask_one(home: "Workspace", row: "RunRow", standing: "Round", by: str) -> bool:
    """Ask about one item; False if there is none, or whoever answers has had enough."""
    question = standing.next_question()
    if question is None:
        typer.echo("Every item was asked about.")
        return False
    data = standing.result.data
    name = data.items[question.item]
    drawn = "drawn at random" if question.drawn == "random" else "methods disagree"
    show_item(data, question.item, drawn)
    show_votes(data, question.item)
    names = ", ".join(f"{number} {label}" for number, label in enumerate(data.classes, start=1))
    prompt = f"  {names}, {UNSURE} unsure, {STOP} stop"
    while True:
        typed = typer.prompt(prompt).strip()
        if typed == STOP:
            return False
        answer = class_of(typed, data.classes)
        if answer is not None or typed == UNSURE:
            home.answer(row.id, name, answer, by=by, question=question)
            return True
        typer.echo(f"  {typed!r} is none of them.")


def show_item(data: "CrowdData", item: int, why: str) -> None:
    """Print an item and what is known of it.

    Parameters
    ----------
    data : CrowdData
        The labels.
    item : int
        Its code.
    why : str
        Why it is asked about.
    """
    typer.echo(f"\nItem {data.items[item]} ({why})")
    for title, values in data.details.items():
        typer.echo(f"  {title}: {values[item]}")


def show_votes(data: "CrowdData", item: int) -> None:
    """Print how often an item got each class.

    Parameters
    ----------
    data : CrowdData
        Labels that are classes.
    item : int
        Its code.
    """
    votes = enumerate(data.votes[item])
    given = ", ".join(f"{data.classes[code]} ({number})" for code, number in votes if number)
    typer.echo(f"  Labels: {given}")


def class_of(typed: str, classes: tuple[str, ...]) -> str | None:
    """Find the class of a name or, where no class is called so, of a number.

    Parameters
    ----------
    typed : str
        What was typed.
    classes : tuple of str
        The classes.
    """
    if typed in classes:
        return typed
    if typed.isdecimal() and 1 <= int(typed) <= len(classes):
        return classes[int(typed) - 1]
    return None


def _weights(standing: "Round") -> str:
    order = (-standing.weights).argsort()
    rows = [
        [standing.candidates.titles[index], percent(standing.weights[index], 0)] for index in order
    ]
    asked = count(standing.n_answered, "answer")
    unsure = f", {count(standing.n_unsure)} unsure" if standing.n_unsure else ""
    return f"{asked}{unsure}\n" + table(["method", "weight"], rows)
