"""The README's table of methods, made from the registry: `python -m tests.readme` writes it."""

from __future__ import annotations

from pathlib import Path

from crowdcore.registry import methods

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- methods: made by `python -m tests.readme` -->", "<!-- end of methods -->"


def table() -> str:
    """One row a method, by family."""
    rows = ["| id | method | family | needs | year | in a sentence |", "|---|---|---|---|---|---|"]
    known = [*methods().values(), *methods("complete").values()]
    for one in sorted(known, key=lambda one: (one.family, one.year, one.id)):
        cells = [f"`{one.id}`", one.title, one.family, one.needs.words(), str(one.year)]
        rows.append("| " + " | ".join([*cells, one.summary]) + " |")
    return "\n".join(rows)


def parts() -> tuple[str, str, str]:
    """What stands before the table, the table, and what stands after it."""
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


if __name__ == "__main__":
    before, _, after = parts()
    README.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")
