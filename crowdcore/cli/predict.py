"""`crowdcore predict`: tell of items, or tag texts, that nobody labelled."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdcore.cli.options import ForSpreadsheets
from crowdcore.cli.result_folder import CLASSIFIER
from crowdcore.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from crowdcore.engine.learning.classifier import Classifier
    from crowdcore.reading.features.rows import FeatureRows


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
            help="Features of the new items, of the same origin as those that the run learnt from; "
            "or, for a tagger, new texts: a text per line, JSON with `tokens` or `text`, a table "
            "with a column `text`, or CoNLL.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the table there instead of printing it; CSV in any case. Tagged texts are "
            "written as JSON lines to a .jsonl, as CoNLL to a .conll.",
        ),
    ] = None,
    for_spreadsheets: ForSpreadsheets = False,
    workspace: Annotated[
        Path | None, typer.Option(help="Where projects are kept, instead of the usual folder.")
    ] = None,
) -> None:
    """Tell the classes of new items, or their ratings, or tag new texts.

    Items get a truth with its confidence and the probability of every class, or a rating with its
    interval; texts get spans with their characters, type and confidence.
    """
    from crowdcore.data import DataError
    from crowdcore.export.writers import frame_bytes, write_csv
    from crowdcore.reading.features.read import read_new_features

    classifier = _find(run, workspace)
    if out is not None and out.resolve() == features.resolve():
        fix = "Choose another file with --out."
        raise DataError("The table would overwrite the features", file=str(out), fix=fix)
    if classifier.tags_texts:
        _tag(classifier, features, out, for_spreadsheets=for_spreadsheets)
        return
    rows = read_new_features(features, classifier.recipe)
    names = rows.ids or tuple(str(number) for number in range(1, len(rows.values) + 1))
    table = _table(classifier, names, rows)
    for line in _notices(rows):
        typer.echo(line, err=True)
    if out is None:
        typer.echo(frame_bytes(table, "csv" if for_spreadsheets else "csv-exact"), nl=False)
        return
    write_csv(table, out, spreadsheet_safe=for_spreadsheets)
    typer.echo(f"{count(len(table), 'item')}: {_summary(table)}")
    typer.echo(f"Wrote {out}")


def _table(classifier: "Classifier", names: "Sequence[str]", rows: "FeatureRows") -> "pd.DataFrame":
    from crowdcore.export.tables import number_predictions, predictions

    if classifier.tells_numbers:
        return number_predictions(names, classifier.predict_numbers(rows.values))
    return predictions(names, classifier.classes, classifier.predict(rows.values))


def _summary(table: "pd.DataFrame") -> str:
    """What was predicted, in a few words."""
    if "confidence" not in table:
        truth, spread = table["truth"], table["spread"]
        return (
            f"mean {truth.mean():.4g}, from {truth.min():.4g} to {truth.max():.4g}; "
            f"mean spread {spread.mean():.3g}"
        )
    counts = ", ".join(f"{name} {n:,}" for name, n in table["truth"].value_counts().items())
    return f"{counts}; mean confidence {table['confidence'].mean():.3f}"


def _tag(
    classifier: "Classifier", source: Path, out: Path | None, *, for_spreadsheets: bool
) -> None:
    from dataclasses import replace

    from crowdcore.atomic import atomic
    from crowdcore.export.spans import tagged_conll, tagged_jsonl, tagged_table
    from crowdcore.export.writers import frame_bytes, write_csv
    from crowdcore.reading.sequences.plain import read_plain_texts

    plain = read_plain_texts(source)
    tagged = classifier.tag([(text.name, text.tokens) for text in plain.texts])
    if all(text.starts is not None for text in plain.texts):
        starts = tuple(start for text in plain.texts for start in text.starts or ())
        tagged = replace(tagged, starts=starts)
    typer.echo(f"Read as {plain.form}.", err=True)
    if plain.n_empty:
        typer.echo(f"{count(plain.n_empty, 'text')} without a word: left out.", err=True)
    if out is None:
        table = tagged_table(tagged)
        typer.echo(frame_bytes(table, "csv" if for_spreadsheets else "csv-exact"), nl=False)
        return
    if out.suffix == ".csv":
        write_csv(tagged_table(tagged), out, spreadsheet_safe=for_spreadsheets)
    else:
        written = tagged_conll if out.suffix == ".conll" else tagged_jsonl
        with atomic(out) as temporary:
            temporary.write_text(written(tagged), encoding="utf-8")
    n_spans, n_texts = len(tagged.spans), len(tagged.names)
    typer.echo(f"{count(n_spans, 'span')} in {count(n_texts, 'text')}")
    typer.echo(f"Wrote {out}")


def _find(run: str, workspace: Path | None) -> "Classifier":
    """The classifier of a file, a folder, or a run of the workspace."""
    from crowdcore.data import DataError
    from crowdcore.engine.learning.classifier import Classifier
    from crowdcore.workspace import Workspace

    path: Path | None = Path(run)
    if path is not None and path.is_dir():
        path = path / CLASSIFIER if (path / CLASSIFIER).exists() else None
    elif path is not None and not path.exists():
        if not re.fullmatch("[0-9a-f]+", run):
            raise DataError(f"There is no file or folder {run!r}", fix="Check the path.")
        path = Workspace(workspace).classifier_file(run)
    if path is None:
        raise DataError(
            f"The run {run!r} has no classifier",
            fix="Run a method that learns from features, or one of the family of taggers; "
            "`crowdcore methods` tells which.",
        )
    return Classifier.load(path)


def _notices(rows: "FeatureRows") -> list[str]:
    """What was left out or guessed on the way, one line each."""
    lines = [] if rows.ids else ["The features have no ids: items are numbered from 1."]
    for finding in rows.findings:
        if finding.severity != "ok":
            examples = "; ".join(finding.examples)
            lines.append(f"{finding.title} ({finding.count:,}): {examples}. {finding.done}")
    return lines
