"""Which way things flow: checked in fresh interpreters and in the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ["torch", "dgl", "umap", "sklearn", "pandas", "pyarrow", "streamlit", "scipy"]


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


def modules_imported(path: Path, *, top_level: bool) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level else list(ast.walk(tree))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


SOURCES = sorted((ROOT / "crowdcore").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_engine_knows_nothing_of_what_stands_above_it(path: Path) -> None:
    names = modules_imported(path, top_level=False)
    place = path.relative_to(ROOT / "crowdcore").parts[0]
    if place not in {"cli.py", "cli"}:
        assert not {name for name in names if name.split(".")[0] in {"dashboard", "streamlit"}}
    if place == "methods":
        siblings = {name for name in names if name.startswith("crowdcore.methods.")}
        assert not siblings, "what two methods share belongs to the engine"
        top = modules_imported(path, top_level=True)
        assert not {name for name in top if name.split(".")[0] in HEAVY}
    if place in {"data.py", "run.py"}:
        allowed = {"crowdcore.engine.device", "crowdcore.engine.device.pick"}
        assert not {n for n in names if n.startswith("crowdcore") and n not in allowed}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "dashboard").rglob("*.py")), ids=lambda path: path.name
)
def test_the_dashboard_names_no_method_and_never_torch(path: Path) -> None:
    names = modules_imported(path, top_level=False)
    assert not {name for name in names if name.split(".")[0] in {"torch", "dgl", "umap"}}
    assert not {name for name in names if name.startswith("crowdcore.methods.")}
