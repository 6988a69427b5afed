"""Pieces of Markdown: headings, tables, and pages that are written only when they changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


def page(title: str, *parts: str) -> str:
    """A whole page."""
    return "\n\n".join([f"# {title}", *(part.strip() for part in parts if part.strip())]) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells may hold Markdown, but neither bars nor line breaks."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def contents(names: Iterable[str], *, depth: int = 1) -> str:
    """A table of contents of pages in the same folder."""
    return "\n".join(["```{toctree}", f":maxdepth: {depth}", "", *names, "```"])


def write(path: Path, text: str) -> None:
    """Write a page, unless it is there already: Sphinx reads what is newer than its last run."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
