"""Annotated texts as readers give them, and the tally of what they met on the way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from crowdcore.reading.findings import MAX_EXAMPLES

GOLD_NAMES = frozenset({"gold", "golden", "truth", "ground_truth", "groundtruth", "gt"})
"""Names of columns, files and workers that hold known answers."""


def is_gold(name: str) -> bool:
    """Tell whether a column, file or worker of this name holds known answers."""
    return name.strip().lower().replace(" ", "_").replace("-", "_") in GOLD_NAMES


@dataclass(eq=False)
class AnnotatedText:
    """A sentence or document, and the tags that workers gave its tokens.

    Parameters
    ----------
    name
        What the file calls it.
    tokens
        Its tokens.
    document
        The document that it is a part of; the text itself unless given.
    starts
        The character at which each token begins; None where tokens came without a text.
    tags
        The tags of all tokens, by worker. Who saw the text and marked nothing gave only O; who
        did not see it is not there.
    gold
        The known tags; None where they are not known.
    """

    name: str
    tokens: list[str]
    document: str = ""
    starts: list[int] | None = None
    tags: dict[str, list[str]] = field(default_factory=dict)
    gold: list[str] | None = None

    def add(self, worker: str, tags: list[str], tally: Tally) -> None:
        """Add a worker's tags, or gold; a second annotation by one worker replaces the first."""
        if is_gold(worker):
            self.gold = tags
            return
        if worker in self.tags:
            same = self.tags[worker] == tags
            tally.count("repeated_annotations", f"{worker} on {self.name}{' (equal)' * same}")
        self.tags[worker] = tags


@dataclass(eq=False)
class Tally:
    """How often each finding was met, with the first examples.

    Parameters
    ----------
    counts
        By the id of the finding.
    examples
        The first few by id.
    left_out
        Annotations or spans that were left out because of it, by id.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def count(self, finding: str, example: str, *, left_out: int = 0) -> None:
        """Count one case of a finding."""
        self.counts[finding] += 1
        self.left_out[finding] += left_out
        examples = self.examples.setdefault(finding, [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(example)
