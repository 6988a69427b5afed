"""One worker up close: the verdict, the confusion matrix, and the labels that are the evidence."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.artefacts.confusion_interval import ConfusionInterval
from crowdcore.audit.evidence import given_shares, label_counts, spam_habit
from crowdcore.audit.verdicts import verdict_named
from crowdcore.wording import count, percent, percent_of, percents, rate
from dashboard import cache, layout, widgets
from dashboard.charts.palette import verdict_words
from dashboard.charts.workers import (
    MAX_BARS,
    MAX_CLASSES,
    MAX_TEXTS,
    class_shares,
    confusion_heatmap,
)
from dashboard.decisions import about_workers
from dashboard.text import escape_md
from dashboard.workers import behind, ticked

if TYPE_CHECKING:
    from crowdcore.results.result import Result
    from crowdcore.workspace import RunRow

MAX_ROWS = 1_000
"""Labels of a worker that the page lists; the CSV has all."""

MAX_TEXT_LETTERS = 200


def draw(run: RunRow, name: str) -> None:
    """Show the worker called `name`; a name from an old link may not exist."""
    st.divider()
    widgets.panel_heading(
        f"Worker {escape_md(name, limit=60)}",
        key="worker_close",
        on_close=lambda: ticked.close(run),
    )
    names = cache.result(run.id).data.workers
    if name not in names:
        st.warning("This run's data have no worker of that name; the link may be of another run.")
        return
    code = names.index(name)
    result = cache.with_all_labels(run)
    _draw_verdict(run, code, result)
    behind.draw(run, result, code)
    about_workers.draw(run, [name], page="workers")
    cell = _draw_charts(run, result, code)
    _draw_evidence(run, result, name, cell)
    behind.draw_weights(run, result, code)


def _draw_verdict(run: RunRow, code: int, result: Result) -> None:
    worker = cache.workers(run.id).iloc[code]
    if worker["worker"] in run.excluded:
        labels = count(int(result.data.labels_per_worker[code]), "label")
        st.markdown(f"**Excluded from this run.** {labels} left out.")
        st.caption("What follows compares them with truths that they had no part in.")
        return
    verdict = verdict_named(worker["verdict"])
    st.markdown(
        f"**{escape_md(verdict_words(worker['verdict']))}.** {escape_md(worker['evidence'])}",
        help=None if verdict is None else f"{verdict.meaning} {verdict.advice}",
    )
    facts = [count(worker["n_labels"], "label")]
    if worker["n_compared"]:
        accuracy = rate(worker["accuracy"], worker["accuracy_low"], worker["accuracy_high"], 1)
        facts += [f"right {accuracy}", f"agrees with others {percent(worker['agreement'])}"]
    if worker["gold_n"]:
        facts.append(f"on gold {percent_of(worker['gold_accuracy'], worker['gold_n'], 1)}")
    st.caption(" · ".join(facts))
    _draw_estimates(cache.result(run.id), code)


def _draw_estimates(result: Result, code: int) -> None:
    """Say what the method itself estimates of a worker, in its own terms."""
    facts = [
        f"{name.replace('_', ' ')} {values[code]:.3g}"
        for name, values in result.worker_scores.items()
    ]
    if (habit := spam_habit(result, result.data.workers[code])) is not None:
        share, given = habit
        likeliest = np.argsort(-given, kind="stable")[:2]
        names = (f"{escape_md(result.data.classes[k])} {percent(given[k], 0)}" for k in likeliest)
        facts.append(f"{percent(share, 0)} of the labels without looking, then {', '.join(names)}")
    if facts:
        st.caption(f"{escape_md(result.provenance.title)} finds: {' · '.join(facts)}")


def _draw_charts(run: RunRow, result: Result, code: int) -> tuple[int, int] | None:
    """Draw the matrix and the shares; return the (true, given) cell that was clicked."""
    classes, name = result.data.classes, result.data.workers[code]
    left_column, right_column = layout.side_by_side(1, 1)
    with left_column:
        st.markdown("**What they say when the truth is …**")
        show_counts = name in run.excluded  # the run has no estimate for a worker it did not see
        if not show_counts:
            cells = st.segmented_control(
                "Cells",
                ["Shares", "Counts"],
                default="Shares",
                key="worker_cells",
                label_visibility="collapsed",
            )
            show_counts = cells == "Counts"
        key = f"worker_matrix_{run.id}_{code}"
        point = widgets.clicked(key)
        cell = None if point is None else (int(point[0]), int(point[1]))
        widgets.chart(
            confusion_heatmap(
                cache.confusion(run.id)[code],
                label_counts(result, name),
                classes,
                show_counts=show_counts,
                theme=layout.theme(),
                chosen=cell,
                interval=_interval(result, code),
            ),
            key=key,
            alt="Confusion matrix: rows are truths, columns what the worker gave",
            select="points",
        )
        st.caption(_matrix_note(len(classes), show_counts))
    with right_column:
        st.markdown("**How often they give each class**")
        widgets.chart(
            class_shares(*given_shares(result.data, name), classes, theme=layout.theme()),
            key=f"worker_shares_{run.id}_{code}",
            alt="Share of each class among the worker's labels and among others' on the same items",
        )
        if len(classes) > MAX_BARS:
            st.caption(f"The {MAX_BARS} classes that differ most, of {count(len(classes))}.")
    return cell


def _interval(result: Result, code: int) -> NDArray[np.float64] | None:
    """The lower and upper ends [2, true, given] of a worker's matrix, where the method has them."""
    ends = result.artefact(ConfusionInterval)
    return None if ends is None else np.stack([ends.low[code], ends.high[code]])


def _matrix_note(n_classes: int, show_counts: bool) -> str:
    """Explain what the cells hold and which classes are shown."""
    note = "Labels counted against the truths. " if show_counts else "The estimate; rows add to 1. "
    if n_classes > MAX_CLASSES:
        note += f"The {MAX_CLASSES} most confused of {count(n_classes)} classes. "
    elif n_classes > MAX_TEXTS:
        note += "The most confused classes first. "
    return note + "Click a cell for the items behind it."


def _draw_evidence(run: RunRow, result: Result, name: str, cell: tuple[int, int] | None) -> None:
    """List the labels that differ from the truth, or those behind a cell."""
    labels = cache.labels_of_worker(run.id, name)
    classes = result.data.classes
    if cell is None:
        evidence = labels[labels["differs"]]
        title = f"Where they differ from the truth: {count(len(evidence), 'label')}"
        nothing = "None of their labels differs from a truth."
    else:
        true, given = classes[cell[0]], classes[cell[1]]
        evidence = labels[(labels["truth"] == true) & (labels["given"] == given)]
        which = f"truth {escape_md(true, limit=40)}, given {escape_md(given, limit=40)}"
        title = f"{count(len(evidence), 'label')}: {which}"
        nothing = "No item is behind this cell; its share is an estimate."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{title}**")
        _draw_download(run, name, evidence)
    if evidence.empty:
        st.caption(nothing)
        return
    shown = evidence.head(MAX_ROWS)
    item = widgets.table(
        _cells(run, shown),
        key=f"worker_evidence_{run.id}_{result.data.workers.index(name)}_{cell}",
        alt="The labels that are the evidence",
        columns=_columns(run),
        select="item",
        pictures=cache.details(run.id).picture is not None,
    )
    note = "The surest truths first."
    if len(evidence) > len(shown):
        total = count(len(evidence))
        note += f" The first {count(len(shown))} are shown; the CSV has all {total}."
    widgets.open_item(item, key="worker_open_item", note=note)


def _cells(run: RunRow, evidence: pd.DataFrame) -> pd.DataFrame:
    details, codes = cache.details(run.id), cache.item_codes(run.id)
    items = [codes[name] for name in evidence["item"]]
    cells: dict[str, Any] = {"item": evidence["item"].to_numpy()}
    if details.picture:
        cells["picture"] = [details.picture[item] for item in items]
    cells["given"] = evidence["given"].to_numpy()
    cells["truth"] = evidence["truth"].to_numpy()
    cells["confidence"] = percents(evidence["confidence"])
    n_others = evidence["n_labels"] - 1
    cells["same"] = [f"{n} of {total}" for n, total in zip(evidence["same"], n_others, strict=True)]
    if (evidence["gold"] != "").any():
        cells["gold"] = evidence["gold"].to_numpy()
    for title, values in details.texts.items():
        cells[f"detail:{title}"] = [values[item][:MAX_TEXT_LETTERS] for item in items]
    return pd.DataFrame(cells)


def _columns(run: RunRow) -> dict[str, Any]:
    column = st.column_config
    texts = cache.details(run.id).texts
    return {
        "item": column.TextColumn("Item", pinned=True),
        "picture": column.ImageColumn("Picture", width=70),
        "given": column.TextColumn("They said"),
        "truth": column.TextColumn("Truth"),
        "confidence": widgets.percent_bar("Confidence of the truth"),
        "same": column.TextColumn(
            "Others who said the same", help="Of the other labels of the item."
        ),
        "gold": column.TextColumn("Gold"),
        **{f"detail:{name}": column.TextColumn(name, width="medium") for name in texts},
    }


def _draw_download(run: RunRow, name: str, evidence: pd.DataFrame) -> None:
    from crowdcore.export.writers import frame_bytes

    frame = evidence.drop(columns="differs").assign(worker=name)
    frame = frame[["worker", *[column for column in frame.columns if column != "worker"]]]
    code = cache.result(run.id).data.workers.index(name)
    st.download_button(
        "Evidence as CSV",
        data=partial(frame_bytes, frame, "csv"),
        file_name=f"evidence-{run.method}-worker-{code + 1}.csv",
        mime="text/csv",
        icon=":material/download:",
        key="worker_csv",
        on_click="ignore",
        disabled=evidence.empty,
        help="Cells that a spreadsheet would run as formulas get a leading apostrophe.",
    )
