"""The page of files and their columns, from the lists by which they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from crowdcore.audit import items, workers
from crowdcore.audit.ratings import tables as rating_tables
from crowdcore.audit.spans import marks, texts
from crowdcore.audit.spans import workers as span_workers
from crowdcore.cli.result_folder import CLASSIFIER, COMPLETED, RESULT, TRUTHS, WORKERS
from crowdcore.export import completions, simulated, tables
from crowdcore.export.columns import TableColumn, Unit
from crowdcore.results.result import Provenance
from docs.generator.markdown import page


@dataclass(frozen=True, kw_only=True)
class WrittenTable:
    """A table that is written somewhere: its heading, where it is written, and its columns."""

    title: str
    where: str
    columns: Iterable[TableColumn[Any]]


UNITS: dict[Unit, str] = {
    "name": "A name.",
    "class": "A class.",
    "text": "Text.",
    "share": "A share from 0 to 1.",
    "score": "A number.",
    "number": "A number on the scale of the ratings.",
    "labels": "A number of labels.",
    "yes or no": "True or false.",
    "seconds": "Seconds since 1970.",
}
"""What the values of a column are, in words."""

TABLES = (
    WrittenTable(
        title=TRUTHS,
        where="One row per item. `crowdcore run --out` writes it; Export calls it *Truths*, and "
        "has the columns `p:` only if asked for. `crowdcore predict` writes `item`, `truth`, "
        "`confidence` and `p:` for new items.",
        columns=tables.TRUTH_COLUMNS,
    ),
    WrittenTable(
        title=WORKERS,
        where="One row per worker. `crowdcore run --out` writes it; Export calls it *Workers*.",
        columns=workers.COLUMNS,
    ),
    WrittenTable(
        title="Labels",
        where="One row per label. Export calls it *Cleaned labels*; `crowdcore simulate` writes "
        "`labels.csv` with the columns that need no result.",
        columns=tables.LABEL_COLUMNS,
    ),
    WrittenTable(
        title=COMPLETED,
        where="One row per label, given or filled in, by item and worker. `crowdcore run "
        "--complete … --out` writes it; the Completion page offers it in other formats too.",
        columns=completions.LONG_COLUMNS,
    ),
    WrittenTable(
        title="Completed matrix, wide",
        where="One row per item, from the Completion page. After these columns follows one per "
        "worker, with the worker's labels.",
        columns=completions.WIDE_COLUMNS,
    ),
    WrittenTable(
        title="Items of a data set",
        where="One row per item, as the Data page shows it and `Workspace.item_table` returns it.",
        columns=tables.ITEM_COLUMNS,
    ),
    WrittenTable(
        title="Items of a result",
        where="One row per item, what the Truths page shows beside the truths; "
        "`audit.items.compare_items` returns it.",
        columns=items.COLUMNS,
    ),
    WrittenTable(
        title="truths.csv of texts",
        where="One row per text, where labels are spans. `crowdcore run --out` writes it.",
        columns=texts.TRUTH_COLUMNS,
    ),
    WrittenTable(
        title="workers.csv of texts",
        where="One row per worker who marked spans. `crowdcore run --out` writes it.",
        columns=span_workers.COLUMNS,
    ),
    WrittenTable(
        title="Marked spans",
        where="One row per span that a worker marked. Export calls it *Cleaned labels*.",
        columns=marks.MARK_COLUMNS,
    ),
    WrittenTable(
        title="Texts of a result",
        where="One row per text, what the Truths page shows beside its spans.",
        columns=texts.TEXT_COLUMNS,
    ),
    WrittenTable(
        title=f"{TRUTHS}, of ratings",
        where="One row per item, where labels are ratings.",
        columns=rating_tables.TRUTH_COLUMNS,
    ),
    WrittenTable(
        title=f"{WORKERS}, of ratings",
        where="One row per worker, where labels are ratings.",
        columns=rating_tables.WORKER_COLUMNS,
    ),
    WrittenTable(
        title="Ratings",
        where="One row per rating; Export calls it *Cleaned labels*.",
        columns=rating_tables.RATING_COLUMNS,
    ),
    WrittenTable(
        title="Rated items of a result",
        where="One row per item, what the Truths page shows beside the truths of ratings.",
        columns=rating_tables.ITEM_COLUMNS,
    ),
    WrittenTable(
        title="Simulated truth.csv",
        where="One row per item, by `crowdcore simulate`.",
        columns=simulated.TRUTH_COLUMNS,
    ),
    WrittenTable(
        title="Simulated workers.csv",
        where="One row per worker, by `crowdcore simulate`.",
        columns=simulated.WORKER_COLUMNS,
    ),
    WrittenTable(
        title="Simulated truth.csv, of ratings",
        where="One row per item, by `crowdcore simulate --kind ratings`.",
        columns=simulated.RATED_TRUTHS,
    ),
    WrittenTable(
        title="Simulated workers.csv, of ratings",
        where="One row per worker, by `crowdcore simulate --kind ratings`.",
        columns=simulated.RATERS,
    ),
)


def files() -> str:
    """Every written table with a heading per column, and the files that are no tables."""
    return page(
        "Files and columns",
        "A name that ends with a colon is a prefix: there is one such column per class, per score "
        "of the method or per detail of the file.",
        *(part for written in TABLES for part in _described(written)),
        f"## `{RESULT}`",
        "How a result of `crowdcore run --out` came about, and what it is worth. `provenance` "
        "holds the fields below; `data` the sizes and the fingerprint of the data; `score` the "
        "comparison with gold; `health` the findings of the health report; `history` the numbers "
        "of each step.",
        ", ".join(f"`{field.name}`" for field in fields(Provenance)) + ".",
        f"## `{CLASSIFIER}`",
        "What a method on features has learnt, for `crowdcore predict`. It holds the network's "
        "description and weights and how features are made, and no code.",
    )


def _described(written: WrittenTable) -> Iterable[str]:
    yield f"## {written.title}"
    yield written.where
    for column in written.columns:
        yield from (f"### `{column.name}`", f"{column.help} *{UNITS[column.unit]}*")
