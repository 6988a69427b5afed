"""One item up close: its truth, its picture or text, its probabilities, and who said what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.audit.evidence import labels_of_item
from crowdcore.wording import count, percent, rate
from dashboard import cache, layout, state, widgets
from dashboard.charts.palette import verdict_words
from dashboard.charts.truths import classes_shown, posterior_bars
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow, name: str) -> None:
    """Show the item called `name`; a name from an old link may not exist."""
    code = cache.item_codes(run.id).get(name)
    widgets.panel_heading(escape_md(name, limit=60), key="item_close", on_close=_close)
    if code is None:
        st.warning("This run's data have no item of that name; the link may be of another run.")
        return
    draw_facts(run, code)
    draw_details(run, code)
    draw_probabilities(run, code)
    draw_labels(run, name)


def draw_probabilities(run: RunRow, code: int) -> None:
    """Draw the probability of each class beside its share of the labels."""
    result = cache.result(run.id)
    posterior, votes = result.posterior[code], result.data.votes[code]
    widgets.chart(
        posterior_bars(posterior, votes, result.data.classes, theme=layout.theme()),
        key=f"item_bars_{run.id}_{code}",
        alt="Probability of each class for this item, and its share of the labels",
    )
    if n_hidden := result.data.n_classes - len(classes_shown(posterior, votes)):
        st.caption(f"{count(n_hidden, 'less likely class', 'less likely classes')} not drawn.")


def _close() -> None:
    state.select("item", None)


def draw_facts(run: RunRow, code: int) -> None:
    """Write an item's truth, how sure it is, and what else there is to know of it."""
    row = cache.items(run.id).iloc[code]
    truth = escape_md(row["truth"] or "undecided", limit=40)
    facts = [f"**{truth}**", f"{percent(row['confidence'])} sure", count(row["n_labels"], "label")]
    if row["right"] >= 0:
        verdict = "✓ right" if row["right"] == 1 else "✕ wrong"
        facts.append(f"gold **{escape_md(row['gold'], limit=40)}** ({verdict})")
    st.markdown(" · ".join(facts))
    notes = []
    if row["tied"]:
        notes.append("Tied: the likeliest classes are equally likely.")
    if row["changed"]:
        notes.append(f"Plain counting says {escape_md(row['majority'], limit=40)}.")
    if row["n_labels"] == 0:
        notes.append("Nobody labelled it in this run; the truth says only what is usual.")
    if "score:difficulty" in row:
        difficulty = row["score:difficulty"]
        easier = percent((cache.items(run.id)["score:difficulty"] < difficulty).mean(), 0)
        notes.append(f"Difficulty {difficulty:.2f}: harder than {easier} of the items.")
    if notes:
        st.caption(" ".join(notes))


def draw_details(run: RunRow, code: int, *, width: int = 160) -> None:
    """Show the picture, so many pixels wide, and the texts of an item."""
    details = cache.details(run.id)
    if details.picture and details.picture[code].startswith(cache.PICTURE):
        st.image(details.picture[code], width=width, alt="The item's picture")
    for title, values in details.texts.items():
        if values[code]:
            st.markdown(f":gray[{escape_md(title)}] {escape_md(values[code], limit=1500)}")


def draw_labels(run: RunRow, name: str) -> None:
    """List who said what, with how far each can be relied on."""
    labels = labels_of_item(cache.with_all_labels(run).data, name)
    if labels.empty:
        return
    code = cache.item_codes(run.id)[name]
    truth = str(cache.items(run.id)["truth"].iloc[code])
    workers = cache.workers(run.id).set_index("worker").reindex(labels["worker"])
    is_out = labels["worker"].isin(run.excluded)
    accuracies = zip(
        *(workers[column] for column in ("accuracy", "accuracy_low", "accuracy_high")), strict=True
    )
    frame = pd.DataFrame(
        {
            "worker": labels["worker"].to_numpy(),
            "label": [f"{'✓' if label == truth else '✕'} {label}" for label in labels["label"]],
            "verdict": [
                "excluded" if out else verdict_words(str(verdict))
                for out, verdict in zip(is_out, workers["verdict"], strict=True)
            ],
            "accuracy": [rate(*accuracy) for accuracy in accuracies],
        }
    )
    column = st.column_config
    worker = widgets.table(
        frame,
        key=f"item_labels_{run.id}_{code}",
        alt="Who said what of this item",
        select="worker",
        columns={
            "worker": column.TextColumn("Worker", width=60),
            "label": column.TextColumn("Said", width=85, help="✓ is what the truth is, ✕ is not."),
            "verdict": column.TextColumn("Verdict", width=95),
            "accuracy": column.TextColumn(
                "Accuracy", width=95, help="Of the worker in this run, with its 95% interval."
            ),
        },
    )
    widgets.open_worker(worker, key="item_open_worker")
