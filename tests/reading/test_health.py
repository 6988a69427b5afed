"""Every finding appears where it should, is absent where it should not, and can be acted upon."""

from __future__ import annotations

import pytest

from crowdcore.reading import Cleaning, read_labels
from crowdcore.reading.findings import Finding, make_finding
from tests.reading.tables import HEADER, finding, table, triples

CLEAN = tuple(
    (f"t{item}", f"w{worker}", "cat" if (item + worker) % 3 else "dog")
    for item in range(6)
    for worker in range(6)
)

FAULTY = {
    "exact_duplicates": table([*CLEAN, CLEAN[0], CLEAN[0], CLEAN[7]]),
    "contradictions": table([*CLEAN, (*CLEAN[0][:2], "cat"), (*CLEAN[7][:2], "dog")]),
    "empty_labels": table([*CLEAN, ("t9", "w1", ""), ("t1", "w9", " ")]),
    "missing_ids": table([*CLEAN, ("", "w1", "cat"), ("t1", " ", "dog")]),
    "blank_rows": table([*CLEAN, ("", "", "")]),
    "trimmed_ids": table([*CLEAN, (" t9", "w1", "cat"), ("t9", "w2 ", "cat")]),
    "spellings": table([*CLEAN, ("t1", "w8", "Cat"), ("t1", "w9", "dog ")]),
    "missing_marks": table([*CLEAN, ("t1", "w8", "NA"), ("t1", "w9", "n/a")]),
    "ratings": table([(t, w, str(int(t[1:]) + int(w[1:]) % 2)) for t, w, _ in CLEAN]),
    "many_classes": table([(t, w, f"text {n}") for n, (t, w, _) in enumerate(CLEAN)]),
    "one_class": table([(item, worker, "cat") for item, worker, _ in CLEAN]),
    "unlabelled_items": table([*CLEAN, ("t9", "w1", "")]),
    "single_label_items": table([*CLEAN, ("t8", "w1", "cat"), ("t9", "w1", "dog")]),
    "thin_workers": table([*CLEAN, ("t1", "w8", "cat"), ("t1", "w9", "dog")]),
    "islands": table([*CLEAN, ("x1", "v1", "cat"), ("x1", "v2", "dog")]),
    "personal": table([(*row, f"{row[1]}@x.org") for row in CLEAN], (*HEADER, "contact")),
    "idle_workers": table([*CLEAN, ("t1", "w9", "")]),
    "roles": table(CLEAN, ("this", "that", "those")),
}
COUNTS = {
    "exact_duplicates": 3,
    "contradictions": 2,
    "empty_labels": 2,
    "missing_ids": 2,
    "blank_rows": 1,
    "trimmed_ids": 2,
    "spellings": 2,
    "missing_marks": 2,
    "ratings": 7,
    "many_classes": 36,
    "one_class": 36,
    "unlabelled_items": 1,
    "single_label_items": 2,
    "thin_workers": 2,
    "islands": 2,
    "personal": 1,
    "idle_workers": 1,
    "roles": 4,
}


@pytest.mark.parametrize("id", FAULTY)
def test_a_fault_is_found_counted_and_explained(id: str) -> None:
    found = finding(read_labels(FAULTY[id]), id)
    assert found.count == COUNTS[id]
    assert found.severity in ("notice", "warning")
    assert 1 <= len(found.examples) <= 5
    assert found.done or found.fix


@pytest.mark.parametrize("id", FAULTY)
def test_a_clean_file_has_no_such_finding(id: str) -> None:
    found = read_labels(table(CLEAN)).report.finding(id)
    assert found is None or (found.severity, found.count, found.examples) == ("ok", 0, ())


def test_a_clean_file_has_no_warnings_at_all() -> None:
    data = read_labels(table(CLEAN))
    assert data.report.warnings == ()
    assert triples(data).keys() == set(CLEAN)


def test_warnings_come_before_notices() -> None:
    source = table([*CLEAN, CLEAN[0], (*CLEAN[1][:2], "bird")])
    found = [finding.severity for finding in read_labels(source).report.warnings]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 2


@pytest.mark.parametrize(
    "id",
    [
        "exact_duplicates",
        "contradictions",
        "empty_labels",
        "spellings",
        "missing_marks",
        "trimmed_ids",
    ],
)
def test_the_proposed_fix_changes_what_is_read(id: str) -> None:
    before = read_labels(FAULTY[id])
    option = finding(before, id).option
    after = read_labels(FAULTY[id], cleaning=Cleaning().with_option(option))
    assert triples(after) != triples(before)


def test_spellings_and_missing_marks_are_gone_after_their_fix() -> None:
    for id in ("spellings", "missing_marks"):
        option = finding(read_labels(FAULTY[id]), id).option
        data = read_labels(FAULTY[id], cleaning=Cleaning().with_option(option))
        assert finding(data, id).severity == "ok"
        assert data.classes == ("cat", "dog")


def test_what_was_merged_or_left_out_on_request_is_in_the_report() -> None:
    merged = read_labels(FAULTY["spellings"], cleaning=Cleaning(spellings={"Cat": "cat"}))
    assert finding(merged, "spellings_applied").examples == ("'Cat' is now 'cat' (1 label)",)
    left_out = read_labels(FAULTY["missing_marks"], cleaning=Cleaning(missing=("NA",)))
    assert finding(left_out, "missing").count == 1


def labels_of(pair: str, cleaning: Cleaning) -> list[str]:
    rows = [("t1", "w1", label) for label in pair] + [("t1", "w2", "x")]
    data = read_labels(table(rows), cleaning=cleaning)
    return sorted(
        data.classes[int(label)]
        for label, worker in zip(data.label, data.worker, strict=True)
        if data.workers[worker] == "w1"
    )


@pytest.mark.parametrize(
    ("policy", "kept"),
    [("last", ["a"]), ("first", ["a"]), ("all", ["a", "b"]), ("drop", [])],
)
def test_each_policy_for_contradictions_keeps_what_it_says(policy: str, kept: list[str]) -> None:
    assert labels_of("aba", Cleaning().with_option({"contradictions": policy})) == kept


def test_the_first_and_the_last_answer_are_told_apart() -> None:
    assert labels_of("ab", Cleaning(contradictions="first")) == ["a"]
    assert labels_of("aab", Cleaning(contradictions="last")) == ["b"]


def test_exact_copies_may_be_kept() -> None:
    assert labels_of("aa", Cleaning()) == ["a"]
    assert labels_of("aa", Cleaning(exact_duplicates="keep")) == ["a", "a"]
    keep = Cleaning(exact_duplicates="keep", contradictions="all")
    assert labels_of("aab", keep) == ["a", "a", "b"]


def test_the_latest_answer_is_told_by_time_where_there_is_one() -> None:
    rows = [("t1", "w1", "new", "2024-01-02T00:00:00"), ("t1", "w1", "old", "2024-01-01T00:00:00")]
    data = read_labels(table(rows, (*HEADER, "timestamp")))
    assert data.classes == ("new",)
    assert data.time is not None
    assert data.time[0] == 1_704_153_600


def test_duplicates_and_contradictions_name_their_lines() -> None:
    found = finding(read_labels(FAULTY["exact_duplicates"]), "exact_duplicates")
    assert found.examples[0] == "line 38: worker 'w0' said 'dog' of item 't0'"
    found = finding(read_labels(FAULTY["contradictions"]), "contradictions")
    assert found.examples[0] == "worker 'w0' said 'dog' (line 2), 'cat' (line 38) of item 't0'"


def test_ids_are_trimmed_and_become_one() -> None:
    data = read_labels(FAULTY["trimmed_ids"])
    assert "t9" in data.items
    assert " t9" not in data.items
    assert data.n_workers == 6
    exact = read_labels(FAULTY["trimmed_ids"], cleaning=Cleaning(trim_ids=False))
    assert {" t9", "t9"} <= set(exact.items)


def test_empty_labels_may_be_kept_as_a_class() -> None:
    data = read_labels(FAULTY["empty_labels"], cleaning=Cleaning(empty_labels="keep"))
    assert "" in data.classes
    assert finding(data, "empty_labels").done == ""


def test_an_item_without_a_label_stays_in_the_data() -> None:
    assert "t9" in read_labels(FAULTY["unlabelled_items"]).items


def test_minus_one_may_mean_no_answer_in_a_matrix_only() -> None:
    wide = b"item,a,b,c\nx,1,-1,1\ny,2,2,-1\nz,1,1,2\n"
    assert finding(read_labels(wide), "missing").left_out == 2
    signed = read_labels(wide.replace(b"2", b"0"))  # -1, 0 and 1 may be answers
    assert finding(signed, "missing_marks").option == {"missing": ["-1"]}
    assert finding(signed, "missing_marks").severity == "warning"
    rows = [(item, worker, "-1" if label == "cat" else "1") for item, worker, label in CLEAN]
    assert finding(read_labels(table(rows)), "missing_marks").severity == "ok"


def test_islands_are_described_by_size() -> None:
    examples = finding(read_labels(FAULTY["islands"]), "islands").examples
    assert examples[0].startswith("6 items and 6 workers")
    assert examples[1].startswith("1 item and 2 workers")


def emails() -> bytes:
    return table([(item, f"{worker}@x.org", label) for item, worker, label in CLEAN])


def test_workers_called_by_their_address_are_a_warning() -> None:
    found = finding(read_labels(emails()), "personal")
    assert found.severity == "warning"
    assert found.option == {"pseudonyms": True}


def test_columns_headed_by_addresses_are_a_warning() -> None:
    source = b"item,a@x.org,b@x.org,c@x.org\n1,y,n,y\n2,n,n,y\n3,y,y,n\n"
    assert finding(read_labels(source), "personal").option == {"pseudonyms": True}


@pytest.mark.parametrize(
    "source",
    [
        emails() + b"t1, w9@x.org,\nt1,w1@x.org,bird\n,w1@x.org,cat\n",
        b"item,a@x.org,b@x.org,c@x.org\n1,y,n,y\n2,n,n,y\n3,y,y,n\n",
    ],
)
def test_pseudonyms_leave_no_worker_by_name_in_data_or_report(source: bytes) -> None:
    data = read_labels(source, cleaning=Cleaning(pseudonyms=True))
    assert data.workers[0] == "worker 1"
    assert "@" not in str(data.report.to_json())
    assert finding(data, "pseudonyms").done
    assert finding(data, "personal").severity == "notice"


def test_a_column_of_addresses_is_told_and_not_taken_over() -> None:
    data = read_labels(FAULTY["personal"])
    assert data.details == {}
    found = finding(data, "personal")
    assert found.severity == "notice"
    assert found.done == "Not taken over: contact."


def test_long_examples_are_cut_and_few_are_shown() -> None:
    found = make_finding("islands", 9, examples=("y" * 1000 for _ in range(9)))
    assert len(found.examples) == 5
    assert max(map(len, found.examples)) <= 160
    assert make_finding("islands", 0, examples=["y"], done="z") == Finding(
        id="islands", title="Islands of workers and items", severity="ok", count=0
    )
