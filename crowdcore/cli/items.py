"""`crowdcore worklist`, `adjudicate` and `guideline`: items that a person should look at."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdcore.cli.ask import STOP, UNSURE, class_of, show_item, show_votes
from crowdcore.cli.lookup import Root, find_run
from crowdcore.cli.terminal import echo_json, table
from crowdcore.wording import count, percent

if TYPE_CHECKING:
    from crowdcore.data import CrowdData
    from crowdcore.workspace import RunRow, Workspace

RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A finished run: its id, or PROJECT#NUMBER.")
]
By = Annotated[
    str,
    typer.Option(
        "--by", metavar="NAME", envvar="CROWDCORE_NAME", help="Who decides; kept with the decision."
    ),
]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the whole list as CSV there.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option(min=1, help="Items to list.")]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="An item-level column of numbers that says how much hangs on it."
    ),
]
Tolerance = Annotated[
    float | None, typer.Option(help="By how much a rating may be off and still be right.")
]


def worklist(
    run: RunName,
    *,
    target: Annotated[float, typer.Option(help="The share of truths that should be right.")] = 0.95,
    limit: Limit = 20,
    weight: Weight = None,
    tolerance: Tolerance = None,
    out: Out = None,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """List the items that are most worth a person's look, why, and how many are enough."""
    from crowdcore.export.writers import write_csv
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    work = home.worklist(find_run(home, run).id, weight_column=weight, tolerance=tolerance)
    if out is not None:
        write_csv(work.table(None), out)
    rows = work.table(limit)
    if as_json:
        expected, best, worst = work.decisions_until(target)
        echo_json(
            {
                "expected_right": work.risk.expected_right,
                "target": target,
                "decisions": expected,
                "decisions_at_best": best,
                "decisions_at_worst": worst,
                "open": work.n_open,
                "items": rows.to_dict("records"),
            }
        )
        return
    typer.echo(work.describe(target))
    cells = [
        [row["item"], row["truth"], percent(row["wrong"], 0), row["reason"]]
        for row in rows.to_dict("records")
    ]
    typer.echo(table(["item", "truth", "wrong", "why"], cells, n_left=4))
    if out is not None:
        typer.echo(f"Wrote {count(work.n_open, 'item')} to {out}")


def adjudicate(
    run: RunName,
    *,
    by: By,
    limit: Annotated[int | None, typer.Option(min=1, help="Items to decide at most.")] = None,
    weight: Weight = None,
    refit: Annotated[
        bool, typer.Option(help="Queue a run by the decisions at the end, and start it.")
    ] = True,
    root: Root = None,
) -> None:
    """Decide the items of the worklist one by one; the decisions act as gold in later runs."""
    from crowdcore.jobs import ensure_daemon
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    row = find_run(home, run)
    work = home.worklist(row.id, weight_column=weight)
    result, order = work.result, work.order[:limit].tolist()
    whys = ((code, f"{percent(work.risk.chance[code], 0)} likely wrong") for code in order)
    n_decided = decide_items(home, row, result.data, whys, by=by, blind=False, audit=None)
    typer.echo(f"Kept {count(n_decided, 'decision')}.")
    if n_decided and refit:
        queued = home.run_decided(row.id)
        ensure_daemon(home)
        typer.echo(f"Queued {queued.label}, id {queued.id}")


def decide_items(
    home: "Workspace",
    row: "RunRow",
    data: "CrowdData",
    items: Iterator[tuple[int, str]],
    *,
    by: str,
    blind: bool,
    audit: str | None,
) -> int:
    """Ask a person about items until there are none, or they have had enough.

    Parameters
    ----------
    home : Workspace
        Where decisions are kept.
    row : RunRow
        The run that is looked at.
    data : CrowdData
        Its labels.
    items : iterator of tuple
        Codes of the items, and why each is asked about.
    by : str
        Who decides.
    blind : bool
        Whether labels are hidden.
    audit : str or None
        The id of the audit that the items were drawn for.

    Returns
    -------
    int
        Decisions that were kept, also that an answer cannot be told.
    """
    from crowdcore.data import DataError
    from crowdcore.decisions.applying import DECIDABLE

    if data.kind not in DECIDABLE:
        raise DataError(
            f"The answer of an item cannot be decided here where labels are {data.kind}",
            fix="Write the list with `crowdcore worklist --out`, and add what is known as gold.",
        )
    n_kept = 0
    for code, why in items:
        show_item(data, code, why)
        if not blind:
            _show_labels(data, code)
        answer = _ask(data)
        if answer == STOP:
            break
        value = None if answer == UNSURE else answer
        home.adjudicate(row.id, data.items[code], value, by=by, labels_shown=not blind, audit=audit)
        n_kept += 1
    return n_kept


def _show_labels(data: "CrowdData", code: int) -> None:
    if data.kind == "classes":
        show_votes(data, code)
        return
    given = data.label[data.item == code]
    shown = [f"{value:g}" for value in given] if data.kind == "ratings" else _names(data, given)
    typer.echo(f"  Labels: {', '.join(shown)}")


def _names(data: "CrowdData", codes: Any) -> list[str]:
    return [str(name) for name in data.class_names(codes)]


def _ask(data: "CrowdData") -> str:
    """Ask until an answer fits: a class, a number, a JSON list, unsure, or stop."""
    import json

    from crowdcore.data import DataError
    from crowdcore.decisions.applying import parse_answer

    names = ", ".join(f"{number} {label}" for number, label in enumerate(data.classes, start=1))
    what = {"classes": names, "sets": f"{names}; several with +", "ratings": "a number"}[data.kind]
    while True:
        typed = str(typer.prompt(f"  {what}, {UNSURE} unsure, {STOP} stop")).strip()
        if typed in (UNSURE, STOP):
            return typed
        if data.kind == "classes":
            answer: str = class_of(typed, data.classes) or typed
        elif data.kind == "sets":
            parts = [part.strip() for part in typed.split("+") if part.strip()]
            answer = json.dumps([class_of(part, data.classes) or part for part in parts])
        else:
            answer = typed
        try:
            parse_answer(data, answer)
        except DataError as error:
            typer.echo(f"  {error.problem}.")
            continue
        return answer


def guideline(
    run: RunName,
    *,
    limit: Limit = 10,
    out: Out = None,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """List classes and items on which even good workers differ, and what merging would change."""
    from crowdcore.export.writers import write_csv
    from crowdcore.workspace import Workspace

    home = Workspace(root)
    row = find_run(home, run)
    problems = home.guideline_problems(row.id)
    if out is not None:
        write_csv(problems.items, out)
    pairs = problems.pairs.head(limit).to_dict("records")
    if as_json:
        echo_json({"pairs": pairs, "items": problems.items.head(limit).to_dict("records")})
        return
    typer.echo(problems.describe())
    typer.echo(table(["classes", "differ", "by error", "of good workers", ""], _pair_rows(pairs)))
    if problems.result.data.n_classes > 2:  # noqa: PLR2004  (else nothing is left to tell apart)
        for pair in [pair for pair in pairs if pair["is_problem"]]:
            first, second = str(pair["first"]), str(pair["second"])
            typer.echo(problems.merge_effect(first, second).describe(first, second))
            typer.echo(f"  crowdcore decide merge {row.id} {first!r} {second!r} --by NAME")
    if len(problems.items):
        rows = problems.items.head(limit)
        typer.echo(table(["item", "truth", "good workers say"], _item_rows(rows), n_left=3))
    if out is not None:
        typer.echo(f"Wrote {count(len(problems.items), 'item')} to {out}")


def _pair_rows(pairs: Sequence[dict[Any, Any]]) -> list[list[str]]:
    return [
        [
            f"{pair['first']} / {pair['second']}",
            percent(pair["differ"]),
            percent(pair["by_noise"]),
            percent(pair["of_good"], 0),
            "unclear" if pair["is_problem"] else "",
        ]
        for pair in pairs
    ]


def _item_rows(rows: Any) -> list[list[str]]:
    return [[row["item"], row["truth"], row["said"]] for row in rows.to_dict("records")]
