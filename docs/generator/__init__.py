"""The reference, made from the code: every page under docs/reference/ and the lists in the guide.

Nothing here is written by hand twice: commands come from typer, columns, findings and verdicts
from the lists that the program itself uses, methods from their cards and configs, Python names
from docstrings.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crowdcore.audit.verdicts import VERDICTS
from dashboard.guide import chapters
from docs.generator import commands, develop, files, lists, methods, python
from docs.generator.markdown import contents, page, write

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def reference() -> dict[str, str]:
    """Every page of the reference by its path below docs/reference/, without a suffix."""
    pages = {
        "python": python.index(),
        **{f"python/{name}": text for name, text in python.pages().items()},
        "commands": commands.commands(),
        "files": files.files(),
        "settings": lists.settings(),
        "findings": lists.findings(),
        "verdicts": lists.verdict_rules(),
        **{
            f"verdicts/{lists.verdict_slug(verdict.name)}": lists.verdict_page(verdict)
            for verdict in VERDICTS
        },
        "modules": develop.modules(),
        "methods": methods.index(),
        **{f"methods/{one.slug}": methods.method_page(one) for one in methods.all_methods()},
    }
    index = page(
        "Reference",
        "Made from the code when the documents are built, so it says what the code does.",
        contents([name for name in pages if "/" not in name]),
    )
    return {"index": index, **pages}


def write_reference(folder: Path) -> None:
    """Write the pages, and take away those of things that are no longer there."""
    pages = {folder / f"{name}.md": text for name, text in reference().items()}
    for path in folder.rglob("*.md"):
        if path not in pages:
            path.unlink()
    for path, text in pages.items():
        write(path, text)


def fill_in(_app: Sphinx, name: str, source: list[str]) -> None:
    """Put the lists into a page of the guide or of the notes for developers, as Sphinx reads it."""
    if name.startswith(("guide/", "develop/")):
        source[0] = chapters.fill_in(source[0], {**chapters.LISTS, **develop.LISTS})
