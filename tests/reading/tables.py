"""Small tables that the tests of the readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from crowdcore.data import CrowdData
from crowdcore.reading.findings import Finding

HEADER = ("task", "worker", "label")
ROWS = (("t1", "w1", "cat"), ("t1", "w2", "dog"), ("t2", "w1", "cat"), ("t2", "w2", "cat"))


def text(
    rows: Iterable[Sequence[str]] = ROWS, header: Sequence[str] = HEADER, by: str = ","
) -> str:
    """A delimited table; nothing is quoted."""
    return "".join(by.join(row) + "\n" for row in [header, *rows])


def table(rows: Iterable[Sequence[str]] = ROWS, header: Sequence[str] = HEADER) -> bytes:
    """A CSV of labels."""
    return text(rows, header).encode()


def triples(data: CrowdData) -> Counter[tuple[str, str, str]]:
    """Every label by name."""
    return Counter(
        (data.items[item], data.workers[worker], data.classes[int(label)])
        for item, worker, label in zip(data.item, data.worker, data.label, strict=True)
    )


def gold(data: CrowdData) -> dict[str, str]:
    """The known answers by name."""
    assert data.gold is not None
    return {
        item: data.classes[int(code)]
        for item, code in zip(data.items, data.gold, strict=True)
        if code >= 0
    }


def finding(data: CrowdData, id: str) -> Finding:
    """One check of the report; it must have been made."""
    found: Finding | None = data.report.finding(id)
    assert found is not None, f"the check {id} was not made"
    return found
