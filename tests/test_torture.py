from __future__ import annotations

from tests.torture import Row, runners
from tests.torture.__main__ import table


def test_every_module_that_ill_treats_can_be_run() -> None:
    assert all(callable(run) for run in runners().values())


def test_the_table_says_what_was_tried_what_failed_and_the_worst() -> None:
    rows = [
        Row(name="write points, add data", tried=1200, failed=0, worst="0.3 s"),
        Row(name="readers", tried=90, failed=2, worst="KeyError: 'x'"),
    ]
    assert table(rows).splitlines() == [
        "                        tried  failed  worst",
        "write points, add data  1,200       0  0.3 s",
        "readers                    90       2  KeyError: 'x'",
    ]
