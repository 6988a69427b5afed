from __future__ import annotations

from crowdcore import CrowdData, fit
from crowdcore.audit.labels import clean_labels


def test_cleaned_labels_hold_every_label_that_took_part_and_its_truth() -> None:
    agreed = [(f"i{i}", w, "a") for i in range(3) for w in "xy"]
    dissent = [(f"i{i}", "z", "b") for i in range(3)]
    data = CrowdData.from_triples([*agreed, *dissent, ("solo", "u", "b")])
    table = clean_labels(fit(data.without_workers(["z"]), "mv"))
    assert "z" not in set(table["worker"].astype(str))
    assert len(table) == 7
    assert table["truth"].astype(str).tolist() == ["a"] * 6 + ["b"]
    assert table["agrees"].all()


def test_cleaned_labels_of_undecided_items_have_an_empty_truth() -> None:
    data = CrowdData.from_triples([("i", "x", "a"), ("i", "y", "b")])
    table = clean_labels(fit(data, "mv", ties="undecided"))
    assert table["truth"].astype(str).tolist() == ["", ""]
    assert not table["agrees"].any()
