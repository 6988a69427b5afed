"""`crowdcore methods`: what there is to choose from."""

from typing import Annotated, get_args

import typer

from crowdcore.cli.frame import echo_json, table


def list_methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the methods."""
    from crowdcore.method import Role
    from crowdcore.registry import methods

    rows = [
        {
            "id": method.id,
            "title": method.title,
            "family": method.family,
            "role": method.role,
            "kind": method.needs.kind,
            "needs": method.needs.words(),
            "year": method.year,
            "paper": method.paper,
        }
        for role in get_args(Role)
        for method in methods(role).values()
    ]
    if as_json:
        echo_json(rows)
        return
    header = list(rows[0])
    lines = [[str(row[name]) for name in header] for row in rows]
    typer.echo(table(header, lines, left=len(header)))
