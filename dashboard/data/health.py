"""The health report on screen: what was found, what was done, and what you can choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import streamlit as st

from crowdcore.wording import count
from dashboard.text import escape_md

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.reading import Cleaning, Finding, HealthReport

LOOKS = {
    "warning": ("orange", ":material/warning:"),
    "notice": ("blue", ":material/info:"),
    "ok": ("green", ":material/check_circle:"),
}
MAX_CHECKBOXES = 12
"""Labels that get a checkbox each; beyond, it is all or these."""

CHOICE_LABELS = {
    "all": "Keep all",
    "drop": "Keep none",
    "first": "Keep the first",
    "last": "Keep the last",
}
SETTLED = "Settled, as you chose."


def show(report: HealthReport) -> None:
    """List what matters, each with examples and what was done; count what is fine."""
    describe(report, {})


def draw(findings: Iterable[Finding]) -> None:
    """List findings that matter, each in a box of its own."""
    for finding in findings:
        if finding.severity != "ok":
            with st.container(border=True):
                _draw_finding(finding)


def choose(report: HealthReport, *, key: str) -> tuple[Cleaning | None, dict[str, DeltaGenerator]]:
    """Offer the fixes that a report proposes.

    Returns the cleaning that was chosen (None: the usual one) and a container for each finding,
    to be filled by `describe` once the file was read in that way. `report` is of the usual
    cleaning, so a choice stays in view after it was made.
    """
    from crowdcore.reading import Cleaning

    cleaning, containers = Cleaning(), {}
    for finding in report.warnings:
        with st.container(border=True):
            containers[finding.id] = st.container()
            if finding.option:
                cleaning = cleaning.with_option(_control(finding, key))
    return None if cleaning == Cleaning() else cleaning, containers


def describe(report: HealthReport, containers: Mapping[str, DeltaGenerator]) -> None:
    """Write the findings into their containers; one that has none gets a box of its own."""
    for finding in report.warnings:
        with containers.get(finding.id) or st.container(border=True):
            _draw_finding(finding)
    warnings = {finding.id for finding in report.warnings}
    for finding in report.findings:
        if finding.id in containers and finding.id not in warnings:
            with containers[finding.id]:
                _draw_line(finding, SETTLED)
    for settled in set(containers) - {finding.id for finding in report.findings}:
        containers[settled].caption(SETTLED)
    shown = warnings | set(containers)
    passed = [finding for finding in report.findings if finding.id not in shown]
    if passed:
        with st.expander(f"{count(len(passed), 'check')} passed", icon=":material/check_circle:"):
            st.markdown("\n".join(f"- {escape_md(finding.title)}: none" for finding in passed))


def _draw_finding(finding: Finding) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            _draw_line(finding, finding.done)
        if finding.examples:
            with st.popover("Examples", type="tertiary"):
                st.code("\n".join(finding.examples), language=None, wrap_lines=True)
    if finding.fix and not finding.option:
        st.caption(escape_md(finding.fix))


def _draw_line(finding: Finding, done: str) -> None:
    colour, icon = LOOKS[finding.severity]
    badge = f" :{colour}-badge[{count(finding.count)}]" if finding.count else ""
    note = f"  \n:small[{escape_md(done)}]" if done else ""
    st.markdown(f":{colour}[{icon}] **{escape_md(finding.title)}**{badge}{note}")


def _control(finding: Finding, key: str) -> dict[str, Any]:
    """Draw the choice that a finding leaves: one rule per kind of option."""
    from crowdcore.reading import Cleaning

    kinds = get_type_hints(Cleaning)
    chosen: dict[str, Any] = {}
    for name, value in finding.option.items():
        widget = f"clean:{key}:{finding.id}:{name}"
        choices = get_args(kinds[name]) if get_origin(kinds[name]) is Literal else ()
        if len(choices) > 2:  # noqa: PLR2004  (of two, the other one is the fix)
            chosen[name] = st.radio(
                escape_md(finding.fix),
                list(choices),
                index=choices.index(getattr(Cleaning(), name)),
                format_func=lambda choice: CHOICE_LABELS.get(choice, choice.capitalize()),
                horizontal=True,
                key=widget,
            )
        elif isinstance(value, dict):
            pairs = {old: f"{_quoted(old)} → {_quoted(new)}" for old, new in value.items()}
            chosen[name] = {old: value[old] for old in _several(finding, pairs, widget)}
        elif isinstance(value, list | tuple):
            marks = {mark: _quoted(mark) for mark in value}
            chosen[name] = tuple(_several(finding, marks, widget))
        elif st.checkbox(escape_md(finding.fix), key=widget):
            chosen[name] = value
    return chosen


def _several(finding: Finding, options: Mapping[str, str], key: str) -> Iterable[str]:
    """Draw a checkbox for all options and one for each, up to a few; a single one needs no two."""
    if len(options) == 1:
        ((name, label),) = options.items()
        return [name] if st.checkbox(f"{escape_md(finding.fix)} {label}", key=f"{key}:all") else []
    every = st.checkbox(f"{escape_md(finding.fix)} (all {len(options)})", key=f"{key}:all")
    chosen = []
    with st.container(horizontal=True):
        for number, (name, label) in enumerate(list(options.items())[:MAX_CHECKBOXES]):
            if st.checkbox(label, key=f"{key}:{number}:{name}", disabled=every):
                chosen.append(name)
    return list(options) if every else chosen


def _quoted(text: str) -> str:
    """Show a label with its outer spaces, which Markdown would eat."""
    lead, trail = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
    return "“" + "\u00a0" * lead + escape_md(text) + "\u00a0" * trail + "”"
