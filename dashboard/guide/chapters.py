"""The guide: Markdown files that the dashboard and the documents share, with lists from the code.

The chapters are docs/guide/*.md. A line `<!-- list: NAME -->` in them stands for a list that is
made from the code, so that a finding or a verdict explains itself in the guide as soon as it
exists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import crowdcore
from crowdcore.audit.spot_check import SIZES, margin
from crowdcore.audit.verdicts import VERDICTS, WORST_FIRST
from crowdcore.reading import FINDINGS
from crowdcore.reading.columns.platforms import platforms
from crowdcore.reading.finding_kind import Area
from crowdcore.reading.parsing.formats import formats
from crowdcore.terms import TERMS

FIRST = "index"
"""The chapter that lists the others."""

AREAS: dict[Area, str] = {
    "file": "Findings about the file",
    "labels": "Findings about the labels",
    "spans": "Findings about spans in texts",
    "gold": "Findings about gold",
    "features": "Findings about features",
}
"""What findings can be about, as headings of the chapter on them."""

_LIST = re.compile(r"^<!-- list: (\w+) -->$", re.MULTILINE)
_CONTENTS = re.compile(r"^```{toctree}\n(:.+\n)*\n(?P<names>([\w-]+\n)*)```$", re.MULTILINE)


def folder() -> Path:
    """Where the chapters are: installed and in the source tree alike, beside the package."""
    return Path(crowdcore.__file__).resolve().parent.parent / "docs" / "guide"


@cache
def titles() -> dict[str, str]:
    """Every chapter's title by its name, in the order of the guide."""
    contents = _CONTENTS.search(_source(FIRST))
    names = [FIRST, *(contents["names"].split() if contents else ())]
    return {name: _source(name).partition("\n")[0].removeprefix("# ") for name in names}


def chapter_of(page: str) -> str:
    """The chapter about a page of the dashboard: the one of its name, else the first."""
    return page if page in titles() else FIRST


@cache
def text(name: str) -> str:
    """A chapter as Markdown, without its title, its lists filled in.

    Parameters
    ----------
    name
        A chapter of `titles()`.

    Returns
    -------
    str
        Plain Markdown. Contents for Sphinx become a list of links.
    """
    body = _source(name).partition("\n")[2]
    others = [f"- [{title}]({other}.md)" for other, title in titles().items() if other != FIRST]
    return fill_in(_CONTENTS.sub(lambda _: "\n".join(others), body), LISTS).strip()


def fill_in(source: str, lists: Mapping[str, Callable[[], str]]) -> str:
    """Put lists into a page's source.

    Parameters
    ----------
    source
        Markdown that may have lines `<!-- list: NAME -->`.
    lists
        What makes each list, by name.

    Returns
    -------
    str
        The same with the lists in their place.
    """
    return _LIST.sub(lambda found: lists[found[1]](), source)


def _source(name: str) -> str:
    return (folder() / f"{name}.md").read_text(encoding="utf-8")


def _verdicts() -> str:
    """A section for each verdict, the most harmful first."""
    by_name = {verdict.name: verdict for verdict in VERDICTS}
    sections = [
        f"### {verdict.name.capitalize()}\n\n"
        f"**It means:** {verdict.meaning}\n\n"
        f"**It does not mean:** {verdict.caveat}\n\n"
        f"**What to do:** {verdict.advice}"
        + (f"\n\n**How often it is wrong:** {verdict.errors}" if verdict.errors else "")
        for verdict in (by_name[name] for name in WORST_FIRST)
    ]
    return "\n\n".join(sections)


def _findings() -> str:
    """A section for each finding, by what it is about."""
    parts = []
    for area, title in AREAS.items():
        parts.append(f"## {title}")
        for kind in FINDINGS:
            if kind.area == area:
                fix = f"\n\n**What you can do:** {kind.fix}" if kind.fix else ""
                parts.append(f"### {kind.title}\n\n{kind.meaning}{fix}\n\nIts id is `{kind.id}`.")
    return "\n\n".join(parts)


def _platforms() -> str:
    lines = [
        f"- {platform.title}" + (f": not as labels. {platform.refusal}" if platform.refusal else "")
        for platform in platforms()
    ]
    return "\n".join(lines)


def _formats() -> str:
    return "\n".join(f"- {file_format.title}" for file_format in formats())


def _margins() -> str:
    """How well so many checked items tell the accuracy."""
    rows = [f"| {n:,} | ± {100 * margin(n):.0f} points |" for n in SIZES]
    return "\n".join(["| gold items | the accuracy is known to about |", "|--:|---|", *rows])


def _terms() -> str:
    ordered = sorted(TERMS.items(), key=lambda entry: entry[0].lower())
    return "\n".join(f"- **{term}**: {meaning}" for term, meaning in ordered)


LISTS = {
    "findings": _findings,
    "formats": _formats,
    "margins": _margins,
    "platforms": _platforms,
    "terms": _terms,
    "verdicts": _verdicts,
}
"""What can be filled in, by name."""
