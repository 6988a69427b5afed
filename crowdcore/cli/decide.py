"""`crowdcore decide`: keep what a person decides, list it, take it back, and run by it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.lookup import Root, find_project, find_run
from crowdcore.cli.terminal import echo_json, table
from crowdcore.wording import count

if TYPE_CHECKING:
    from crowdcore.data import CrowdData
    from crowdcore.decisions import Action, Decision

decide = typer.Typer(
    help="Keep decisions on workers, items and classes, with reasons; run by them.",
    no_args_is_help=True,
)

RunName = Annotated[
    str,
    typer.Argument(metavar="RUN", help="The run that was looked at: its id, or PROJECT#NUMBER."),
]
ProjectName = Annotated[
    str, typer.Argument(metavar="PROJECT", help="The project: its name or its id.")
]
Workers = Annotated[list[str], typer.Argument(metavar="WORKER...", help="One worker or several.")]
By = Annotated[
    str,
    typer.Option(
        "--by", metavar="NAME", envvar="CROWDCORE_NAME", help="Who decides; kept with the decision."
    ),
]
Reason = Annotated[str, typer.Option(help="Why, in a few words.")]
Note = Annotated[str, typer.Option(help="What else should be remembered.")]


@decide.command("exclude")
def exclude(
    run: RunName,
    workers: Workers,
    *,
    by: By,
    reason: Annotated[str, typer.Option(help="Why, in a few words; an exclusion needs one.")],
    note: Note = "",
    root: Root = None,
) -> None:
    """Leave out every label of some workers in later runs."""
    _keep(root, run, "exclude", workers, by=by, reason=reason, note=note)


@decide.command("keep")
def keep(
    run: RunName,
    workers: Workers,
    *,
    by: By,
    reason: Reason = "",
    note: Note = "",
    root: Root = None,
) -> None:
    """Keep workers whom the evidence put in doubt."""
    _keep(root, run, "keep", workers, by=by, reason=reason, note=note)


@decide.command("watch")
def watch(
    run: RunName,
    workers: Workers,
    *,
    by: By,
    reason: Reason = "",
    note: Note = "",
    root: Root = None,
) -> None:
    """Keep workers for now, and look again."""
    _keep(root, run, "watch", workers, by=by, reason=reason, note=note)


@decide.command("leave-out")
def leave_out(
    run: RunName,
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="The worker.")],
    items: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ITEM...]",
            help="The items whose labels go; without any, the later or too fast labels of a "
            "worker whom the run calls drifting or too fast in part.",
        ),
    ] = None,
    *,
    by: By,
    reason: Annotated[str, typer.Option(help="Why, in a few words; leaving out needs one.")],
    note: Note = "",
    root: Root = None,
) -> None:
    """Leave out some labels of a worker in later runs, and keep the others."""
    from crowdcore.decisions import names_text
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    names = items or home.worse_items(find_run(home, run).id, worker)
    value = names_text(names)
    _keep(root, run, "leave_out", [worker], value=value, by=by, reason=reason, note=note)


@decide.command("one-vote")
def one_vote(
    run: RunName,
    workers: Workers,
    *,
    by: By,
    reason: Annotated[str, typer.Option(help="Why, in a few words; it takes labels away.")],
    note: Note = "",
    root: Root = None,
) -> None:
    """Let workers who answer alike vote once per item in later runs."""
    from crowdcore.decisions import names_text

    subject = names_text(workers)
    _keep(root, run, "one_vote", [subject], by=by, reason=reason, note=note)


@decide.command("truth")
def truth(
    run: RunName,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The item.")],
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="The right answer.")],
    *,
    by: By,
    reason: Reason = "",
    note: Note = "",
    root: Root = None,
) -> None:
    """Say what an item is; later runs use it as gold."""
    _keep(root, run, "truth", [item], value=answer, by=by, reason=reason, note=note)


@decide.command("merge")
def merge(
    run: RunName,
    class_name: Annotated[str, typer.Argument(metavar="CLASS", help="The class that goes.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="The class that it counts as.")],
    *,
    by: By,
    reason: Reason = "",
    note: Note = "",
    root: Root = None,
) -> None:
    """Count a class as another one in later runs."""
    _keep(root, run, "merge", [class_name], value=into, by=by, reason=reason, note=note)


@decide.command("require")
def require(
    project: ProjectName,
    accuracy: Annotated[float, typer.Argument(help="Between 0 and 1, such as 0.7.")],
    *,
    by: By,
    reason: Reason = "",
    note: Note = "",
    root: Root = None,
) -> None:
    """Set the accuracy that workers must reach."""
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    made = home.decide(
        find_project(home, project).id,
        "require",
        by=by,
        value=f"{accuracy:g}",
        reason=reason,
        note=note,
    )
    typer.echo("\n".join(decision.sentence for decision in made))


@decide.command("undo")
def undo(
    project: ProjectName,
    decisions: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Ids that `crowdcore decide list` shows.")
    ],
    *,
    by: By,
    reason: Reason = "",
    root: Root = None,
) -> None:
    """Take decisions back; what was decided before them holds again."""
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    made = home.decide(find_project(home, project).id, "undo", decisions, by=by, reason=reason)
    typer.echo("\n".join(decision.sentence for decision in made))


@decide.command("list")
def list_decisions(
    project: ProjectName,
    *,
    root: Root = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the decisions of a project, in the order they were made."""
    from dataclasses import asdict

    from crowdcore.decisions import holding_ids
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    ledger = home.decisions(find_project(home, project).id)
    if as_json:
        echo_json([asdict(decision) for decision in ledger])
        return
    if not ledger:
        typer.echo("Nothing was decided yet.")
        return
    ids = holding_ids(ledger)
    rows = [
        [made.id, made.time[:16].replace("T", " "), made.by, made.sentence, made.reason,
         "" if made.id in ids or made.action == "undo" else "replaced or undone"]
        for made in ledger
    ]  # fmt: skip
    header = ["id", "time (UTC)", "by", "decision", "reason", ""]
    typer.echo(table(header, rows, n_left=len(header)))


@decide.command("export")
def export(
    project: ProjectName,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="A file that ends in .jsonl or .csv.")
    ],
    *,
    root: Root = None,
) -> None:
    """Write the decisions of a project to a file; JSON lines lose nothing."""
    from crowdcore.data import DataError
    from crowdcore.decisions.files import as_csv, as_jsonl
    from crowdcore.workspace import Workspace

    writers = {".jsonl": as_jsonl, ".csv": as_csv}
    if out.suffix not in writers:
        raise DataError(f"{out.name!r} is neither .jsonl nor .csv", fix="Choose one of them.")
    home = Workspace(root)
    ledger = home.decisions(find_project(home, project).id)
    out.write_text(writers[out.suffix](ledger), encoding="utf-8", newline="")
    typer.echo(f"Wrote {count(len(ledger), 'decision')} to {out}")


@decide.command("import")
def import_file(
    project: ProjectName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `decide export` wrote.")],
    *,
    root: Root = None,
) -> None:
    """Add decisions from a file; those that are there already are passed over."""
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    decisions = _read(file)
    n_new = home.import_decisions(find_project(home, project).id, decisions)
    n_old = len(decisions) - n_new
    typer.echo(f"Added {count(n_new, 'decision')}; {n_old:,} were there already.")


@decide.command("run")
def run_decided(run: RunName, *, root: Root = None) -> None:
    """Queue a run like RUN by all decisions that hold now, and start it."""
    from crowdcore.jobs import ensure_daemon
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    queued = home.run_decided(find_run(home, run).id)
    ensure_daemon(home)
    typer.echo(f"Queued {queued.label}, id {queued.id}")


def apply_file(data: "CrowdData", file: Path | None) -> tuple["CrowdData", list[str]]:
    """Change data by a file of decisions.

    Parameters
    ----------
    data : CrowdData
        The labels.
    file : Path or None
        What `crowdcore decide export` wrote; None changes nothing.

    Returns
    -------
    tuple of CrowdData and list of str
        The changed data, and sentences on what was used and what did not fit.
    """
    from crowdcore.decisions import standing
    from crowdcore.decisions.applying import apply

    if file is None:
        return data, []
    applied = apply(data, standing(_read(file)).changing_data)
    nouns = {
        "exclude": ("worker left out", "workers left out"),
        "leave_out": ("worker left out in part", "workers left out in part"),
        "one_vote": ("group voting once", "groups voting once"),
        "truth": ("truth", "truths"),
        "merge": ("merge", "merges"),
    }
    numbers = {action: sum(made.action == action for made in applied.used) for action in nouns}
    used = ", ".join(count(number, *nouns[action]) for action, number in numbers.items() if number)
    sentences = [f"By decisions: {used or 'nothing'}.", *applied.effects, *applied.skipped]
    return applied.data, sentences


def _keep(
    root: Path | None,
    run: str,
    action: "Action",
    subjects: list[str],
    *,
    by: str,
    value: str = "",
    reason: str,
    note: str,
) -> None:
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    row = find_run(home, run)
    made = home.decide(
        row.project_id,
        action,
        subjects,
        by=by,
        value=value,
        reason=reason,
        note=note,
        run_id=row.id,
    )
    typer.echo("\n".join(decision.sentence for decision in made))
    typer.echo(f"Nothing is changed until a run goes by it: crowdcore decide run {row.id}")


def _read(file: Path) -> "list[Decision]":
    from crowdcore.data import DataError
    from crowdcore.decisions.files import read_decisions

    try:
        return read_decisions(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The decisions cannot be read: {error}", file=str(file)) from None
