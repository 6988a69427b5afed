"""From a draft to a data set: roles, counts, health, and one button at the end."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

import streamlit as st

from crowdcore import DataError
from crowdcore.wording import count
from dashboard import state
from dashboard.data import files, health, readings
from dashboard.data.draft import EXTRAS, Draft, forget_draft, forget_upload, sort_out
from dashboard.data.reading import read_stoppably
from dashboard.data.roles import ROLE_HELP, choose_roles
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.jobs.drafts import Extra, ReadDraft, UploadedFile
    from crowdcore.jobs.opening import OpenedDraft, QuestionChoice
    from crowdcore.reading import Cleaning, Guess, HealthReport, Roles
    from crowdcore.workspace import Dataset
    from crowdcore.workspace.data_files import DataFacts

SIZE_WIDTH = 150
"""Sizes of one width wrap into a tidy grid; without it the last one fills a line alone."""

SPAN_TABLE = "Table of spans"
"""The one format that may not say who saw a text."""

UNMARKED: dict[Literal["saw", "absent"], str] = {
    "saw": "Yes, everybody saw every text",
    "absent": "No, they saw only texts with marks of theirs",
}

SIZES = (8, 16, 24, 32, 48, 64, 96, 128)
"""Sides of pictures to choose from."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to read a draft."""

    roles: Roles
    feature_columns: tuple[str, ...] = ()
    picture_size: int | None = None  # None is the usual one
    cleaning: Cleaning | None = None
    guess: Guess | None = None  # what the roles were chosen over


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A draft read with some settings: what came of it, or the sentence that says why not."""

    draft: Draft
    settings: Settings
    read: ReadDraft | None = None
    problem: str = ""


def review(current: Draft) -> None:
    """Show the draft step by step; the last step saves it."""
    _header(current)
    sort_out(current)
    questions: list[QuestionChoice] = []
    key = str(current.number)
    if current.opened.texts:
        settings = _text_settings(current)
    else:
        chosen = readings.choose_reading(current.opened, key=key)
        if chosen is None:
            return
        questions = readings.choose_questions(chosen, key=key)
        in_view = readings.for_question(chosen, questions[0]) if questions else chosen
        key += f":{questions[0].name}" if questions else ""
        st.subheader("1. What the columns mean", anchor=False)
        roles = choose_roles(in_view, key=key)
        settings = replace(_extra_files(current, roles), guess=in_view.guess)
    plain = _read(current, settings)
    if plain.read is None:
        st.error(escape_md(plain.problem), icon=":material/error:")
        return
    st.subheader("2. What is in it", anchor=False)
    counts = st.container()
    cleaning, containers = health.choose(plain.read.report, key=key)
    reading = plain
    if cleaning is not None:
        if settings.cleaning is not None:
            cleaning = replace(cleaning, unmarked=settings.cleaning.unmarked)
        settings = replace(settings, cleaning=cleaning)
        reading = _read(current, settings)
    if reading.read is None:
        st.error(escape_md(reading.problem), icon=":material/error:")
        return
    health.describe(reading.read.report, containers)
    with counts:
        sizes(reading.read.facts, reading.read.report)
    st.subheader("3. Save it", anchor=False)
    _save(current, reading.read, settings, questions)


def _text_settings(current: Draft) -> Settings:
    """Ask of annotated texts what the file does not say."""
    from crowdcore.reading.labels.cleaning import Cleaning

    st.subheader("1. What the file does not say", anchor=False)
    roles = current.opened.choices[0].guess.roles
    if current.opened.texts != SPAN_TABLE:
        st.caption("Nothing: the file says who saw which text.")
        return Settings(roles=roles)
    seen = st.radio(
        "Did workers see the texts in which they marked nothing?",
        list(UNMARKED),
        format_func=lambda answer: UNMARKED[answer],
        index=None,
        key=f"unmarked:{current.number}",
        help="A text that a worker saw and left empty counts against every span in it. Rows with "
        "an empty start say so in the file itself.",
    )
    cleaning = Cleaning() if seen is None else Cleaning(unmarked=seen)
    return Settings(roles=roles, cleaning=cleaning)


def sizes(data: DataFacts | Dataset, report: HealthReport | None) -> None:
    """Show how much there is."""
    with st.container(horizontal=True):
        if report is not None:
            _metric("Rows", report.n_rows, "Rows of the file, without its header.")
        _metric("Labels", data.n_labels, "Labels that are used.")
        item_help = "The tokens of all texts." if data.kind == "sequences" else ROLE_HELP["item"]
        _metric("Tokens" if data.kind == "sequences" else "Items", data.n_items, item_help)
        _metric("Workers", data.n_workers, ROLE_HELP["worker"])
        if data.kind == "sequences":
            _metric("Tags", data.n_classes, "O, and B- and I- of each type of span.")
        elif data.kind != "ratings":
            _metric("Classes", data.n_classes, "The different labels.")
        st.metric(
            "Labels per token" if data.kind == "sequences" else "Labels per item",
            f"{data.n_labels / max(1, data.n_items):.1f}",
            help="On average. With fewer than three an error can hardly be outvoted.",
            border=True,
            width=SIZE_WIDTH,
        )
        if data.n_gold:
            _metric("Gold answers", data.n_gold, ROLE_HELP["gold"])
        if data.n_features:
            _metric("Features", data.n_features, "How many numbers describe each item.")
    if report is not None and report.left_out:
        st.caption(f"{escape_md(report.accounting)}.")
    if report is not None and report.features:
        st.caption(f"Features: {escape_md(report.features)}.")


def _metric(label: str, number: int, text: str) -> None:
    st.metric(label, count(number), help=text, border=True, width=SIZE_WIDTH)


def _header(current: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":material/description: **{escape_md(current.labels.name)}** · "
            f"{_shape(current.opened)}{escape_md(current.opened.description)}",
            width="stretch",
        )
        if st.button("Choose another file", icon=":material/undo:"):
            forget_draft()
            st.rerun()


def _shape(opened: OpenedDraft) -> str:
    if opened.texts:
        return ""
    n_columns = len(opened.choices[0].columns)
    return f"{count(opened.n_rows, 'row')}, {count(n_columns, 'column')}. "


def _extra_files(current: Draft, roles: Roles) -> Settings:
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
            return Settings(roles=roles, feature_columns=_feature_columns(current, roles))
        return Settings(roles=roles, picture_size=_picture_size(current, features))


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


def _picture_size(current: Draft, features: UploadedFile) -> int | None:
    if not features.name.lower().endswith(".zip"):
        return None
    from crowdcore.reading.features.pictures import DEFAULT_SIDE_PIXELS

    chosen: int = st.selectbox(
        "Size of the pictures",
        SIZES,
        index=SIZES.index(DEFAULT_SIDE_PIXELS),
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
            is_dropped = given in current.files and len(current.files) > 1
            if not is_dropped and st.button(
                "Remove", key=f"remove:{name}", icon=":material/close:"
            ):
                kept = {key: file for key, file in current.extras.items() if key != name}
                state.keep("draft", replace(current, extras=kept))
                st.rerun()
        return
    taken = st.file_uploader(title, key=f"{name}:{current.number}", help=text)
    if taken is not None:
        number = (state.kept("extra_files") or 0) + 1
        state.keep("extra_files", number)
        try:
            file = files.store(current.folder, f"{name}-{number}", taken)
        except DataError as error:
            st.error(escape_md(error), icon=":material/error:")
            return
        state.keep("draft", replace(current, extras={**current.extras, name: file}))
        st.rerun()


def _read(current: Draft, settings: Settings) -> Reading:
    """Read the draft with some settings; the last few readings are remembered."""
    remembered: list[Reading] = state.kept("readings") or []
    for reading in remembered:
        if reading.draft is current and reading.settings == settings:
            return reading
    try:
        reading = Reading(draft=current, settings=settings, read=_read_now(current, settings))
    except DataError as error:
        reading = Reading(draft=current, settings=settings, problem=str(error))
    for forgotten in remembered[1:]:
        if forgotten.read is not None:
            shutil.rmtree(forgotten.read.folder, ignore_errors=True)
    state.keep("readings", [reading, *remembered][:2])
    return reading


def _read_now(current: Draft, settings: Settings, *, question: str = "") -> ReadDraft:
    """Read the draft in a process of its own."""
    from crowdcore.jobs.drafts import ReadRequest, read_draft

    number = (state.kept("readings_made") or 0) + 1
    state.keep("readings_made", number)
    request = ReadRequest(
        labels=current.labels,
        roles=settings.roles,
        guess=settings.guess,
        target=current.folder.path / f"data-{number}",
        extras=current.extras,
        feature_columns=settings.feature_columns,
        picture_size=settings.picture_size,
        cleaning=settings.cleaning,
        texts=bool(current.opened.texts),
    )
    of_question = f" to {question}" if question else ""
    return read_stoppably(
        read_draft,
        request,
        current.folder.path,
        title=f"Reading the labels of {current.labels.name}{of_question}",
        on_stop=forget_upload,
    )


def _save(
    current: Draft, read: ReadDraft, settings: Settings, questions: list[QuestionChoice]
) -> None:
    stem = PurePosixPath(current.labels.name).stem.replace("_", " ").replace("-", " ").strip()
    project = state.project()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Project name", value=stem.capitalize() or "Labels", key=f"name:{current.number}"
        )
        create = st.button(
            "Create project", type="primary", icon=":material/add_circle:", key="create"
        )
        add = project is not None and st.button(
            f"Add to {escape_md(project.name, limit=30)}",
            icon=":material/library_add:",
            key="add",
            help="Save it as a new data set of the open project.",
        )
    if not (create or add):
        return
    workspace = state.workspace()
    try:
        with st.spinner("Saving…"):
            target = project if add and project is not None else workspace.create_project(name)
            existing = {dataset.id for dataset in workspace.datasets(target.id)}
            name = _dataset_name(current, questions[0] if questions else None)
            saved = workspace.adopt_data(target.id, read.folder, read.facts, name=name)
        for question in questions[1:]:
            other = _read_now(current, _for_question(settings, question), question=question.name)
            name = _dataset_name(current, question)
            workspace.adopt_data(target.id, other.folder, other.facts, name=name)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    if saved.id in existing and len(questions) < 2:  # noqa: PLR2004  (several)
        st.info(
            f"{escape_md(target.name)} already has exactly these data, as "
            f"{escape_md(saved.label)}. Nothing was added.",
            icon=":material/content_copy:",
        )
        return
    forget_draft()
    state.goto("run", project=target.id)


def _dataset_name(current: Draft, question: QuestionChoice | None) -> str:
    """Name a data set after its file, and after its question where the file has several."""
    return current.labels.name if question is None else f"{current.labels.name}: {question.name}"


def _for_question(settings: Settings, question: QuestionChoice) -> Settings:
    """Read another question as the one in view: with its items, workers and cleaning."""
    if question.guess is None:
        return settings
    roles = question.guess.roles
    if roles.layout == settings.roles.layout:
        roles = replace(roles, item=settings.roles.item, worker=settings.roles.worker)
    return replace(settings, roles=roles, guess=question.guess)
