"""Lists for developers, from the code: the layers, and every module with what it is."""

from __future__ import annotations

import ast
from pathlib import Path

from docs.generator.markdown import page, table
from tests.test_imports import EXCEPTIONS, LAYERS

ROOT = Path(__file__).resolve().parents[2]


def layers() -> str:
    """The layers from people down to the bottom, and the listed exceptions."""
    rows = [
        [str(height), ", ".join(f"`{name}`" for name in sorted(names)), knows]
        for height, (knows, names) in reversed([*enumerate(LAYERS, 1)])
    ]
    exceptions = [
        f"- `{own}` imports `{other}`: {why}." for (own, other), why in EXCEPTIONS.items()
    ]
    return "\n\n".join([table(["layer", "modules", "knows"], rows), "\n".join(exceptions)])


def modules() -> str:
    """Every module but the methods, by package, with the first line of its docstring."""
    parts = []
    for folder in _packages():
        rows = [
            [f"`{path.stem}`", _summary(path)]
            for path in sorted(folder.glob("*.py"))
            if path.stem != "__init__"
        ]
        if rows:
            name = ".".join(folder.relative_to(ROOT).parts)
            parts += [f"## `{name}`", _summary(folder / "__init__.py")]
            parts.append(table(["module", "what it is"], rows))
    return page(
        "Modules",
        "Every module in a line. Methods have [pages of their own](methods.md).",
        *parts,
    )


def _packages() -> list[Path]:
    folders = [
        path.parent
        for top in ("crowdcore", "dashboard")
        for path in (ROOT / top).rglob("__init__.py")
    ]
    return sorted(
        folder for folder in folders if ROOT / "crowdcore" / "methods" not in folder.parents
    )


def _summary(path: Path) -> str:
    """The first line of a module's docstring; empty where there is none."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


LISTS = {"layers": layers}
