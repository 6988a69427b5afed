"""Which way things flow: checked in fresh interpreters and in the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ["torch", "dgl", "umap", "sklearn", "pandas", "pyarrow", "streamlit", "scipy"]

LAYERS = (
    (
        "the bottom",
        {
            "errors",
            "building",
            "codes",
            "data",
            "data_checks",
            "parts",
            "run",
            "config",
            "atomic",
            "wording",
            "terms",
            "spans",
            "annotations",
            "simulation",
            "decisions",
        },
    ),
    ("files in", {"reading", "prepared"}),
    (
        "what a fit leaves",
        {
            "warm_start",
            "distributions",
            "results",
            "confusion",
            "artefacts",
        },
    ),
    ("tensors", {"engine"}),
    (
        "the contract and its fulfilments",
        {
            "needs",
            "method",
            "set_methods",
            "calibration",
            "gold_anchor",
            "confidence",
            "questions",
            "asking",
            "registry",
            "methods",
        },
    ),
    (
        "judgements, tables, files",
        {"audit", "export", "review", "spending", "projection", "samples"},
    ),
    ("the disk", {"workspace"}),
    ("processes, benchmarks", {"jobs", "bench"}),
    ("people", {"cli", "dashboard", "__main__"}),
)
"""An import goes down this list, never up; modules of one layer may import each other."""

EXCEPTIONS = {
    (
        "crowdcore.results.result",
        "crowdcore.audit.kinds",
    ): "truths() and workers() need no second import",
}

HEIGHT = {room: height for height, (_, rooms) in enumerate(LAYERS) for room in rooms}
SOURCES = sorted([*(ROOT / "crowdcore").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")])


def loaded_after(code: str) -> set[str]:
    """Which of the heavy modules a fresh interpreter holds after running the code."""
    probe = (
        f"{code}\nimport sys\nsys.stdout.write(' '.join(m for m in {HEAVY} if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_crowdcore_loads_nothing_heavy_and_is_quick() -> None:
    assert loaded_after("import crowdcore") == set()
    code = "import time; import crowdcore; print(time.process_time())"
    bare = "import time; print(time.process_time())"
    seconds = [
        min(
            float(
                subprocess.run(
                    [sys.executable, "-c", c], cwd=ROOT, capture_output=True, check=True
                ).stdout
            )
            for _ in range(3)
        )
        for c in (code, bare)
    ]
    assert seconds[0] < seconds[1] + 0.15


def test_public_names_are_what_they_say_however_often_they_are_asked_for() -> None:
    code = """
import crowdcore
for name in crowdcore.__all__:
    first, second = getattr(crowdcore, name), getattr(crowdcore, name)
    assert first is second, name
assert callable(crowdcore.simulate)
"""
    loaded_after(code)


def test_listing_methods_and_reading_results_does_not_load_torch() -> None:
    code = "from crowdcore.registry import methods; [m.card for m in methods().values()]"
    assert "torch" not in loaded_after(code)
    assert "torch" not in loaded_after("import crowdcore.workspace, crowdcore.jobs, crowdcore.cli")


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, *, top_level: bool = False) -> Iterator[str]:
    """Modules that a file imports, also inside functions; type-only imports are no dependency."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if _is_module(inner) else node.module
        elif not top_level:
            pending.extend(ast.iter_child_nodes(node))


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def room(module: str) -> str | None:
    """The name in `LAYERS` that a module belongs to; None for the package itself and for others."""
    parts = module.split(".")
    if parts[0] == "dashboard":
        return "dashboard"
    return parts[1] if parts[0] == "crowdcore" and len(parts) > 1 else None


def test_every_module_has_its_layer() -> None:
    rooms = {room(module_name(path)) for path in SOURCES} - {None}
    assert rooms == set(HEIGHT)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_the_layers(path: Path) -> None:
    own = module_name(path)
    here = room(own)
    if here is None:  # the package's table of homes
        return
    upward = [
        name
        for name in imports(path)
        if (there := room(name)) is not None
        and HEIGHT[there] > HEIGHT[here]
        and (own, name) not in EXCEPTIONS
    ]
    assert not upward


def test_every_exception_is_still_needed() -> None:
    for own, other in EXCEPTIONS:
        path = ROOT.joinpath(*own.split(".")).with_suffix(".py")
        assert other in set(imports(path)), f"{own} no longer imports {other}"


def test_the_engine_knows_nothing_of_the_dashboard() -> None:
    knowing = {
        module_name(path)
        for path in SOURCES
        if room(module_name(path)) != "dashboard"
        and any(name.split(".")[0] in {"dashboard", "streamlit"} for name in imports(path))
    }
    assert knowing <= {"crowdcore.cli.dashboard"}  # the command that starts it


METHOD_SOURCES = [path for path in SOURCES if room(module_name(path)) == "methods"]


@pytest.mark.parametrize("path", METHOD_SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_methods_import_their_own_parts_and_their_familys_and_nothing_heavy(path: Path) -> None:
    own = module_name(path)
    package, family = "crowdcore.methods.", ".".join(own.split(".")[:3])
    for name in imports(path):
        if name.startswith(package) and not own.startswith(name):
            parts = name.removeprefix(f"{family}.").split(".")
            own_part = len(parts) > 1 and own.startswith(f"{family}.{parts[0]}")
            assert name.startswith(f"{family}.")
            assert own_part or parts[0].startswith("_"), "methods never import each other"
    if not own.rsplit(".", 1)[-1].startswith("_"):
        assert not {name for name in imports(path, top_level=True) if name.split(".")[0] in HEAVY}


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if room(module_name(path)) == "dashboard"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_dashboard_imports_no_method_and_never_torch(path: Path) -> None:
    names = set(imports(path))
    assert not {name for name in names if name.split(".")[0] in {"torch", "dgl", "umap"}}
    assert not {name for name in names if name.startswith("crowdcore.methods.")}
