"""Findings of the health report: what a check found, what was done, what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from crowdcore.reading.finding_kinds import FINDINGS

Severity = Literal["ok", "notice", "warning"]

MAX_EXAMPLES = 5
"""How many examples a finding shows."""

MAX_EXAMPLE_CHARACTERS = 160
"""Longer examples are cut."""

_KINDS = {kind.id: kind for kind in FINDINGS}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    id, title
        Those of its kind in `FINDINGS`.
    severity
        "ok" where the check found nothing.
    count
        How many there are of what the title says.
    examples
        A few of them, with their place in the file.
    done
        What the reader did about it.
    fix
        What can be done about it.
    option
        The fields of `Cleaning` that make up the fix; empty where the file must be changed.
    left_out
        How many rows of a long table, or filled cells of a wide one, were left out because of it.
    """

    id: str
    title: str
    severity: Severity
    count: int
    examples: tuple[str, ...] = ()
    done: str = ""
    fix: str = ""
    option: dict[str, Any] = field(default_factory=dict)
    left_out: int = 0


def make_finding(
    id: str,
    count: int,
    *,
    severity: Severity = "notice",
    examples: Iterable[str] = (),
    done: str = "",
    fix: str | None = None,
    option: Mapping[str, Any] | None = None,
    left_out: int = 0,
) -> Finding:
    """Make a finding of a kind in `FINDINGS`.

    Parameters
    ----------
    id
        The id of the kind.
    count
        How many were found; with none the finding is a plain "ok".
    severity
        How much it matters, where there are any.
    examples
        Any number of examples; the first few are kept, each cut to a readable length.
    done
        What was done about it.
    fix
        What can be done; the kind's own sentence unless given.
    option
        The fields of `Cleaning` that make up the fix.
    left_out
        How many labels were left out because of it.

    Returns
    -------
    Finding

    Raises
    ------
    KeyError
        If there is no such kind.
    """
    kind = _KINDS[id]
    if not count:
        return Finding(id=id, title=kind.title, severity="ok", count=0)
    first = (text for text, _ in zip(examples, range(MAX_EXAMPLES), strict=False))
    return Finding(
        id=id,
        title=kind.title,
        severity=severity,
        count=int(count),
        examples=tuple(_shorten(text) for text in first),
        done=done,
        fix=kind.fix if fix is None else fix,
        option=dict(option or {}),
        left_out=int(left_out),
    )


def join_findings(
    findings: Sequence[Finding], others: Sequence[Finding], *, file: str
) -> tuple[Finding, ...]:
    """Add what was found in a second file, so that each check stands in the report once.

    Parameters
    ----------
    findings
        Those of the first file.
    others
        Those of the second file.
    file
        The second file's name, which its examples then begin with.

    Returns
    -------
    tuple of Finding
    """
    joined = {finding.id: finding for finding in findings}
    for other in others:
        examples = tuple(_shorten(f"{file}, {example}") for example in other.examples)
        before = joined.get(other.id)
        if before is None or not before.count:
            joined[other.id] = replace(other, examples=examples)
        elif other.count:
            joined[other.id] = replace(
                before,
                count=before.count + other.count,
                examples=(*before.examples, *examples)[:MAX_EXAMPLES],
            )
    return tuple(joined.values())


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_EXAMPLE_CHARACTERS else text[: MAX_EXAMPLE_CHARACTERS - 1] + "…"
