"""A sample of the malformed files that `make torture` reads; see `tests.torture.readers`."""

from __future__ import annotations

import pytest

from tests.torture import readers


@pytest.mark.slow
def test_malformed_files_are_read_or_refused_with_a_sentence() -> None:
    rows = readers.run(budget=800, seed=5)
    assert sum(row.tried for row in rows) > 1000
    assert [row for row in rows if row.failed] == []
