"""Complete readings of a file are made, scored and explained; a close call is asked about."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from crowdcore.data import DataError
from crowdcore.reading import Candidate, Readings, propose_readings, read_labels
from tests.cli.calling import call

CLASSES = ("cat", "dog", "cow")


def answers(
    n_items: int = 40, n_workers: int = 8, per_item: int = 4, classes: Sequence[str] = CLASSES
) -> list[tuple[int, int, str]]:
    """Answers of a crowd that is right three times of four."""
    rng = random.Random(7)
    truths = [rng.choice(classes) for _ in range(n_items)]
    return [
        (item, worker, truth if rng.random() < 0.75 else rng.choice(classes))
        for item, truth in enumerate(truths)
        for worker in rng.sample(range(n_workers), per_item)
    ]


def csv(header: str, rows: Sequence[Sequence[object]]) -> bytes:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]).encode()


def best(source: bytes) -> Candidate:
    readings = propose_readings(source)
    assert readings.refusal is None, readings.refusal
    assert readings.best is not None
    return readings.best


def refused(source: bytes) -> Readings:
    readings = propose_readings(source)
    assert readings.refusal is not None
    return readings


def test_a_row_number_is_not_the_item_where_an_id_repeats() -> None:
    rows = [(n, f"d{i}", f"w{w}", label) for n, (i, w, label) in enumerate(answers())]
    found = best(csv("id,doc,annID,tone", rows))
    assert (found.roles.item, found.roles.worker, found.roles.label) == ("doc", "annID", "tone")
    assert (found.counts.items, found.counts.workers, found.counts.labels) == (40, 8, 160)


def test_columns_that_name_the_item_together_are_joined() -> None:
    rows = [(f"d{i // 8}", i % 8, f"w{w}", label) for i, w, label in answers()]
    found = best(csv("doc,sentence,rater,tone", rows))
    assert found.roles.item == "doc + sentence"
    assert found.counts.items == 40
    assert found.table.columns[-1] == "doc + sentence"


def test_an_answer_is_never_part_of_what_names_the_item() -> None:
    rows = [(f"d{i}", f"w{w}", label) for i, w, label in answers()]
    again = [(item, worker, "cat") for item, worker, _ in rows[::4]]
    found = best(csv("doc,rater,tone", [*rows, *again]))
    assert found.roles.item == "doc"


def test_what_never_varies_within_a_worker_or_an_item_is_no_answer() -> None:
    rows = [
        (f"d{i}", f"w{w}", "NL" if w % 2 else "DE", f"topic {i % 5}", label)
        for i, w, label in answers()
    ]
    found = best(csv("doc,rater,land,topic,tone", rows))
    assert found.roles.label == "tone"
    assert [question.name for question in found.questions] == ["tone"]
    assert found.roles.details == ("topic",)


def test_a_column_about_the_item_is_no_worker_even_if_it_is_called_user() -> None:
    rows = [(f"d{i}", f"author {i}", f"w{w}", label) for i, w, label in answers()]
    assert best(csv("doc,user,worker_id,tone", rows)).roles.worker == "worker_id"


def test_without_names_the_item_is_what_answers_agree_on() -> None:
    rows = [(100 + w, 500 + i, CLASSES.index(label)) for i, w, label in answers(200)]
    found = best("\n".join("\t".join(map(str, row)) for row in rows).encode())
    assert (found.roles.worker, found.roles.item) == ("column 1", "column 2")
    assert found.doubt


def test_the_whole_file_is_looked_at_and_not_only_its_beginning() -> None:
    rng = random.Random(3)
    rows = [(f"d{i}", f"w{w}", rng.choice(CLASSES)) for w in range(5) for i in range(50_000)]
    found = best(csv("doc,ann,tone", rows))
    assert (found.roles.item, found.roles.worker) == ("doc", "ann")


def test_every_answer_column_is_a_question() -> None:
    moods = dict(zip(CLASSES, ("good", "bad", "odd"), strict=True))
    rows = [(f"d{i}", f"w{w}", label, moods[label]) for i, w, label in answers()]
    found = best(csv("doc,rater,animal,mood", rows))
    assert [question.name for question in found.questions] == ["animal", "mood"]
    other = found.ask("mood")
    assert other.roles.label == "mood"
    assert read_labels(other.table, roles=other.guess).classes == ("bad", "good", "odd")
    with pytest.raises(DataError, match="There are 'animal', 'mood'"):
        found.ask("colour")


def test_questions_in_rows_can_be_read_one_by_one() -> None:
    rows = [
        (f"d{i}", f"w{w}", question, label)
        for question in ("tone", "style")
        for i, w, label in answers()
    ]
    found = best(csv("doc,rater,criterion,answer", rows))
    assert found.roles.item == "doc + criterion"
    tone = found.ask("tone")
    assert (tone.roles.item, tone.counts.labels) == ("doc", 160)
    data = read_labels(tone.table, roles=tone.guess)
    assert data.n_items == 40
    assert data.row is not None
    assert data.row.max() == 159


def test_ticks_for_each_class_are_gathered_into_one_answer() -> None:
    rows = [
        (f"d{i}", f"w{w}", *(int(label == name) for name in CLASSES)) for i, w, label in answers()
    ]
    found = best(csv("doc,rater,kind.cat,kind.dog,kind.cow", rows))
    assert found.roles.label == "kind"
    assert set(read_labels(found.table, roles=found.guess).classes) == set(CLASSES)


def wide(n_items: int = 40) -> list[list[str]]:
    rng = random.Random(5)
    truths = [rng.choice(CLASSES) for _ in range(n_items)]
    return [
        [truth if rng.random() < 0.8 else rng.choice(CLASSES) for _ in range(4)] for truth in truths
    ]


def test_numbered_answers_are_those_of_several_workers() -> None:
    rows = [(f"d{n}", *cells) for n, cells in enumerate(wide())]
    found = best(csv("doc,label_1,label_2,label_3,label_4", rows))
    assert found.roles.worker_columns == ("label_1", "label_2", "label_3", "label_4")
    assert found.counts.labels == 160


def test_the_same_workers_may_answer_several_questions_in_columns() -> None:
    rows = [(f"d{n}", *a, *b) for n, (a, b) in enumerate(zip(wide(), wide(), strict=True))]
    names = [f"annotator{n}_{question}" for question in ("tone", "style") for n in range(1, 5)]
    found = best(csv(",".join(["doc", *names]), rows))
    assert sorted(question.name for question in found.questions) == ["style", "tone"]
    assert found.ask("style").roles.worker_columns == tuple(names[4:])


def test_rows_that_name_respondents_are_workers() -> None:
    rows = [(f"R_{n}", *cells) for n, cells in enumerate(wide())]
    found = best(
        csv("respondent_id,I like cats a lot,Dogs are fine too,Cows are big,So is it", rows)
    )
    assert found.roles.transposed
    assert (found.counts.items, found.counts.workers) == (4, 40)


@pytest.mark.parametrize(
    ("header", "row", "says"),
    [
        ("doc,label,confidence", lambda n: (f"d{n}", "cat", 0.5 + n / 100), "aggregated"),
        ("doc,yes,no,total", lambda n: (f"d{n}", n % 6, 5 - n % 6, 5), "aggregated|counted"),
        ("doc,cat,dog,cow", lambda n: (f"d{n}", n % 3, 2 - n % 3, 3), "counted|without annotators"),
        ("doc,label", lambda n: (f"d{n}", CLASSES[n % 3]), "without annotators"),
        ("doc,annotator,label", lambda n: (f"d{n}", "ann", CLASSES[n % 3]), "one annotator"),
    ],
)
def test_where_there_is_nothing_to_audit_the_file_is_told_for_what_it_is(
    header: str, row: object, says: str
) -> None:
    readings = refused(csv(header, [row(n) for n in range(40)]))  # type: ignore[operator]
    assert readings.refusal is not None
    assert any(word in readings.refusal.seems for word in says.split("|"))
    assert readings.refusal.advice
    assert not readings.settled


def test_rankings_and_free_text_are_named_and_declined() -> None:
    rng = random.Random(1)
    orders = [
        (f"d{i}", f"w{w}", "".join(rng.sample("ABCD", 4))) for i in range(20) for w in range(4)
    ]
    assert refused(csv("doc,rater,order", orders)).refusal.kind == "rankings"  # type: ignore[union-attr]
    words = [
        (
            f"d{i}",
            f"w{w}",
            " ".join(rng.choices(["so", "it", "is", "a", "very", "odd", "one", "here"], k=9)),
        )
        for i in range(20)
        for w in range(4)
    ]
    assert refused(csv("doc,rater,said", words)).refusal.kind == "free text"  # type: ignore[union-attr]


def test_several_answers_in_one_cell_and_ratings_are_told_apart_from_classes() -> None:
    rows = [(f"d{i}", f"w{w}", label) for i, w, label in answers(classes=("a|b", "a", "b|c", "c"))]
    assert best(csv("doc,rater,tags", rows)).kind == "sets"
    scores = [
        (f"d{i}", f"w{w}", min(5, max(1, i % 5 + 1 + (w % 3 == 0)))) for i, w, _ in answers(60)
    ]
    assert best(csv("doc,rater,tone", scores)).kind == "ratings"
    assert best(csv("doc,rater,animal", [(i, w, a) for i, w, a in answers()])).kind == "classes"
    named = [(f"d{i}", f"w{w}", a) for i, w, a in answers(classes=("red, dark", "red, light"))]
    assert best(csv("doc;rater;tone", [(";".join(row),) for row in named])).kind == "classes"


def test_the_winner_of_two_is_a_comparison() -> None:
    rng = random.Random(2)
    rows = []
    for _ in range(60):
        left, right = rng.sample(["m1", "m2", "m3"], 2)
        rows += [(left, right, f"w{w}", rng.choice([left, right])) for w in range(3)]
    assert best(csv("left,right,worker,label", rows)).kind == "comparisons"


def two_ways() -> bytes:
    """Two columns that may both name the item: neither has a telling name, and they differ."""
    rng = random.Random(4)
    rows = []
    for i, w, label in answers(60, 12, 6):
        rows.append((f"p{i}", f"s{(i * 7 + w // 6) % 60}", f"w{w}", label))
    rng.shuffle(rows)
    return csv("alpha,beta,rater,tone", rows)


def test_a_close_call_stops_the_command_line_with_the_commands_that_settle_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "two ways.csv"
    path.write_bytes(two_ways())
    readings = propose_readings(path)
    assert not readings.settled
    assert readings.runner_up is not None
    for command in ("check", "run"):
        result = call(command, str(path))
        assert result.exit_code == 2
        assert f"crowdcore {command} '{path}' --reading 1" in result.output
        assert f"crowdcore {command} '{path}' --reading 2" in result.output
    assert call("check", str(path), "--reading", "2").exit_code == 0
    assert call("check", str(path), "--item", "alpha").exit_code == 0


def test_a_reading_explains_itself_and_its_runner_up() -> None:
    lines = propose_readings(two_ways()).explain()
    assert lines[0].startswith("Read as: one row per label")
    assert any(line.startswith("Runner-up:") for line in lines)
    assert any("several workers labelled" in line for line in lines)


def test_a_question_can_be_chosen_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    rows = [(f"d{i}", f"w{w}", label, label[0]) for i, w, label in answers()]
    path.write_bytes(csv("doc,rater,animal,letter", rows))
    first = call("check", str(path))
    assert "letter: 160 answers" in first.output
    second = call("check", str(path), "--question", "letter")
    assert "label: 'letter'" in second.output
