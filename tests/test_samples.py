import pytest

import crowdcore
from crowdcore.audit.verdicts import VERDICTS
from crowdcore.data import DataError
from crowdcore.samples import load_sample, samples


def test_the_samples_introduce_themselves() -> None:
    found = samples()
    assert [sample.id for sample in found] == [
        "arena",
        "digits",
        "quality",
        "relevance",
        "tags",
        "verdicts",
        "wide",
    ]
    for sample in found:
        assert sample.title
        assert sample.description.endswith(".")
        assert (sample.folder / "labels.csv").exists()


def test_digits_come_with_gold_features_and_pictures() -> None:
    data = load_sample("digits")
    assert (data.n_items, data.n_workers, data.n_classes) == (600, 60, 10)
    assert data.n_gold == 90
    assert data.features is not None
    assert data.features.shape == (600, 64)
    assert len(data.details["image"]) == 600
    assert all(image.startswith("data:image/png;base64,") for image in data.details["image"])


def test_details_are_joined_by_the_items_name_not_by_its_place() -> None:
    data = load_sample("relevance")
    place = data.items.index("p001")  # the first row of items.csv, not the first label
    assert data.details["query"][place] == "how far can an old dog walk"
    assert data.details["document"][place].startswith("Keep the new cat in a room")
    assert data.n_gold == 38


def test_the_spreadsheet_shows_what_the_health_report_is_for() -> None:
    data = load_sample("wide")
    found = {finding.id: finding.count for finding in data.report.warnings}
    assert found["contradictions"] == 4
    assert found["spellings"] > 5
    assert found["exact_duplicates"] > 20
    assert data.n_workers == 12
    assert data.details["message"]


def test_an_unknown_sample_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match="There are arena, digits, quality, relevance, tags"):
        load_sample("digit")


def test_the_crowd_of_every_verdict_gets_each_of_them() -> None:
    data = load_sample("verdicts")
    assert data.time is not None
    given = set(crowdcore.fit(data, "mv").workers(requirement=0.7)["verdict"])
    assert given == {verdict.name for verdict in VERDICTS}
