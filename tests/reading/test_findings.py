"""Every finding is of a kind that is explained in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import crowdcore.reading
from crowdcore.reading import FINDINGS
from crowdcore.reading.findings import make_finding

FOLDER = Path(crowdcore.reading.__file__).parent


def made_ids() -> set[str]:
    """The ids of all findings that the readers make, from their source."""
    return {
        str(node.args[0].value)
        for path in FOLDER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("make_finding", "tally.count")
        and isinstance(node.args[0], ast.Constant)
    }


def test_every_finding_that_is_made_is_explained_and_every_explained_one_is_made() -> None:
    assert made_ids() == {kind.id for kind in FINDINGS}


def test_ids_and_titles_are_unique() -> None:
    assert len({kind.id for kind in FINDINGS}) == len(FINDINGS)
    assert len({kind.title for kind in FINDINGS}) == len(FINDINGS)


@pytest.mark.parametrize("kind", FINDINGS, ids=lambda kind: kind.id)
def test_a_kind_says_what_it_means_in_sentences(kind: crowdcore.reading.FindingKind) -> None:
    assert kind.meaning.endswith(".")
    assert not kind.fix or kind.fix.endswith(".")
    assert not kind.title.endswith(".")
    assert kind.id.isidentifier()


def test_a_finding_of_no_kind_is_a_bug() -> None:
    with pytest.raises(KeyError):
        make_finding("surprise", 1)
