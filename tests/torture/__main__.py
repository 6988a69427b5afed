"""`python -m tests.torture [MODULE...]`: run all, or some, and print one table."""

from __future__ import annotations

import argparse
import sys
import time

from tests.torture import Row, runners

DEFAULT_BUDGET = 100_000


def main() -> int:
    """Run the modules that are asked for; the exit code is 1 if anything failed."""
    available = runners()
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("modules", nargs="*", help=f"of: {', '.join(available)}; all if not given")
    parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET, help="cases per module")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if unknown := set(arguments.modules) - available.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    for name in arguments.modules or available:
        began = time.monotonic()
        rows += available[name](arguments.budget, arguments.seed)
        sys.stderr.write(f"{name}: {time.monotonic() - began:,.0f} s\n")
    sys.stdout.write(table(rows) + "\n")
    return int(any(row.failed for row in rows))


def table(rows: list[Row]) -> str:
    """Lay the rows out: name, tried, failed, worst."""
    cells = [("", "tried", "failed", "worst")]
    cells += [(row.name, f"{row.tried:,}", f"{row.failed:,}", row.worst) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    return "\n".join(
        f"{name:<{widths[0]}}  {tried:>{widths[1]}}  {failed:>{widths[2]}}  {worst}".rstrip()
        for name, tried, failed, worst in cells
    )


if __name__ == "__main__":
    sys.exit(main())
