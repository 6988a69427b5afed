"""The roles of columns are guessed, explained, and can be chosen by hand."""

from __future__ import annotations

import random

import pytest

from crowdcore.data import DataError
from crowdcore.reading import Guess, Roles, guess_roles, open_table, read_labels
from tests.reading.tables import ROWS, table, triples


def guess(source: bytes | str) -> Guess:
    return guess_roles(open_table(source.encode() if isinstance(source, str) else source))


@pytest.mark.parametrize(
    "header",
    [
        ("task", "worker", "label"),
        ("question", "worker", "answer"),
        ("example", "annotator", "value"),
        ("taskId", "workerId", "answer"),
        ("Item ID", "Rater-Name", "Category"),
        ("unit_id", "labeller", "judgement"),
        ("instance_id", "user", "label"),
        ("doc", "coder", "rating"),
    ],
)
def test_usual_names_are_recognised_without_doubt(header: tuple[str, str, str]) -> None:
    found = guess(table(header=header))
    assert (found.roles.item, found.roles.worker, found.roles.label) == header
    assert found.roles.layout == "long"
    assert found.certain
    assert all(
        repr(name) in found.reasons[role]
        for role, name in zip(("item", "worker", "label"), header, strict=True)
    )


def test_the_order_of_columns_is_irrelevant() -> None:
    rows = [(label, item, worker) for item, worker, label in ROWS]
    data = read_labels(table(rows, header=("label", "task", "worker")))
    assert set(triples(data)) == set(ROWS)


def test_gold_and_time_are_recognised_by_name() -> None:
    rows = [(*row, "cat", "2024-01-01T00:00:00") for row in ROWS]
    found = guess(table(rows, header=("task", "worker", "label", "ground truth", "timestamp")))
    assert (found.roles.gold, found.roles.time) == ("ground truth", "timestamp")


def test_a_second_answer_is_a_question_of_its_own() -> None:
    rows = [(*row, label) for row, label in zip(ROWS, ["x", "y", "y", "y"], strict=True)]
    source = table(rows, ("task", "worker", "label", "mood"))
    found = guess(source)
    assert found.roles.label == "label"
    assert found.others == ("mood: 4 answers, 2 distinct ones, classes",)
    told = read_labels(source).report.finding("questions")
    assert told is not None
    assert told.examples == found.others


def test_a_label_without_a_usual_name_is_found_by_its_values() -> None:
    rows = [(item, worker, f"note {n}", label) for n, (item, worker, label) in enumerate(ROWS)]
    found = guess(table(rows, header=("task", "worker", "remark", "sentiment")))
    assert found.roles.label == "sentiment"
    assert "varies within workers" in found.reasons["label"]


def crowd(seed: int = 0) -> list[tuple[str, str, str]]:
    rng = random.Random(seed)
    return [
        (str(worker), str(100 + item), rng.choice(["yes", "no"]))
        for item in range(30)
        for worker in rng.sample(range(8), 3)
    ]


def test_a_file_without_header_is_read_by_its_shape() -> None:
    source = "".join(",".join(row) + "\n" for row in crowd())
    found = guess(source)
    assert (found.roles.worker, found.roles.item, found.roles.label) == (
        "column 1",
        "column 2",
        "column 3",
    )
    assert not found.certain


def test_gold_in_a_file_without_header_is_found_by_its_shape() -> None:
    source = "".join(
        f"{w},{t},{label},{'yes' if int(t) % 3 else 'no'},{n % 77}\n"
        for n, (w, t, label) in enumerate(crowd())
    )
    assert guess(source).roles.gold == "column 4"


def test_ids_that_speak_decide_between_item_and_worker() -> None:
    found = guess("w1\tt1\tcat\nw2\tt1\tdog\nw1\tt2\tcat\n")
    assert (found.roles.item, found.roles.worker) == ("column 2", "column 1")


WIDE = "item,text,ann,bo,cy,gold\n1,nice flight,pos,pos,,pos\n2,lost my bag,neg,,neu,\n"


def test_a_wide_table_is_recognised() -> None:
    found = guess(WIDE)
    assert found.roles == Roles(
        layout="wide",
        item="item",
        gold="gold",
        worker_columns=("ann", "bo", "cy"),
        details=("text",),
    )
    assert "share one small set" in found.reasons["worker_columns"]


def test_columns_named_like_workers_are_workers() -> None:
    found = guess("id,annotator_1,annotator_2\nx,a,b\ny,c,d\n")
    assert found.roles.worker_columns == ("annotator_1", "annotator_2")
    assert found.roles.item == "id"
    assert found.certain


def test_numbers_may_head_the_columns_of_workers() -> None:
    rng = random.Random(1)
    rows = "".join(f"m{n},{','.join(rng.choices('123', k=3))}\n" for n in range(20))
    found = guess("message,1,2,3\n" + rows)
    assert found.roles.worker_columns == ("1", "2", "3")
    assert found.roles.item == "message"


def test_a_matrix_without_names_numbers_its_items() -> None:
    rng = random.Random(2)
    source = "".join(",".join(rng.choices(["0", "1", "2", "-1"], k=5)) + "\n" for _ in range(40))
    found = guess(source)
    assert found.roles.layout == "wide"
    assert found.roles.item is None
    assert "numbered from 1" in found.reasons["item"]


def test_workers_in_rows_are_recognised() -> None:
    found = guess("rater,q1,q2,q3\nann,y,n,y\nbo,n,n,y\ncy,y,y,y\n")
    assert found.roles.transposed
    assert found.roles.worker_columns == ("q1", "q2", "q3")
    assert "Each row is a worker" in found.reasons["layout"]


def test_several_questions_a_row_are_not_workers() -> None:
    rows = "".join(f"t{n % 3},w{n % 5},y,n,y\n" for n in range(15))
    assert guess("task,worker,q1,q2,q3\n" + rows).roles.layout == "long"


def test_item_level_columns_become_details_and_others_do_not() -> None:
    rows = [
        (item, worker, label, f"about {item}", f"{worker}-country", str(n))
        for n, (item, worker, label) in enumerate(ROWS)
    ]
    header = ("task", "worker", "label", "text", "country", "serial")
    found = guess(table(rows, header))
    assert found.roles.details == ("text",)
    assert "'country'" in found.reasons["unused"]


def test_personal_columns_do_not_become_details() -> None:
    rows = [(*row, f"{row[0]}@x.org") for row in ROWS]
    assert guess(table(rows, ("task", "worker", "label", "contact"))).roles.details == ()


def test_a_role_that_nothing_fits_is_left_open_with_a_sentence() -> None:
    found = guess("item,label\n1,a\n2,b\n3,a\n")
    assert found.roles.worker is None
    assert "who labelled" in found.reasons["worker"]
    with pytest.raises(DataError, match="who gave which label"):
        read_labels(b"item,label\n1,a\n2,b\n3,a\n")


def test_some_roles_may_be_chosen_and_the_others_stay_guessed() -> None:
    rows = [(*row, row[2].upper()) for row in ROWS]
    source = table(rows, ("task", "worker", "label", "second"))
    data = read_labels(source, roles={"label": "second"})
    assert data.classes == ("CAT", "DOG")
    assert data.report.roles.item == "task"
    assert data.report.reasons["label"] == "'second' was chosen by hand."


def test_a_role_that_was_chosen_as_it_was_guessed_keeps_its_reason() -> None:
    data = read_labels(table(), roles={"worker": "worker"})
    assert data.report.reasons["worker"] == "'worker' is a usual name for workers."


def test_columns_without_a_role_are_told_as_they_are_chosen() -> None:
    rows = [(*row, row[2].upper()) for row in ROWS]
    source = table(rows, ("task", "worker", "label", "second"))
    assert read_labels(source).report.reasons["unused"] == "Not used: 'second'."
    data = read_labels(source, roles={"label": "second"})
    assert data.report.reasons["unused"] == "Not used: 'label'."


def test_item_and_worker_may_be_swapped_by_hand() -> None:
    data = read_labels(table(), roles={"item": "worker", "worker": "task"})
    assert data.items == ("w1", "w2")


def test_a_guessed_role_may_be_taken_away() -> None:
    rows = [(*row, "cat") for row in ROWS]
    source = table(rows, ("task", "worker", "label", "gold"))
    assert read_labels(source).gold is not None
    assert read_labels(source, roles={"gold": None}).gold is None


def test_a_wide_layout_may_be_chosen() -> None:
    data = read_labels(
        b"a,b,c,d\nx,red,1,q\ny,blue,2,r\n", roles={"item": "a", "worker_columns": ["b", "c"]}
    )
    assert data.workers == ("b", "c")
    assert set(triples(data)) == {
        ("x", "b", "red"),
        ("x", "c", "1"),
        ("y", "b", "blue"),
        ("y", "c", "2"),
    }


def test_whole_roles_replace_the_guess() -> None:
    roles = Roles(item="worker", worker="task", label="label")
    assert read_labels(table(), roles=roles).report.roles == roles


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"item": "tusk"}, "Did you mean 'task'"),
        ({"colour": "task"}, "There is no role 'colour'"),
        ({"layout": "tall"}, "'long' or 'wide'"),
        ({"item": "task", "worker": "task"}, "One column has two roles"),
        ({"label": None}, "No column says the label"),
        ({"layout": "wide", "item": "task"}, "which worker"),
        ({"item": "task", "worker": "worker", "worker_columns": ["label"]}, "at once"),
    ],
)
def test_roles_that_cannot_be_are_refused(roles: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_labels(table(), roles=roles)


def test_roles_survive_json() -> None:
    roles = guess(WIDE).roles
    assert Roles.from_json(roles.to_json()) == roles
