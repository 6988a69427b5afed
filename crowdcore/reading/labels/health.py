"""The health report: what was found in a file, what was done about it, what could be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from crowdcore.reading.columns.roles import Roles
from crowdcore.reading.findings import Finding
from crowdcore.wording import count


@dataclass(frozen=True, kw_only=True)
class HealthReport:
    """Everything that a reader found and did.

    Parameters
    ----------
    findings
        The outcome of every check that was made.
    source
        The name of the file.
    n_rows
        Rows of the file, without its header.
    n_labels, n_items, n_workers, n_classes
        What became of them.
    roles
        What each column was read as.
    reasons
        For each role a sentence that says why.
    features
        What the features of the items are, in words; empty without features.
    n_answers
        Rows of a long table, or filled cells of a wide one; None in reports of earlier versions.

    Raises
    ------
    AssertionError
        If the answers are not the labels and those that some finding left out: a bug.
    """

    findings: tuple[Finding, ...]
    source: str
    n_rows: int
    n_labels: int
    n_items: int
    n_workers: int
    n_classes: int
    roles: Roles
    reasons: dict[str, str]
    features: str = ""
    n_answers: int | None = None

    def __post_init__(self) -> None:
        n_left_out = sum(self.left_out.values())
        if self.n_answers is not None and self.n_answers != self.n_labels + n_left_out:
            raise AssertionError(
                f"{self.n_answers} answers became {self.n_labels} labels, "
                f"and the report accounts for {n_left_out} that were left out"
            )

    @property
    def left_out(self) -> dict[str, int]:
        """How many answers were left out for each reason, by the title of the finding."""
        n_left_out: Counter[str] = Counter()
        for finding in self.findings:
            if finding.left_out:
                n_left_out[finding.title] += finding.left_out
        return dict(n_left_out)

    @property
    def accounting(self) -> str:
        """Where every answer in the file went, as a sentence; empty for old reports."""
        if self.n_answers is None:
            return ""
        noun = "row" if self.roles.layout == "long" else "filled cell"
        parts = [f"{count(self.n_labels, 'label')} used"]
        parts += [f"{count(n)} left out ({title})" for title, n in self.left_out.items()]
        return f"{count(self.n_answers, noun)} = {' + '.join(parts)}"

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that matter, warnings before notices."""
        order = {"warning": 0, "notice": 1}
        relevant = [finding for finding in self.findings if finding.severity in order]
        return tuple(sorted(relevant, key=lambda finding: order[finding.severity]))

    @property
    def serious(self) -> tuple[str, ...]:
        """Titles of the warnings, without the notices."""
        return tuple(one.title for one in self.warnings if one.severity == "warning")

    def finding(self, id: str) -> Finding | None:
        """Look up one check; None where it was not made."""
        return next((finding for finding in self.findings if finding.id == id), None)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
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
