"""One worker up close: the verdict, the confusion matrix, and the labels that are the evidence."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.evidence import given_shares, habit, label_counts
from crowdcore.data import DataError
from dashboard import opening, reads, state
from dashboard.charts.palette import verdict_words
from dashboard.charts.workers import (
    MOST_BARS,
    MOST_CLASSES,
    MOST_TEXTS,
    class_shares,
    confusion_heatmap,
)
from dashboard.paging import chosen_point, chosen_row
from dashboard.text import count, escape_md, interval, percent, percents

if TYPE_CHECKING:
    from crowdcore.result import Result
    from crowdcore.workspace import RunRow

MOST_ROWS = 1_000
TEXT_SIGNS = 200


def draw(run: RunRow, name: str) -> None:
    """Show the worker called `name`; a name from an old link may not exist."""
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Worker {escape_md(name, limit=60)}", anchor=False)
        st.button(
            "Close", icon=":material/close:", key="worker_close", type="tertiary", on_click=_close
        )
    names = reads.result(run.id).data.workers
    if name not in names:
        st.warning("This run's data have no worker of that name; the link may be of another run.")
        return
    code = names.index(name)
    result = reads.with_all_labels(run)
    _verdict(run, code, result)
    _exclusion(run, name)
    cell = _charts(run, result, code)
    _evidence(run, result, name, cell)


def _close() -> None:
    state.select("worker", None)
    # A new key for the chart, which would otherwise still hold the point that was clicked.
    state.keep("workers_closed", (state.kept("workers_closed") or 0) + 1)


def _verdict(run: RunRow, code: int, result: Result) -> None:
    row = reads.workers(run.id).iloc[code]
    if row["worker"] in run.excluded:
        labels = count(int(result.data.labels_per_worker[code]), "label")
        st.markdown(f"**Excluded from this run.** {labels} left out.")
        st.caption("What follows compares them with truths that they had no part in.")
        return
    st.markdown(f"**{escape_md(verdict_words(row['verdict']))}.** {escape_md(row['evidence'])}")
    facts = [count(row["n_labels"], "label")]
    if row["n_compared"]:
        facts.append(
            f"right {percent(row['accuracy'])} "
            f"({interval(row['accuracy_low'], row['accuracy_high'])})"
        )
        facts.append(f"agrees with others {percent(row['agreement'])}")
    if row["gold_n"]:
        facts.append(f"on gold {percent(row['gold_accuracy'])} of {count(row['gold_n'])}")
    st.caption(" · ".join(facts))
    _learnt(reads.result(run.id), code)


def _learnt(result: Result, code: int) -> None:
    """Say what the method itself learnt of a worker, in its own terms."""
    facts = [
        f"{name.replace('_', ' ')} {values[code]:.3g}"
        for name, values in result.worker_scores.items()
    ]
    if (found := habit(result, result.data.workers[code])) is not None:
        share, given = found
        likely = np.argsort(-given, kind="stable")[:2]
        names = (f"{escape_md(result.data.classes[k])} {percent(given[k], 0)}" for k in likely)
        facts.append(f"{percent(share, 0)} of the labels without looking, then {', '.join(names)}")
    if facts:
        st.caption(f"{escape_md(result.provenance.title)} finds: {' · '.join(facts)}")


def _exclusion(run: RunRow, name: str) -> None:
    """Offer a run without this worker, or with them again."""
    out = name in run.excluded
    excluded = [one for one in run.excluded if one != name] if out else [*run.excluded, name]
    data = reads.result(run.id).data
    silent = not out and not data.labels_per_worker[data.workers.index(name)]
    last = not out and reads.active_workers(run) <= 1
    why = None
    if last:
        why = "This is the only worker left; without them there would be no labels."
    elif silent:
        why = "This worker has no labels to leave out."
    with st.container(horizontal=True, vertical_alignment="center"):
        go = st.button(
            "Take in and run again" if out else "Exclude and run again",
            icon=":material/person_add:" if out else ":material/person_off:",
            key="worker_exclude",
            disabled=why is not None,
            help=why,
        )
        what = "with these labels" if out else "without any label of this worker"
        st.caption(
            f"Queues {escape_md(run.title)} with the same settings and seed, {what}. "
            "This run and the data stay as they are."
        )
    if go:
        queue_without(run, excluded)


def queue_without(run: RunRow, excluded: list[str]) -> None:
    """Queue a run once more without some workers, and show it among the runs."""
    from crowdcore import jobs

    workspace = state.workspace()
    try:
        workspace.run_again(run.id, excluded=excluded, warm_from=run.id)
    except DataError as error:
        st.error(escape_md(error))
        return
    jobs.ensure_daemon(workspace)
    state.goto("run")


def _charts(run: RunRow, result: Result, code: int) -> tuple[int, int] | None:
    """Draw the matrix and the shares; return the (true, given) cell that was clicked."""
    classes, name = result.data.classes, result.data.workers[code]
    counts = label_counts(result, name)
    left, right = opening.side_by_side(1, 1)
    with left:
        st.markdown("**What they say when the truth is …**")
        counted = name in run.excluded  # the run has no estimate for a worker it did not see
        if not counted:
            cells = st.segmented_control(
                "Cells",
                ["Shares", "Counts"],
                default="Shares",
                key="worker_cells",
                label_visibility="collapsed",
            )
            counted = cells == "Counts"
        key = f"worker_matrix_{run.id}_{code}"
        point = chosen_point(st.session_state.get(key))
        cell = None if point is None else (int(point[0]), int(point[1]))
        st.plotly_chart(
            confusion_heatmap(
                reads.confusion(run.id)[code],
                counts,
                classes,
                show_counts=counted,
                theme=opening.theme(),
                chosen=cell,
                interval=_interval(result, code),
            ),
            key=key,
            on_select="rerun",
            selection_mode="points",
            config={"displayModeBar": False},
            alt="Confusion matrix: rows are truths, columns what the worker gave",
        )
        st.caption(_matrix_note(len(classes), counted))
    with right:
        st.markdown("**How often they give each class**")
        own, others = given_shares(result.data, name)
        st.plotly_chart(
            class_shares(own, others, classes, theme=opening.theme()),
            key=f"worker_shares_{run.id}_{code}",
            config={"displayModeBar": False},
            alt="Share of each class among the worker's labels and among others' on the same items",
        )
        if len(classes) > MOST_BARS:
            st.caption(f"The {MOST_BARS} classes that differ most, of {count(len(classes))}.")
    return cell


def _interval(result: Result, code: int) -> NDArray[np.float64] | None:
    """The lower and upper ends [2, true, given] of a worker's matrix, where the method has them."""
    ends = result.artefacts.get("confusion_interval")
    return None if ends is None else np.stack([ends["low"][code], ends["high"][code]])


def _matrix_note(n_classes: int, counts: bool) -> str:
    words = "Labels counted against the truths. " if counts else "The estimate; rows add to 1. "
    if n_classes > MOST_CLASSES:
        words += f"The {MOST_CLASSES} most confused of {count(n_classes)} classes. "
    elif n_classes > MOST_TEXTS:
        words += "The most confused classes first. "
    return words + "Click a cell for the items behind it."


def _evidence(run: RunRow, result: Result, name: str, cell: tuple[int, int] | None) -> None:
    labels = reads.labels_of_worker(run.id, name)
    classes = result.data.classes
    if cell is None:
        part = labels[labels["differs"]]
        title = f"Where they differ from the truth: {count(len(part), 'label')}"
        none = "None of their labels differs from a truth."
    else:
        true, given = classes[cell[0]], classes[cell[1]]
        part = labels[(labels["truth"] == true) & (labels["given"] == given)]
        words = f"truth {escape_md(true, limit=40)}, given {escape_md(given, limit=40)}"
        title = f"{count(len(part), 'label')}: {words}"
        none = "No item is behind this cell; its share is an estimate."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{title}**")
        _download(run, name, part)
    if part.empty:
        st.caption(none)
        return
    shown = part.head(MOST_ROWS)
    key = f"worker_evidence_{run.id}_{result.data.workers.index(name)}_{cell}"
    picked = chosen_row(
        st.dataframe(
            _cells(run, shown),
            key=key,
            hide_index=True,
            column_config=_columns(run),
            row_height=56 if reads.details(run.id).picture else None,
            on_select="rerun",
            selection_mode="single-row",
            placeholder="",
            alt="The labels that are the evidence",
        )
    )
    words = "The surest truths first. "
    if len(part) > len(shown):
        words += f"The first {count(len(shown))} are shown; the CSV has all {count(len(part))}. "
    st.caption(words + ("" if picked is not None else "Select a row to open the item."))
    if picked is not None:
        item = str(shown["item"].iloc[picked])
        if st.button(f"Open item {escape_md(item, limit=40)}", icon=":material/arrow_forward:"):
            state.goto("truths", item=item)


def _cells(run: RunRow, part: pd.DataFrame) -> pd.DataFrame:
    details, codes = reads.details(run.id), reads.item_codes(run.id)
    places = [codes[name] for name in part["item"]]
    cells: dict[str, Any] = {"item": part["item"].to_numpy()}
    if details.picture:
        cells["picture"] = [details.picture[place] for place in places]
    cells["given"] = part["given"].to_numpy()
    cells["truth"] = part["truth"].to_numpy()
    cells["confidence"] = percents(part["confidence"])
    others = part["n_labels"] - 1
    cells["same"] = [f"{n} of {of}" for n, of in zip(part["same"], others, strict=True)]
    if (part["gold"] != "").any():
        cells["gold"] = part["gold"].to_numpy()
    for title, values in details.texts.items():
        cells[f"detail:{title}"] = [values[place][:TEXT_SIGNS] for place in places]
    return pd.DataFrame(cells)


def _columns(run: RunRow) -> dict[str, Any]:
    column = st.column_config
    texts = reads.details(run.id).texts
    return {
        "item": column.TextColumn("Item", pinned=True),
        "picture": column.ImageColumn("Picture", width=70),
        "given": column.TextColumn("They said"),
        "truth": column.TextColumn("Truth"),
        "confidence": column.ProgressColumn(
            "Confidence of the truth", min_value=0, max_value=100, format="%.1f%%"
        ),
        "same": column.TextColumn(
            "Others who said the same", help="Of the other labels of the item."
        ),
        "gold": column.TextColumn("Gold"),
        **{f"detail:{name}": column.TextColumn(name, width="medium") for name in texts},
    }


def _download(run: RunRow, name: str, part: pd.DataFrame) -> None:
    from crowdcore.io.writers import frame_bytes

    frame = part.drop(columns="differs").assign(worker=name)
    frame = frame[["worker", *[column for column in frame.columns if column != "worker"]]]
    code = reads.result(run.id).data.workers.index(name)
    st.download_button(
        "Evidence as CSV",
        data=partial(frame_bytes, frame, "csv"),
        file_name=f"evidence-{run.method}-worker-{code + 1}.csv",
        mime="text/csv",
        icon=":material/download:",
        key="worker_csv",
        on_click="ignore",
        disabled=part.empty,
        help="Cells that a spreadsheet would run as formulas get a leading apostrophe.",
    )
