"""Gold, features and labels are added to a saved data set on the Data page."""

from __future__ import annotations

from crowdcore.workspace import Dataset, Workspace
from tests.dashboard.conftest import OpenPage


def test_gold_is_added_as_a_version_and_earlier_ones_stay(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page()
    gold = b"item,answer\ni0,dog\ni2,dog\ni3,cat\nnobody,cat\n"
    key = f"add:gold:{dataset.id}:0"
    page.file_uploader(key=key).upload("gold.csv", gold, "text/csv").run()
    assert not page.exception
    assert "**New: 2 gold answers**" in [text.value for text in page.markdown]
    texts = [text.value for text in page.markdown]
    assert any("that nobody labelled" in text for text in texts), texts
    page.button(key="extend").click().run()
    assert not page.exception
    newest, first = home.datasets(dataset.project_id)
    assert (first.id, first.version, first.n_gold) == (dataset.id, 1, 2)
    assert (newest.version, newest.n_gold, newest.made_from) == (2, 4, dataset.id)
    captions = [caption.value for caption in page.caption]
    assert any(" · new in this version: 2 gold answers" in text for text in captions), captions


def test_more_labels_are_added(home: Workspace, dataset: Dataset, open_page: OpenPage) -> None:
    page = open_page()
    page.button_group(key=f"add:{dataset.id}").set_value("labels").run()
    more = b"item,worker,label\ni0,w0,dog\ni0,w9,cat\ni99,w9,cat\n"
    key = f"add:labels:{dataset.id}:0"
    page.file_uploader(key=key).upload("more.csv", more, "text/csv").run()
    assert not page.exception
    page.button(key="extend").click().run()
    newest = home.datasets(dataset.project_id)[0]
    assert newest.n_labels == dataset.n_labels + 2
    assert newest.news == "2 labels, 1 item, 1 worker"


def test_a_file_that_cannot_be_added_is_a_sentence(dataset: Dataset, open_page: OpenPage) -> None:
    page = open_page()
    key = f"add:gold:{dataset.id}:0"
    page.file_uploader(key=key).upload("gold.csv", b"x,y\n1,2\n", "text/csv").run()
    assert not page.exception
    assert page.error
    assert not [button for button in page.button if button.key == "extend"]
