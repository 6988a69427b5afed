"""`crowdcore predict`: classify items that nobody labelled, by what a run has learnt."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.frame import count
from crowdcore.cli.run import CLASSIFIER

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.artefacts.classifier import Classifier
    from crowdcore.io.rows import Rows


def predict(
    *,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help=f"A {CLASSIFIER}, a folder that `crowdcore run --out` wrote, or the id of a run "
            "in the workspace.",
        ),
    ],
    features: Annotated[
        Path,
        typer.Argument(
            metavar="FEATURES",
            help="Features of the new items, of the same origin as those that the run learnt from.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the table there instead of printing it; CSV in any case."
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Write names to CSV as they are; else one that a spreadsheet would take for a "
            "formula gets an apostrophe.",
        ),
    ] = False,
    workspace: Annotated[
        Path | None, typer.Option(help="Where projects are kept, instead of the usual folder.")
    ] = None,
) -> None:
    """Classify new items: item, truth, confidence and the probability of every class."""
    from crowdcore.data import DataError
    from crowdcore.io.features import read_new_features
    from crowdcore.io.writers import frame_bytes, write_csv

    classifier = _find(run, workspace)
    if out is not None and out.resolve() == features.resolve():
        fix = "Choose another file with --out."
        raise DataError("The table would overwrite the features", file=str(out), fix=fix)
    rows = read_new_features(features, classifier.recipe)
    table = _table(classifier, rows)
    for line in _told(rows):
        typer.echo(line, err=True)
    if out is None:
        typer.echo(frame_bytes(table, "csv-exact" if exact else "csv"), nl=False)
        return
    write_csv(table, out, spreadsheet_safe=not exact)
    found = ", ".join(f"{name} {n:,}" for name, n in table["truth"].value_counts().items())
    typer.echo(
        f"{count(len(table), 'item')}: {found}; mean confidence {table['confidence'].mean():.3f}"
    )
    typer.echo(f"Wrote {out}")


def _find(run: str, workspace: Path | None) -> "Classifier":
    """The classifier of a file, a folder, or a run of the workspace."""
    from crowdcore.artefacts.classifier import Classifier
    from crowdcore.data import DataError
    from crowdcore.workspace import Workspace
    from crowdcore.workspace.runs import classifier_file

    path: Path | None = Path(run)
    if path is not None and path.is_dir():
        path = path / CLASSIFIER if (path / CLASSIFIER).exists() else None
    elif path is not None and not path.exists():
        if not re.fullmatch("[0-9a-f]+", run):
            raise DataError(f"There is no file or folder {run!r}", fix="Check the path.")
        home = Workspace(workspace)
        path = classifier_file(home.run_folder(home.run(run).id))
    if path is None:
        raise DataError(
            f"The run {run!r} has no classifier",
            fix="Run a method that learns from features; `crowdcore methods` tells which.",
        )
    return Classifier.load(path)


def _table(classifier: "Classifier", rows: "Rows") -> "pd.DataFrame":
    """One row an item, with the columns of truths.csv."""
    import numpy as np
    import pandas as pd

    probabilities = classifier.predict(rows.values)
    ids = rows.ids or tuple(str(number) for number in range(1, len(rows.values) + 1))
    names = np.array(classifier.classes, dtype=object)
    frame = pd.DataFrame(
        {
            "item": list(ids),
            "truth": names[probabilities.argmax(1)],
            "confidence": probabilities.max(1),
        }
    )
    columns = [f"p:{name}" for name in classifier.classes]
    return pd.concat([frame, pd.DataFrame(probabilities, columns=columns)], axis=1)


def _told(rows: "Rows") -> list[str]:
    """What was left out or guessed on the way, one line each."""
    lines = [] if rows.ids else ["The features have no ids: items are numbered from 1."]
    for finding in rows.findings:
        if finding.severity != "ok":
            examples = "; ".join(finding.examples)
            lines.append(f"{finding.title} ({finding.count:,}): {examples}. {finding.done}")
    return lines
