"""From an uploaded file to a data set: roles, counts, health, and one button at the end.

The parsed file stays with the tab, so it is read once; the uploader is emptied at once, so
its bytes do not stay in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, cast

import streamlit as st

from crowdcore import DataError
from dashboard import health, state
from dashboard.roleform import ROLE_WORDS, choose_roles
from dashboard.text import count, escape_md

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crowdcore.data import CrowdData
    from crowdcore.io import Cleaning, Guess, HealthReport, Roles, Table
    from crowdcore.workspace import Dataset

Extra = Literal["gold", "features"]

SIZE_WIDTH = 150
"""Sizes of one width wrap into a tidy grid; without it the last one fills a line alone."""

SIZES = (8, 16, 24, 32, 48, 64, 96, 128)
"""Sides of pictures to choose from."""

EXTRAS: dict[Extra, tuple[str, str]] = {
    "gold": (
        "Gold answers",
        "A file of items and their correct answers, for the items where you know them.",
    ),
    "features": (
        "Item features",
        "What is known about the items, for methods that learn from it: a table of items with "
        "numbers, categories or texts, an NPZ with an embedding, or a zip of pictures named by "
        "item.",
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class File:
    """A second file, as it was uploaded."""

    name: str
    content: bytes


@dataclass(frozen=True, kw_only=True, eq=False)
class Draft:
    """Files that were uploaded and not yet saved."""

    number: int  # makes widget keys new for a new file
    labels: Table
    guess: Guess
    extras: Mapping[Extra, File] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Way:
    """How to read a draft."""

    roles: Roles
    feature_columns: tuple[str, ...] = ()
    picture_size: int | None = None  # None is the usual one
    cleaning: Cleaning | None = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A draft read in one way: data, or the sentence that says why not."""

    draft: Draft
    way: Way
    data: CrowdData | None = None
    problem: str = ""


def draft() -> Draft | None:
    """Return the uploaded files of this tab."""
    return cast("Draft | None", state.kept("draft"))


def upload() -> None:
    """Take a labels file, parse it once, and let the bytes go."""
    number = state.kept("uploads") or 0
    file = st.file_uploader(
        "Labels file",
        key=f"labels:{number}",
        help="A table with one row a label (item, worker, label), or one column a worker. "
        "It stays on this computer.",
    )
    if file is None:
        return
    from crowdcore.io import guess_roles, open_table

    try:
        with st.spinner(f"Reading {escape_md(file.name)}…"):
            table = open_table(file.getvalue(), name=_last_part(file.name))
            guess = guess_roles(table)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    state.keep("uploads", number + 1)
    state.keep("draft", Draft(number=number + 1, labels=table, guess=guess))
    st.rerun()


def review(current: Draft) -> None:
    """Show the draft step by step; the last step saves it."""
    _header(current)
    st.subheader("1 · What the columns mean", anchor=False)
    roles = choose_roles(current.labels, current.guess, key=str(current.number))
    way = _extra_files(current, roles)
    plain = _read(current, way)
    if plain.data is None:
        st.error(escape_md(plain.problem), icon=":material/error:")
        return
    st.subheader("2 · What is in it", anchor=False)
    counts = st.container()
    cleaning, places = health.choose(plain.data.report, key=str(current.number))
    reading = plain if cleaning is None else _read(current, replace(way, cleaning=cleaning))
    if reading.data is None:
        st.error(escape_md(reading.problem), icon=":material/error:")
        return
    health.describe(reading.data.report, places)
    with counts:
        sizes(reading.data, reading.data.report)
    st.subheader("3 · Save it", anchor=False)
    _save(current, reading.data)


def sizes(data: CrowdData | Dataset, report: HealthReport | None) -> None:
    """Show how much there is."""
    with st.container(horizontal=True):
        if report is not None:
            _metric("Rows", report.n_rows, "Rows of the file, without its header.")
        _metric("Labels", data.n_labels, "Labels that are used.")
        _metric("Items", data.n_items, ROLE_WORDS["item"])
        _metric("Workers", data.n_workers, ROLE_WORDS["worker"])
        if data.kind != "ratings":
            _metric("Classes", data.n_classes, "The different labels.")
        st.metric(
            "Labels an item",
            f"{data.n_labels / max(1, data.n_items):.1f}",
            help="On average. With fewer than three an error can hardly be outvoted.",
            border=True,
            width=SIZE_WIDTH,
        )
        if data.n_gold:
            _metric("Gold answers", data.n_gold, ROLE_WORDS["gold"])
        if data.n_features:
            _metric("Features", data.n_features, "How many numbers describe each item.")
    if report is not None and report.features:
        st.caption(f"Features: {escape_md(report.features)}.")


def _metric(label: str, number: int, text: str) -> None:
    st.metric(label, count(number), help=text, border=True, width=SIZE_WIDTH)


def _header(current: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/description: **{escape_md(current.labels.name)}** · "
            f"{count(current.labels.n_rows, 'row')}, "
            f"{count(len(current.labels.columns), 'column')}. {escape_md(current.labels.how)}",
            width="stretch",
        )
        if st.button("Choose another file", icon=":material/undo:"):
            state.keep("draft", None)
            state.keep("readings", None)
            st.rerun()


def _extra_files(current: Draft, roles: Roles) -> Way:
    """Take gold and features; returns how the draft is to be read."""
    with st.expander(
        "Add gold answers or item features",
        icon=":material/attach_file:",
        expanded=bool(current.extras),
    ):
        for name in EXTRAS:
            _extra_file(current, name)
        features = current.extras.get("features")
        if features is None:
            return Way(roles=roles, feature_columns=_feature_columns(current, roles))
        return Way(roles=roles, picture_size=_picture_size(current, features))


def _feature_columns(current: Draft, roles: Roles) -> tuple[str, ...]:
    """Offer what the labels file itself says about the items."""
    if roles.transposed or not roles.details:
        return ()
    chosen = st.multiselect(
        "Or use columns of the labels file as features",
        list(roles.details),
        placeholder="None",
        key=f"feature_columns:{current.number}",
        help="Texts become numbers by the words in them, columns of few values become switches, "
        "numbers stay as they are.",
    )
    return tuple(chosen)


def _picture_size(current: Draft, features: File) -> int | None:
    if not features.name.lower().endswith(".zip"):
        return None
    from crowdcore.io.pictures import SIZE

    chosen: int = st.selectbox(
        "Size of the pictures",
        SIZES,
        index=SIZES.index(SIZE),
        format_func=lambda side: f"{side} × {side} pixels",
        key=f"picture_size:{current.number}",
        width=SIZE_WIDTH * 2,
        help="Methods see every picture at this size. A larger one shows more and takes longer.",
    )
    return chosen


def _extra_file(current: Draft, name: Extra) -> None:
    """Take one more file, or show the one that was taken."""
    title, text = EXTRAS[name]
    if (given := current.extras.get(name)) is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{title}: **{escape_md(given.name)}**", width="stretch")
            if st.button("Remove", key=f"remove:{name}", icon=":material/close:"):
                rest = {other: file for other, file in current.extras.items() if other != name}
                state.keep("draft", replace(current, extras=rest))
                st.rerun()
        return
    taken = st.file_uploader(title, key=f"{name}:{current.number}", help=text)
    if taken is not None:
        file = File(name=_last_part(taken.name), content=taken.getvalue())
        state.keep("draft", replace(current, extras={**current.extras, name: file}))
        st.rerun()


def _read(current: Draft, way: Way) -> Reading:
    """Read the draft in one way; the last few ways are remembered."""
    from crowdcore.io import Cleaning, read_labels
    from crowdcore.io.pictures import SIZE

    readings: list[Reading] = state.kept("readings") or []
    for reading in readings:
        if reading.draft is current and reading.way == way:
            return reading
    gold, features = current.extras.get("gold"), current.extras.get("features")
    try:
        with st.spinner("Reading the labels…"):
            data = read_labels(
                current.labels,
                roles=way.roles,
                gold=gold.content if gold else None,
                gold_name=gold.name if gold else None,
                features=features.content if features else None,
                features_name=features.name if features else None,
                feature_columns=way.feature_columns,
                picture_size=way.picture_size or SIZE,
                cleaning=way.cleaning or Cleaning(),
            )
        reading = Reading(draft=current, way=way, data=data)
    except DataError as error:
        reading = Reading(draft=current, way=way, problem=str(error))
    state.keep("readings", [reading, *readings][:2])
    return reading


def _save(current: Draft, data: CrowdData) -> None:
    stem = PurePosixPath(current.labels.name).stem.replace("_", " ").replace("-", " ").strip()
    here = state.project()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Project name", value=stem.capitalize() or "Labels", key=f"name:{current.number}"
        )
        create = st.button(
            "Create project", type="primary", icon=":material/add_circle:", key="create"
        )
        add = here is not None and st.button(
            f"Add to {escape_md(here.name, limit=30)}",
            icon=":material/library_add:",
            key="add",
            help="Save it as a new data set of the open project.",
        )
    if not (create or add):
        return
    workspace = state.workspace()
    try:
        with st.spinner("Saving…"):
            target = here if add and here is not None else workspace.create_project(name)
            known = {one.id for one in workspace.datasets(target.id)}
            saved = workspace.add_data(target.id, data, name=current.labels.name)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    if saved.id in known:
        st.info(
            f"{escape_md(target.name)} already has exactly these data, as "
            f"{escape_md(saved.label)}. Nothing was added.",
            icon=":material/content_copy:",
        )
        return
    state.keep("draft", None)
    state.keep("readings", None)
    state.goto("run", project=target.id)


def _last_part(name: str) -> str:
    """Keep the last part of a file name; an upload may be called ../../etc/passwd.csv."""
    return name.replace("\\", "/").rsplit("/", 1)[-1] or "upload"
