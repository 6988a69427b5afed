"""Artefacts that a test counts on."""

from __future__ import annotations

from crowdcore.artefacts.artefact import AnyArtefact, pick
from crowdcore.artefacts.completion import Completion
from crowdcore.results.result import Result


def left_behind(by: Result | Completion, kind: type[AnyArtefact]) -> AnyArtefact:
    """What a method left of this class; it must have left one."""
    artefact = by.artefact(kind) if isinstance(by, Result) else pick(by.artefacts, kind)
    assert artefact is not None
    return artefact
