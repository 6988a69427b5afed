"""Personal data are told by the values of a column, or by its name."""

from __future__ import annotations

import pytest

from crowdcore.reading.columns.personal import personal_kind

ADDRESSES = ["ann@x.org", "bo@x.org"]


def values(n_addresses: int, n_others: int) -> list[str]:
    return [f"p{n}@x.org" for n in range(n_addresses)] + [f"note {n}" for n in range(n_others)]


@pytest.mark.parametrize(
    ("n_addresses", "n_others", "kind"),
    [(1, 4, "e-mail addresses"), (1, 5, None), (10, 0, "e-mail addresses"), (0, 10, None)],
)
def test_a_fifth_of_the_values_makes_a_column_personal(
    n_addresses: int, n_others: int, kind: str | None
) -> None:
    assert personal_kind("remark", values(n_addresses, n_others)) == kind


def test_blank_values_do_not_hide_addresses() -> None:
    assert personal_kind("remark", [*ADDRESSES, *[" "] * 50]) == "e-mail addresses"


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("E-Mail", "e-mail addresses"),
        ("worker_ip", "IP addresses"),
        ("Phone number", "phone numbers"),
        ("first name", "names of people"),
        ("birthday", "birth dates"),
        ("description", None),
        ("zip", None),
    ],
)
def test_a_name_makes_a_column_personal_whatever_it_holds(column: str, kind: str | None) -> None:
    assert personal_kind(column, ["a", "b"]) == kind


def test_addresses_of_machines_are_told_from_numbers() -> None:
    assert personal_kind("x", ["10.0.0.1", "192.168.0.7"]) == "IP addresses"
    assert personal_kind("x", ["2001:db8::1", "fe80:0:0:0:1:2:3:4"]) == "IP addresses"
    assert personal_kind("x", ["1.5", "300.1.1.1", "12:30:45"]) is None
