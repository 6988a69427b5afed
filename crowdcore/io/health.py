"""The health report: what was found in a file, what was done about it, what could be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from crowdcore.io.roles import Roles

Severity = Literal["ok", "notice", "warning"]

MOST_EXAMPLES = 5
LONGEST_EXAMPLE = 160


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One check: how often it struck, examples, what was done and what could be done."""

    id: str
    title: str
    severity: Severity
    count: int
    examples: tuple[str, ...] = ()
    done: str = ""
    fix: str = ""
    option: dict[str, Any] = field(default_factory=dict)  # the Cleaning fields of the fix


def check(
    id: str,
    title: str,
    count: int,
    *,
    severity: Severity = "notice",
    examples: Iterable[str] = (),
    done: str = "",
    fix: str = "",
    option: Mapping[str, Any] | None = None,
) -> Finding:
    """Make a finding; with nothing found it is a plain "ok"."""
    if not count:
        return Finding(id=id, title=title, severity="ok", count=0)
    shown = tuple(_shorten(text) for text, _ in zip(examples, range(MOST_EXAMPLES), strict=False))
    return Finding(
        id=id,
        title=title,
        severity=severity,
        count=int(count),
        examples=shown,
        done=done,
        fix=fix,
        option=dict(option or {}),
    )


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 item, 2 items."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_EXAMPLE else text[: LONGEST_EXAMPLE - 1] + "…"


@dataclass(frozen=True, kw_only=True)
class HealthReport:
    """Everything a reader found and did, with the roles it gave to the columns and why."""

    findings: tuple[Finding, ...]
    source: str
    n_rows: int
    n_labels: int
    n_items: int
    n_workers: int
    n_classes: int
    roles: Roles
    reasons: dict[str, str]
    features: str = ""  # what the features of the items are, in words

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that matter, warnings before notices."""
        order = {"warning": 0, "notice": 1}
        matter = [finding for finding in self.findings if finding.severity in order]
        return tuple(sorted(matter, key=lambda finding: order[finding.severity]))

    def finding(self, id: str) -> Finding | None:
        """Look up one check; None where it was not made."""
        return next((finding for finding in self.findings if finding.id == id), None)

    def to_json(self) -> dict[str, Any]:
        """Turn the report into plain JSON values."""
        plain = asdict(self)
        for finding in plain["findings"]:
            finding["examples"] = list(finding["examples"])
        plain["findings"] = list(plain["findings"])
        plain["roles"] = self.roles.to_json()
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> HealthReport:
        """Make a report from what `to_json` gave."""
        values = dict(plain)
        values["findings"] = tuple(
            Finding(**{**finding, "examples": tuple(finding["examples"])})
            for finding in plain["findings"]
        )
        values["roles"] = Roles.from_json(plain["roles"])
        values["reasons"] = dict(plain["reasons"])
        return cls(**values)
