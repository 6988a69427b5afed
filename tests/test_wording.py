from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from crowdcore.wording import (
    count,
    duration,
    interval,
    join_names,
    percent,
    percent_of,
    percents,
    rate,
    when,
)


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (0.9342, "93.4%"),
        (1.0, "100.0%"),
        (0.99999, ">99.9%"),
        (0.0, "0.0%"),
        (0.00001, "<0.1%"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_a_share_is_never_rounded_to_none_or_all(share: float | None, written: str) -> None:
    assert percent(share) == written


def test_a_table_of_shares_keeps_what_is_not_quite_all_below_a_hundred() -> None:
    assert percents([0.5, 0.99999, 1.0]).tolist() == [50.0, 99.9, 100.0]


def test_numbers_are_written_one_way() -> None:
    assert count(1234567) == "1,234,567"
    assert count(1, "item") == "1 item"
    assert count(0, "item") == "0 items"
    assert count(2, "class", "classes") == "2 classes"
    assert count(math.nan) == "–"
    assert interval(0.814, 0.957) == "81–96%"
    assert interval(None, 1.0) == "–"


def test_a_rate_comes_with_its_interval_or_with_how_many_it_is_of() -> None:
    assert rate(0.89, 0.804, 0.94) == "89% (80–94%)"
    assert rate(0.89, 0.804, 0.94, 1) == "89.0% (80–94%)"
    assert rate(math.nan, math.nan, math.nan) == rate(None, 0.1, 0.2) == "–"
    assert percent_of(0.89, 1200) == "89% of 1,200"
    assert percent_of(math.nan, 0) == "–"


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.01, "<0.1 s"),
        (3.14, "3.1 s"),
        (59.6, "1 min 0 s"),
        (75, "1 min 15 s"),
        (7380, "2 h 3 min"),
        (None, "–"),
    ],
)
def test_a_duration_uses_the_unit_that_fits(seconds: float | None, written: str) -> None:
    assert duration(seconds) == written


def test_a_moment_is_told_as_long_as_it_is_news_and_dated_after() -> None:
    now = datetime(2026, 3, 14, 12, tzinfo=UTC)
    assert when(now.isoformat(), now=now) == "just now"
    assert when(now - timedelta(minutes=5), now=now) == "5 min ago"
    assert when((now - timedelta(hours=3)).timestamp(), now=now) == "3 h ago"
    assert "Mar 2026" in when("2026-03-02T10:00:00+00:00", now=now)
    assert when(None) == "–"


def test_many_names_are_cut_and_the_rest_is_counted() -> None:
    assert join_names(["a", "b"]) == "'a', 'b'"
    assert join_names(list("abcdefgh"), most=2) == "'a', 'b' and 6 more"
