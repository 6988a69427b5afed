"""`crowdcore methods`: what there is to choose from."""

from typing import Annotated, get_args

import typer

from crowdcore.cli.terminal import echo_json, table


def list_methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the methods."""
    from crowdcore.method import Role
    from crowdcore.registry import methods_of_files
    from crowdcore.set_methods import kinds_taken

    rows = [
        {
            "id": method.id,
            "title": method.title,
            "family": method.family,
            "role": method.role,
            "kinds": ", ".join(kinds_taken(method)),
            "needs": method.needs.as_text(),
            "year": method.year,
            "paper": method.paper,
        }
        for role in get_args(Role)
        for method in methods_of_files()
        if method.role == role
    ]
    if as_json:
        echo_json(rows)
        return
    header = list(rows[0])
    lines = [[str(row[name]) for name in header] for row in rows]
    typer.echo(table(header, lines, n_left=len(header)))
