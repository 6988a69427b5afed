"""The registry answers which methods there are, and what they leave."""

from __future__ import annotations

from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.communities import Communities
from crowdcore.artefacts.completion import Completion
from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.methods import BASELINES, DEFAULTS
from crowdcore.registry import get_method, methods, methods_leaving


def test_the_default_and_the_baseline_infer_truths_from_labels_alone() -> None:
    for kind in DEFAULTS:
        for name in (DEFAULTS[kind], BASELINES[kind]):
            assert get_method(name, kind=kind).needs.as_text() == "labels"


def test_methods_are_found_by_what_they_leave() -> None:
    assert [method.id for method in methods_leaving(Communities)] == ["cbcc"]
    assert {method.id for method in methods_leaving(Completion)} == set(methods("complete"))
    assert methods_leaving(Artefact) == []


def test_those_that_leave_most_come_first() -> None:
    both = methods_leaving(Completion, LabelEmbeddings)
    leave_both = [LabelEmbeddings in method.leaves for method in both]
    assert leave_both == sorted(leave_both, reverse=True)
    assert leave_both[0]
    assert not leave_both[-1]


def test_artefacts_have_names_of_their_own() -> None:
    everything = [*methods().values(), *methods("complete").values()]
    kinds = {kind for method in everything for kind in method.leaves}
    assert len({kind.name for kind in kinds}) == len(kinds)
