"""Gold, features and labels can be added to data that are there already; nothing is silent."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.reading import read_labels
from crowdcore.reading.labels.additions import add_features, add_gold, add_labels
from tests.reading.tables import triples

LABELS = b"task,worker,label,gold\nt1,ann,cat,cat\nt1,bo,dog,cat\nt2,ann,dog,\nt3,bo,cat,\n"


@pytest.fixture
def data() -> CrowdData:
    return read_labels(LABELS, name="pets.csv")


def gold_of(data: CrowdData) -> dict[str, str]:
    assert data.gold is not None
    pairs = zip(data.items, data.gold.tolist(), strict=True)
    return {item: data.classes[code] for item, code in pairs if code >= 0}


def test_new_gold_is_added_and_changed_gold_is_counted(data: CrowdData) -> None:
    extended = add_gold(data, b"item,answer\nt1,dog\nt2,ant\nt9,cat\n", name="gold.csv")
    assert gold_of(extended.data) == {"t1": "dog", "t2": "ant"}
    assert extended.added == {"gold answer": 1, "changed gold answer": 1}
    assert triples(extended.data) == triples(data), "labels keep their classes"
    assert extended.data.classes == ("ant", "cat", "dog")
    assert extended.data.report.n_classes == 3
    without_labels = next(one for one in extended.findings if one.id == "gold_without_labels")
    assert without_labels.count == 1


def test_gold_that_is_there_already_is_refused(data: CrowdData) -> None:
    with pytest.raises(DataError, match="there already"):
        add_gold(data, b"item,answer\nt1,cat\n")


def test_features_are_added_by_item(data: CrowdData) -> None:
    extended = add_features(data, b"task,a,b\nt3,1,2\nt1,3,4\nt2,5,6\n")
    assert extended.data.features is not None
    assert extended.data.features.tolist() == [[3, 4], [5, 6], [1, 2]]
    assert extended.added == {"item feature": 2}
    assert "2 " in extended.data.report.features


def test_labels_of_known_and_new_items_and_workers_are_added(data: CrowdData) -> None:
    more = b"worker,task,label\nann,t1,cat\nann,t2,cat\ncy,t2,emu\nann,t4,dog\n"
    extended = add_labels(data, more, name="more.csv")
    assert set(triples(extended.data)) == {
        ("t1", "ann", "cat"),
        ("t1", "bo", "dog"),
        ("t2", "ann", "cat"),
        ("t2", "cy", "emu"),
        ("t3", "bo", "cat"),
        ("t4", "ann", "dog"),
    }
    assert extended.added == {"label": 2, "item": 1, "worker": 1}
    assert gold_of(extended.data) == {"t1": "cat"}
    report = extended.data.report
    assert report.source == "pets.csv, more.csv"
    assert (report.n_answers, report.n_labels) == (8, 6)
    assert sum(report.left_out.values()) == 2, "one label twice, one that was changed"


def test_features_stay_with_their_items_when_labels_are_added(data: CrowdData) -> None:
    described = add_features(data, b"task,a,b\nt3,1,2\nt1,3,4\nt2,5,6\n").data
    extended = add_labels(described, b"task,worker,label\nt0,ann,cat\nt3,ann,cat\n").data
    assert extended.features is not None
    values = dict(zip(extended.items, extended.features.tolist(), strict=True))
    assert values["t3"] == [1, 2]
    assert np.isnan(values["t0"]).all()


def test_labels_that_are_all_there_already_are_refused(data: CrowdData) -> None:
    with pytest.raises(DataError, match="there already"):
        add_labels(data, b"task,worker,label\nt1,ann,cat\n")


def test_columns_are_read_as_those_of_the_first_file() -> None:
    data = read_labels(
        b"a,b,c\nt1,ann,cat\nt2,bo,dog\nt1,bo,cat\n",
        roles={"item": "a", "worker": "b", "label": "c"},
    )
    extended = add_labels(data, b"c,b,a\ncat,ann,t2\n")
    assert ("t2", "ann", "cat") in triples(extended.data)
