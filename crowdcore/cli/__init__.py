"""The `crowdcore` command."""

import sys
from typing import Annotated

import typer

from crowdcore.cli.ask import ask
from crowdcore.cli.audit_sample import audit_sample
from crowdcore.cli.bench.commands import bench
from crowdcore.cli.bench.confidence import confidence, default
from crowdcore.cli.bench.gate import gate
from crowdcore.cli.bench.scale import scale
from crowdcore.cli.bench.spending import spending
from crowdcore.cli.bench.verdicts import verdicts
from crowdcore.cli.check import check
from crowdcore.cli.compare import compare
from crowdcore.cli.dashboard import dashboard
from crowdcore.cli.decide import decide
from crowdcore.cli.export import export
from crowdcore.cli.items import adjudicate, guideline, worklist
from crowdcore.cli.methods import list_methods
from crowdcore.cli.overview import overview
from crowdcore.cli.predict import predict
from crowdcore.cli.prepare import prepare
from crowdcore.cli.report import report
from crowdcore.cli.run import run
from crowdcore.cli.simulate import simulate
from crowdcore.cli.spend import spend
from crowdcore.cli.terminal import Frame
from crowdcore.cli.workspace import workspace

app = typer.Typer(
    cls=Frame,
    help="Audit crowd labels: infer the truths, judge the workers, export clean labels.",
    epilog="Start with `crowdcore check LABELS`, then `crowdcore run LABELS --method ds`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("check")(check)
app.command("prepare")(prepare)
app.command("run")(run)
app.command("ask")(ask)
app.command("worklist")(worklist)
app.command("adjudicate")(adjudicate)
app.add_typer(audit_sample, name="audit-sample")
app.command("guideline")(guideline)
app.command("spend")(spend)
app.command("predict")(predict)
app.command("export")(export)
app.command("methods")(list_methods)
app.command("simulate")(simulate)
app.add_typer(decide, name="decide")
app.command("compare")(compare)
app.command("overview")(overview)
app.command("report")(report)
bench.command("confidence")(confidence)
bench.command("verdicts")(verdicts)
bench.command("default")(default)
bench.command("gate")(gate)
bench.command("spending")(spending)
bench.command("scale")(scale)
app.add_typer(bench, name="bench")
app.add_typer(workspace, name="workspace")
app.command("dashboard")(dashboard)


def _version(wanted: bool) -> None:
    if wanted:
        from crowdcore import __version__

        typer.echo(f"crowdcore {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Audit crowd labels: infer the truths, judge the workers, export clean labels."""


def main() -> None:
    """Run the command line; the exit code is 0, 2 for bad input, 130 after Ctrl-C."""
    try:
        app(prog_name="crowdcore")
    except KeyboardInterrupt:  # between two lines of ours, before or after the command
        sys.exit(130)
