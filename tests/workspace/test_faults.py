"""A sample of the faults that `make torture` tries; see `tests.torture.faults`."""

from __future__ import annotations

import pytest

from tests.torture import faults


@pytest.mark.slow
def test_a_fault_at_any_call_loses_nothing() -> None:
    rows = faults.run(budget=36, seed=3)
    assert sum(row.tried for row in rows) == 36
    assert [row for row in rows if row.failed] == []
