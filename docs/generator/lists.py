"""Pages made from the program's own lists: settings, findings, verdicts."""

from __future__ import annotations

import inspect

from crowdcore import config
from crowdcore.audit import verdicts
from crowdcore.config import Config
from crowdcore.reading import FINDINGS
from crowdcore.workspace.folders import HOME
from docs.generator import methods
from docs.generator.markdown import contents, page, table

ENVIRONMENT = {
    HOME: "The workspace folder, where `--workspace` does not name another. Else it is a folder "
    "among the user's data.",
    "CROWDCORE_NAME": "Who decides, where `crowdcore decide --by` does not say it.",
}
"""Environment variables that crowdcore reads, and what they set."""


def settings() -> str:
    """Environment variables, and the settings that many methods share."""
    shared = [
        (name, value)
        for name, value in vars(config).items()
        if inspect.isclass(value) and issubclass(value, Config) and value is not Config
    ]
    return page(
        "Settings",
        "## Environment variables",
        table(
            ["name", "what it sets"], [[f"`{name}`", text] for name, text in ENVIRONMENT.items()]
        ),
        "## Settings that methods share",
        "Each method has a page with all of its settings. On the command line `--param NAME=VALUE` "
        "sets one, in Python a keyword of `fit`, in the dashboard the form on Run. A value out of "
        "bounds is refused before anything is computed.",
        *(
            part
            for name, value in shared
            for part in (f"### `{name}`", inspect.getdoc(value) or "", methods.settings(value))
        ),
    )


def findings() -> str:
    """The ids of the findings, for `--fix` and for reading reports as JSON."""
    rows = [
        [f"`{kind.id}`", kind.area, kind.title, kind.fix or "nothing needs to be done"]
        for kind in FINDINGS
    ]
    return page(
        "Findings",
        "The findings of the health report by id, as `crowdcore check --json` and `result.json` "
        "name them. `--fix ID` applies a fix where the report offers one. "
        "[The guide](../guide/health.md) explains each.",
        table(["id", "about", "finding", "what can be done"], rows),
    )


def verdict_rules() -> str:
    """The verdicts in the order in which their rules are tried."""
    rows = [
        [verdict.name, str(verdict.harm), (inspect.getdoc(verdict.rule) or "").partition("\n")[0]]
        for verdict in verdicts.VERDICTS
    ]
    return page(
        "Verdicts",
        "Rules are tried in this order, and the first that applies gives the verdict. Harm orders "
        "the table of workers: the higher, the further up. [The guide](../guide/workers.md) says "
        "what each verdict means, what it does not, and what to do.",
        table(["verdict", "harm", "rule"], rows),
        contents([f"verdicts/{verdict_slug(verdict.name)}" for verdict in verdicts.VERDICTS]),
    )


def verdict_slug(name: str) -> str:
    """The name of a verdict's page."""
    return name.replace(" ", "_")


def verdict_page(verdict: verdicts.Verdict) -> str:
    """What a verdict means, what it does not, what to do, and how often it is wrong."""
    return page(
        verdict.name.capitalize(),
        f"**It means:** {verdict.meaning}",
        f"**It does not mean:** {verdict.caveat}",
        f"**What to do:** {verdict.advice}",
        f"**How often it is wrong:** {verdict.errors or 'It was not measured.'}",
        f"**The rule:** {(inspect.getdoc(verdict.rule) or '').partition(chr(10))[0]}",
        "[Verdicts](../verdicts.md) are tried in their order; "
        "[the guide](../../guide/workers.md) says how to use them.",
    )
