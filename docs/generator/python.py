"""Pages of Python names, from docstrings."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import crowdcore
from docs.generator.markdown import contents, page

PAGES = {
    "Reading files": ("crowdcore.reading",),
    "Results": ("crowdcore.results.result", "crowdcore.artefacts", "crowdcore.confusion"),
    "Running methods": (
        "crowdcore.registry",
        "crowdcore.method",
        "crowdcore.config",
        "crowdcore.calibration",
    ),
    "Judging workers, items and results": ("crowdcore.audit",),
    "Tables and files": ("crowdcore.export",),
    "Samples and simulated crowds": ("crowdcore.samples", "crowdcore.simulation.classes"),
    "The workspace": ("crowdcore.workspace",),
}
"""Modules and packages that users need beyond the public names, by page."""


def file_name(title: str) -> str:
    """The name of a page's file."""
    return title.lower().replace(",", "").replace(" ", "-")


def index() -> str:
    """The public names, and the contents of the folder."""
    names = [name for name in crowdcore.__all__ if not name.startswith("__")]
    return page(
        "Python",
        "`import crowdcore` gives these names; it loads nothing heavy before one is used.",
        *(_described("crowdcore", name) for name in names),
        contents(f"python/{file_name(title)}" for title in PAGES),
    )


def pages() -> dict[str, str]:
    """The other pages by file name."""
    return {
        file_name(title): page(title, *(part for name in names for part in _parts(name)))
        for title, names in PAGES.items()
    }


def _parts(name: str) -> list[str]:
    """What a page says of a module, or of a package: its public names, else its modules."""
    home = import_module(name)
    if not hasattr(home, "__path__"):
        return [_module(name)]
    if hasattr(home, "__all__"):
        own = [one for one in home.__all__ if one not in crowdcore.__all__]
        return [_described(name, one) for one in own if _is_documented(getattr(home, one))]
    modules = [info.name for info in pkgutil.iter_modules(home.__path__, f"{name}.")]
    return [_module(one) for one in modules]


def _described(package: str, name: str) -> str:
    """A heading for a name, and what its docstring says."""
    kind = "class" if inspect.isclass(getattr(import_module(package), name)) else "function"
    members = "\n   :members:" if kind == "class" else ""
    return f"## `{name}`\n\n" + _rst(f".. auto{kind}:: {package}.{name}{members}")


def _is_documented(value: object) -> bool:
    return inspect.isclass(value) or inspect.isfunction(value)


def _module(name: str) -> str:
    # Names that crowdcore itself gives are described there; twice would make links ambiguous.
    public = ", ".join(one for one in crowdcore.__all__ if hasattr(import_module(name), one))
    skip = f"\n   :exclude-members: {public}" if public else ""
    return f"## `{name}`\n\n" + _rst(f".. automodule:: {name}\n   :members:{skip}")


def _rst(text: str) -> str:
    return f"```{{eval-rst}}\n{text}\n```"
