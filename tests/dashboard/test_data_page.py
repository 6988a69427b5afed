from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.samples import samples
from crowdcore.workspace import Dataset, Workspace
from tests.reading.test_pictures import packed, picture
from tests.reading.test_readings import two_ways

OpenPage = Callable[..., AppTest]

LONG = b"""task,annotator,answer,expert
1,ann,cat,cat
1,bob,cat,cat
2,ann,dog,
2,bob,Dog,
2,ann,dog,
3,ann,cat,dog
3,ann,dog,dog
3,bob,dog,dog
4,ann,cat,
4,bob,cat,
"""
WIDE = b"""question,worker 1,worker 2,worker 3
q1,yes,no,yes
q2,no,no,
q3,yes,yes,yes
"""


def upload(page: AppTest, name: str, content: bytes, key: str = "labels:0") -> AppTest:
    page.file_uploader(key=key).upload(name, content, "text/csv").run()
    assert not page.exception
    return page


def numbers(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


def test_an_empty_workspace_offers_an_upload_and_every_sample(open_page: OpenPage) -> None:
    page = open_page()
    assert page.file_uploader[0].label.startswith("Labels file")
    offered = {button.key for button in page.button}
    assert offered >= {f"sample:{sample.id}" for sample in samples()}


def test_a_sample_is_one_click_and_opens_with_runs_in_the_queue(
    home: Workspace, open_page: OpenPage
) -> None:
    page = open_page()
    page.button(key="sample:digits").click().run()
    (project,) = home.projects()
    assert project.sample == "digits"
    assert page.query_params["project"] == project.id
    assert {run.method for run in home.runs(project.id)} == {"mv", "auto"}
    assert not page.exception


def test_a_long_file_is_understood_counted_and_saved(home: Workspace, open_page: OpenPage) -> None:
    page = upload(open_page(), "pets_round-2.csv", LONG)
    roles = {box.label: box.value for box in page.selectbox}
    assert roles["Item"] == "task"
    assert roles["Worker"] == "annotator"
    assert roles["Label"] == "answer"
    assert roles["Gold"] == "expert"
    assert numbers(page)["Rows"] == "10"
    assert numbers(page)["Items"] == "4"
    assert numbers(page)["Workers"] == "2"
    page.text_input(key="name:1").set_value("My pets")
    page.button(key="create").click().run()
    (project,) = home.projects()
    (dataset,) = home.datasets(project.id)
    assert (project.name, dataset.name) == ("My pets", "pets_round-2.csv")
    assert (dataset.n_items, dataset.n_workers, dataset.n_gold) == (4, 2, 2)
    assert page.title[0].value == "Run"
    assert page.query_params["project"] == project.id


def test_a_role_can_be_overridden(home: Workspace, open_page: OpenPage) -> None:
    page = upload(open_page(), "pets.csv", LONG)
    page.selectbox(key="role:1:long:gold").set_value(None).run()
    assert "Gold answers" not in numbers(page)
    page.selectbox(key="role:1:long:label").select("expert").run()
    assert numbers(page)["Labels"] == "4"
    page.button(key="create").click().run()
    dataset = home.datasets(home.projects()[0].id)[0]
    report = home.report(dataset.id)
    assert report is not None
    assert report.roles.label == "expert"


def test_a_role_without_a_column_is_a_sentence(open_page: OpenPage) -> None:
    page = upload(open_page(), "pets.csv", LONG)
    page.selectbox(key="role:1:long:worker").set_value(None).run()
    assert "who gave the label" in page.error[0].value
    assert not page.metric


def test_a_wide_file_is_read_by_its_worker_columns(open_page: OpenPage) -> None:
    page = upload(open_page(), "answers.csv", WIDE)
    assert page.multiselect[0].value == ["worker 1", "worker 2", "worker 3"]
    assert numbers(page)["Labels"] == "8"
    page.multiselect[0].unselect("worker 3").run()
    assert numbers(page)["Workers"] == "2"


def test_a_fix_is_one_click_and_changes_the_counts(home: Workspace, open_page: OpenPage) -> None:
    page = upload(open_page(), "pets.csv", LONG)
    assert numbers(page)["Classes"] == "3"
    page.checkbox(key="clean:1:spellings:spellings:all").check().run()
    assert numbers(page)["Classes"] == "2"
    before = numbers(page)["Labels"]
    page.radio(key="clean:1:contradictions:contradictions").set_value("drop").run()
    assert int(numbers(page)["Labels"]) < int(before)
    page.button(key="create").click().run()
    data = home.load_data(home.datasets(home.projects()[0].id)[0].id)
    assert data.classes == ("cat", "dog")


def test_a_gold_file_and_its_removal_change_what_is_read(open_page: OpenPage) -> None:
    page = upload(open_page(), "answers.csv", WIDE)
    upload(page, "gold.csv", b"item,gold\nq1,yes\nq2,no\n", key="gold:1")
    assert numbers(page)["Gold answers"] == "2"
    page.button(key="remove:gold").click().run()
    assert "Gold answers" not in numbers(page)


def test_features_are_counted_before_and_after_they_are_saved(open_page: OpenPage) -> None:
    page = upload(open_page(), "answers.csv", WIDE)
    assert "Features" not in numbers(page)
    upload(page, "features.csv", b"item,a,b\nq1,1,2\nq2,3,4\nq3,5,6\n", key="features:1")
    assert numbers(page)["Features"] == "2"
    page.button(key="create").click().run()
    page.switch_page("views/data.py").run()
    assert numbers(page)["Features"] == "2"


def captions(page: AppTest) -> str:
    return "\n".join(str(one.value) for one in page.caption).replace("\\", "").replace("\u2060", "")


def test_a_zip_of_pictures_is_told_in_words_and_its_size_can_be_chosen(
    home: Workspace, open_page: OpenPage
) -> None:
    page = upload(open_page(), "answers.csv", WIDE)
    files = packed(**{f"q{n}__png": picture() for n in (1, 2, 3)})
    upload(page, "pictures.zip", files, key="features:1")
    assert "Features: 3 pictures of 32 × 32 in colour." in captions(page)
    page.selectbox(key="picture_size:1").select(16).run()
    assert "Features: 3 pictures of 16 × 16 in colour." in captions(page)
    assert numbers(page)["Features"] == "768"
    page.button(key="create").click().run()
    data = home.load_data(home.datasets(home.projects()[0].id)[0].id)
    assert data.features is not None
    assert data.features.shape == (3, 3, 16, 16)
    page.switch_page("views/data.py").run()
    assert "Features: 3 pictures of 16 × 16 in colour." in captions(page)


def test_a_table_of_texts_is_told_in_words(open_page: OpenPage) -> None:
    page = upload(open_page(), "answers.csv", WIDE)
    upload(page, "t.csv", b"item,text\nq1,a cat\nq2,a dog\nq3,two cats\n", key="features:1")
    assert "text 'text': 5 words and pairs → 3 numbers." in captions(page)
    assert not [box for box in page.selectbox if str(box.key).startswith("picture_size")]


def test_a_column_of_the_labels_file_can_be_the_features(
    home: Workspace, open_page: OpenPage
) -> None:
    tweets = b"tweet_id,worker,label,text\n" + b"".join(
        f"{n},{w},{'xy'[n % 2]},the {['cat', 'dog'][n % 2]} number {n}\n".encode()
        for n in range(6)
        for w in "ab"
    )
    page = upload(open_page(), "tweets.csv", tweets)
    assert "Features" not in numbers(page)
    page.multiselect(key="feature_columns:1").select("text").run()
    assert "text 'text': " in captions(page)
    page.button(key="create").click().run()
    data = home.load_data(home.datasets(home.projects()[0].id)[0].id)
    assert data.recipe.key == "tweet_id"
    assert data.n_features > 1


def test_features_that_cannot_be_read_are_a_sentence(open_page: OpenPage) -> None:
    page = upload(open_page(), "answers.csv", WIDE)
    upload(page, "pictures.zip", packed(notes__txt=b"hi"), key="features:1")
    assert "no picture among 1 file" in page.error[0].value
    page.button(key="remove:features").click().run()
    assert numbers(page)["Labels"] == "8"


def test_the_only_spelling_to_merge_has_one_checkbox(open_page: OpenPage) -> None:
    page = upload(open_page(), "pets.csv", LONG)
    (box,) = [one for one in page.checkbox if "spellings" in str(one.key)]
    assert "→" in box.label
    box.check().run()
    assert numbers(page)["Classes"] == "2"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("header.csv", b"item,worker,label\n"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
        ("broken.json", b'[{"item": 1,'),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence_not_a_traceback(
    name: str, content: bytes, home: Workspace, open_page: OpenPage
) -> None:
    page = upload(open_page(), name, content)
    assert page.error
    assert not home.projects()
    assert not page.metric


def test_text_from_a_file_never_becomes_markdown(open_page: OpenPage) -> None:
    evil = "![x](http://evil.example/a.png)"
    page = upload(open_page(), f"{evil}.csv", LONG.replace(b"annotator", evil.encode()))
    said = [*page.markdown, *page.caption, *page.error, *page.subheader]
    assert all(evil not in str(part.value) for part in said)


def test_a_draft_survives_a_visit_to_another_page(dataset: Dataset, open_page: OpenPage) -> None:
    page = open_page()
    page.button_group(key=f"view:{dataset.project_id}").set_value("New data").run()
    upload(page, "answers.csv", WIDE)
    page.switch_page("views/run.py").run()
    page.switch_page("views/data.py").run()
    assert numbers(page)["Labels"] == "8"


def test_new_data_can_join_the_open_project(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page()
    page.button_group(key=f"view:{dataset.project_id}").set_value("New data").run()
    upload(page, "answers.csv", WIDE)
    page.button(key="add").click().run()
    assert [one.name for one in home.datasets(dataset.project_id)] == ["answers.csv", "pets.csv"]
    page.switch_page("views/data.py").run()
    assert numbers(page)["Labels"] == "8"
    page.selectbox(key="choose:Data set").select(dataset.id).run()
    assert numbers(page)["Labels"] == "60"


def drop(page: AppTest, **contents: bytes) -> AppTest:
    """Drop several files at once."""
    dropped = [(f"{name}.csv", content, "text/csv") for name, content in contents.items()]
    page.file_uploader(key="labels:0").set_value(dropped).run()
    assert not page.exception
    return page


def test_files_that_are_dropped_together_are_recognised(
    home: Workspace, open_page: OpenPage
) -> None:
    gold = b"item,gold\nq1,yes\nq2,no\n"
    features = b"item,length\nq1,3\nq2,4\nq3,5\n"
    page = drop(open_page(), gold=gold, features=features, answers=WIDE)
    kinds = [box.value for box in page.selectbox if str(box.key).startswith("kind:")]
    assert kinds == ["gold", "features", "labels"]
    assert numbers(page)["Gold answers"] == "2"
    assert numbers(page)["Features"] == "1"
    page.selectbox(key="kind:1:0").set_value("other").run()
    assert "Gold answers" not in numbers(page)
    page.selectbox(key="kind:1:1").set_value("labels").run()
    assert "Two files are said to hold the labels" in page.error[0].value
    page.selectbox(key="kind:1:1").set_value("features").run()
    page.button(key="create").click().run()
    (dataset,) = home.datasets(home.projects()[0].id)
    assert (dataset.name, dataset.n_features, dataset.n_gold) == ("answers.csv", 1, 0)


def test_the_preview_marks_the_roles_in_colour(open_page: OpenPage) -> None:
    page = upload(open_page(), "pets.csv", LONG)
    badges = next(text.value for text in page.markdown if "-badge[item]" in text.value)
    for role in ("item", "worker", "label", "gold"):
        assert f"-badge[{role}]" in badges
    styles = page.dataframe[0].proto.arrow_data.styler.styles
    assert styles.count("background-color") >= 4


def test_a_close_call_is_asked_with_both_readings_side_by_side(
    home: Workspace, open_page: OpenPage
) -> None:
    page = upload(open_page(), "two.csv", two_ways())
    assert "can be read in two ways" in page.info[0].value
    assert not page.metric
    assert [len(frame.value) for frame in page.dataframe] == [5, 5]
    counts = [text.value for text in page.markdown if " labels of " in text.value]
    assert len(counts) == 2
    page.button(key="reading:1:1").click().run()
    assert numbers(page)["Workers"] == "12"
    assert any("Chosen by you" in text.value for text in page.markdown)
    page.button(key="create").click().run()
    report = home.report(home.datasets(home.projects()[0].id)[0].id)
    assert report is not None
    assert report.roles.item in ("alpha", "beta")


def test_several_questions_become_data_sets_of_one_project(
    home: Workspace, open_page: OpenPage
) -> None:
    rows = "".join(
        f"d{item},w{worker},{'ab'[item % 2 ^ (worker == item % 5)]},"
        f"{'xy'[item // 3 % 2 ^ (worker == 4)]}\n"
        for item in range(30)
        for worker in range(5)
    )
    page = upload(open_page(), "both.csv", f"doc,rater,animal,mood\n{rows}".encode())
    offered = page.multiselect(key="questions:1")
    assert len(offered.value) == 1
    assert all("150 answers" in option for option in offered.options)
    page.button(key="all_questions:1").click().run()
    assert sorted(page.multiselect(key="questions:1").value) == ["animal", "mood"]
    page.button(key="create").click().run()
    (project,) = home.projects()
    saved = {dataset.name: dataset for dataset in home.datasets(project.id)}
    assert set(saved) == {"both.csv: animal", "both.csv: mood"}
    classes = {name: home.load_data(one.id).classes for name, one in saved.items()}
    assert classes == {"both.csv: animal": ("a", "b"), "both.csv: mood": ("x", "y")}
    assert {(one.n_items, one.n_workers) for one in saved.values()} == {(30, 5)}


def test_a_file_with_nothing_to_audit_is_told_for_what_it_is(open_page: OpenPage) -> None:
    rows = "".join(f"d{n},{'ab'[n % 2]},{0.5 + n / 100}\n" for n in range(40))
    page = upload(open_page(), "truths.csv", f"doc,label,confidence\n{rows}".encode())
    assert "There seems to be nothing to audit" in page.warning[0].value
    assert not any(button.key == "create" for button in page.button)
