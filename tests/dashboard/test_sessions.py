from __future__ import annotations

import pytest

from tests.torture import sessions


@pytest.mark.slow
def test_several_sessions_on_two_projects_see_the_right_numbers_while_fits_run() -> None:
    (row,) = sessions.run(4 * sessions.CASES_PER_SESSION, seed=0)
    assert row.tried == 4 * 2 * 2 + 3 * 2
    assert row.failed == 0, row.worst
