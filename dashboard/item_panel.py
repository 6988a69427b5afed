"""One item up close: its truth, its picture or text, its probabilities, and who said what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.audit.evidence import labels_of_item
from dashboard import opening, reads, state
from dashboard.charts.palette import verdict_words
from dashboard.charts.truths import classes_shown, posterior_bars
from dashboard.paging import chosen_row
from dashboard.text import NOTHING, count, escape_md, interval, percent

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow, name: str) -> None:
    """Show the item called `name`; a name from an old link may not exist."""
    code = reads.item_codes(run.id).get(name)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(escape_md(name, limit=60), anchor=False)
        st.button(
            "Close", icon=":material/close:", key="item_close", type="tertiary", on_click=_close
        )
    if code is None:
        st.warning("This run's data have no item of that name; the link may be of another run.")
        return
    _facts(run, code)
    _picture(run, code)
    result = reads.result(run.id)
    st.plotly_chart(
        posterior_bars(
            result.posterior[code],
            result.data.votes[code],
            result.data.classes,
            theme=opening.theme(),
        ),
        key=f"item_bars_{run.id}_{code}",
        config={"displayModeBar": False},
        alt="Probability of each class for this item, and its share of the labels",
    )
    left_out = result.data.n_classes - len(
        classes_shown(result.posterior[code], result.data.votes[code])
    )
    if left_out:
        st.caption(f"{count(left_out, 'less likely class', 'less likely classes')} not drawn.")
    _who_said_what(run, name)


def _close() -> None:
    state.select("item", None)


def _facts(run: RunRow, code: int) -> None:
    row = reads.items(run.id).iloc[code]
    truth = str(row["truth"])
    words = f"**{escape_md(truth, limit=40)}**" if truth else "**undecided**"
    words += f" · {percent(row['confidence'])} sure · {count(row['n_labels'], 'label')}"
    if row["right"] >= 0:
        verdict = "✓ right" if row["right"] == 1 else "✕ wrong"
        words += f" · gold **{escape_md(row['gold'], limit=40)}** ({verdict})"
    st.markdown(words)
    notes = []
    if row["tied"]:
        notes.append("Tied: the likeliest classes are equally likely.")
    if row["changed"]:
        notes.append(f"Plain counting says {escape_md(row['majority'], limit=40)}.")
    if row["n_labels"] == 0:
        notes.append("Nobody labelled it in this run; the truth says only what is usual.")
    if "difficulty" in row:
        harder = (reads.items(run.id)["difficulty"] < row["difficulty"]).mean()
        words = (
            f"Difficulty {row['difficulty']:.2f}: harder than {percent(harder, 0)} of the items."
        )
        notes.append(words)
    if notes:
        st.caption(" ".join(notes))


def _picture(run: RunRow, code: int) -> None:
    details = reads.details(run.id)
    if details.picture and details.picture[code].startswith(reads.PICTURE):
        st.image(details.picture[code], width=160, alt="The item's picture")
    for title, values in details.texts.items():
        if values[code]:
            st.markdown(f":gray[{escape_md(title)}] {escape_md(values[code], limit=1500)}")


def _who_said_what(run: RunRow, name: str) -> None:
    result = reads.with_all_labels(run)
    labels = labels_of_item(result.data, name)
    if labels.empty:
        return
    truth = str(reads.items(run.id)["truth"].iloc[reads.item_codes(run.id)[name]])
    workers = reads.workers(run.id).set_index("worker")
    known = workers.reindex(labels["worker"])
    out = labels["worker"].isin(run.excluded).to_numpy()
    accuracy = [
        NOTHING if n == 0 else f"{percent(rate, 0)} ({interval(low, high)})"
        for rate, low, high, n in zip(
            known["accuracy"],
            known["accuracy_low"],
            known["accuracy_high"],
            known["n_compared"],
            strict=True,
        )
    ]
    verdicts = [
        "excluded" if gone else verdict_words(str(word))
        for gone, word in zip(out, known["verdict"], strict=True)
    ]
    frame = pd.DataFrame(
        {
            "worker": labels["worker"].to_numpy(),
            "label": [f"{'✓' if one == truth else '✕'} {one}" for one in labels["label"]],
            "verdict": verdicts,
            "accuracy": accuracy,
        }
    )
    key = f"item_labels_{run.id}_{reads.item_codes(run.id)[name]}"
    picked = chosen_row(
        st.dataframe(
            frame,
            key=key,
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            column_config={
                "worker": st.column_config.TextColumn("Worker", width=60),
                "label": st.column_config.TextColumn(
                    "Said", width=85, help="✓ is what the truth is, ✕ is not."
                ),
                "verdict": st.column_config.TextColumn("Verdict", width=95),
                "accuracy": st.column_config.TextColumn(
                    "Accuracy", width=95, help="Of the worker in this run, with its 95% interval."
                ),
            },
            alt="Who said what of this item",
        )
    )
    if picked is None:
        st.caption("Select a row to open that worker.")
    else:
        worker = str(frame["worker"].iloc[picked])
        if st.button(f"Open worker {escape_md(worker, limit=30)}", icon=":material/arrow_forward:"):
            state.goto("workers", worker=worker)
