from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.registry import fit, get_method, methods
from crowdcore.run import Progress
from crowdcore.workspace import Dataset, RunRow, Workspace
from crowdcore.workspace.run_states import begin, claim, end, report

OpenPage = Callable[..., AppTest]


def press_start(page: AppTest, method: str) -> AppTest:
    return page.button(key=f"start:{method}").click().run()


def text_of(page: AppTest) -> str:
    """All that the page says."""
    parts = [*page.markdown, *page.caption, *page.error, *page.warning, *page.subheader]
    return "\n".join(str(part.value) for part in parts)


def finish(home: Workspace, row: RunRow) -> RunRow:
    assert claim(home.catalogue) == row.id
    home.save_result(row.id, fit(home.load_data(row.dataset_id), row.method))
    return home.run(row.id)


def test_an_empty_workspace_says_what_to_do_and_offers_a_sample(open_page: OpenPage) -> None:
    page = open_page("run")
    assert page.subheader[0].value == "Nothing to run yet"
    assert {button.label for button in page.button} >= {"Add labels", "Use sample data"}


def test_every_method_can_be_queued_from_its_form_with_its_defaults(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page("run")
    expected = []
    for name in methods():
        page.query_params["method"] = name
        assert not page.run().exception, name
        if home.unmet(dataset.id, name):
            assert page.button(key=f"start:{name}").disabled, name
            continue
        page.number_input(key=f"seed:{name}").set_value(7)
        assert not press_start(page, name).exception, name
        expected.append((name, get_method(name).config().model_dump(mode="json"), 7, "queued"))
    queued = [
        (row.method, row.params, row.seed, row.status) for row in home.runs(dataset.project_id)
    ]
    assert queued[::-1] == expected


@pytest.mark.parametrize(
    ("method", "link"),
    [
        ("ds", "https://doi.org/10.2307/2346806"),
        ("auto", "https://doi.org/10.1214/ss/1177013825"),
        ("hds", "https://arxiv.org/abs/1411.4086"),
        ("mace", None),
    ],
)
def test_the_number_of_a_paper_is_a_link_also_behind_its_authors(
    dataset: Dataset, open_page: OpenPage, method: str, link: str | None
) -> None:
    page, year = open_page("run", method=method), f" · {get_method(method).year} · "
    (caption,) = [str(one.value) for one in page.caption if year in str(one.value)]
    assert (f"({link})" in caption) if link else ("](" not in caption)


def test_gold_that_is_missing_is_told_on_the_page_and_nothing_is_queued(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page("run", method="ds")
    page.selectbox(key="set:ds:calibrate").select("gold")
    press_start(page, "ds")
    assert "items with gold" in text_of(page)
    assert home.runs(dataset.project_id) == []


def test_what_is_typed_into_the_form_reaches_the_run(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page("run", method="ds")
    page.number_input(key="set:ds:max_iter").set_value(12)
    page.selectbox(key="device:ds").select("cpu")
    press_start(page, "ds")
    (row,) = home.runs(dataset.project_id)
    assert row.params["max_iter"] == 12
    assert row.device == "cpu"


def test_labels_can_be_completed_first_by_any_method_of_that_role(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page("run", method="mv")
    expected = []
    for name, completer in methods("complete").items():
        if home.unmet(dataset.id, completer):
            continue
        page.selectbox(key="complete:mv").select(name).run()
        assert not press_start(page, "mv").exception, name
        expected.append({"method": name, "params": completer.config().model_dump(mode="json")})
    queued = home.runs(dataset.project_id)[::-1]
    assert [row.completion for row in queued] == expected
    assert (
        queued[0].title == f"Majority vote after {next(iter(methods('complete').values())).title}"
    )


def test_choosing_a_family_and_a_method_changes_the_form_and_the_address(
    dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page("run", method="ds")
    page.button_group(key="family:confusion").set_value("voting").run()
    assert page.query_params["method"] == "mv"
    assert page.subheader[0].value == "Majority vote"
    page.radio(key="method:voting:mv").set_value("wawa").run()
    assert page.query_params["method"] == "wawa"
    assert not page.exception


def test_unmet_needs_are_sentences_and_disable_start(
    home: Workspace, dataset: Dataset, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "It needs item features; add a features file."
    monkeypatch.setattr(Workspace, "unmet", lambda *_: [sentence])
    page = open_page("run", method="ds")
    assert page.warning[0].value == sentence
    assert page.button(key="start:ds").disabled


def test_stop_asks_a_working_run_to_stop_and_says_so(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    row = home.queue(dataset.id, "ds")
    claim(home.catalogue)
    begin(home.catalogue, row.id, pid=1, started=0.0)
    step = Progress(stage="EM", step=3, total=10, speed=2.0, metrics={"loglik": -1.0})
    report(home.catalogue, row.id, step)
    page = open_page("run")
    assert "step 3 of 10 · 2 steps per second" in page.get("progress")[0].proto.text
    page.button(key=f"stop:{row.id}").click().run()
    assert home.run(row.id).stopping
    assert page.button(key=f"stop:{row.id}").disabled


def test_stop_takes_a_waiting_run_out_of_the_queue(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    row = home.queue(dataset.id, "mv")
    page = open_page("run")
    page.button(key=f"stop:{row.id}").click().run()
    assert home.run(row.id).status == "cancelled"
    assert "stopped" in text_of(page.run())


def test_a_finished_run_tells_its_facts_and_opens_its_results(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    row = finish(home, home.queue(dataset.id, "ds"))
    page = open_page("run")
    assert "converged in" in text_of(page)
    assert "right against gold" in text_of(page)
    page.button(key=f"open:{row.id}").click().run()
    assert page.query_params["run"] == row.id
    assert page.title[0].value == "Overview"


def test_a_run_tells_which_run_it_began_from_also_when_that_is_gone(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    start = finish(home, home.queue(dataset.id, "mv"))
    row = finish(home, home.queue(dataset.id, "ds", warm_from=start.id))
    page = open_page("run")
    page.session_state[f"details:{row.id}"] = True
    assert r"Begin from **\#1 Majority vote**" in text_of(page.run())
    home.delete_run(start.id)
    assert "Begin from **a run that was deleted**" in text_of(page.run())


def test_a_failed_run_shows_its_sentence_and_its_log(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    row = home.queue(dataset.id, "mv")
    claim(home.catalogue)
    folder = home.run_folder(row.id)
    (folder / "fit.log").write_text("Traceback of a bug", encoding="utf-8")
    end(home.catalogue, row.id, "failed", "The run ran out of memory.", folder=folder)
    page = open_page("run")
    assert page.error[0].value == r"The run ran out of memory\."
    page.session_state[f"details:{row.id}"] = True
    assert page.run().code[0].value == "Traceback of a bug"


def test_an_interrupted_run_can_be_run_again_with_its_settings(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    row = home.queue(dataset.id, "ds", params={"max_iter": 9}, seed=3)
    claim(home.catalogue)
    end(home.catalogue, row.id, "lost", "", folder=home.run_folder(row.id))
    page = open_page("run")
    assert "Run it again" in page.warning[0].value
    page.button(key=f"again:{row.id}").click().run()
    again = home.runs(dataset.project_id)[0]
    assert (again.params["max_iter"], again.seed, again.status) == (9, 3, "queued")


def test_a_run_is_deleted_only_after_a_question(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    row = finish(home, home.queue(dataset.id, "mv"))
    page = open_page("run", run=row.id)
    assert f"ask:{row.id}" in {popover.key for popover in page.get("popover")}
    page.button(key=f"delete:{row.id}").click().run()
    assert not home.runs(dataset.project_id)
    assert "run" not in page.query_params
    assert not page.toast


def test_with_two_data_sets_the_run_uses_the_one_that_was_chosen(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    data = home.load_data(dataset.id).without_workers(["w1"])
    newer = home.add_data(dataset.project_id, data, name="fewer.csv")
    page = open_page("run", method="mv")
    press_start(page, "mv")
    page.selectbox(key="choose:Data set").select(dataset.id).run()
    press_start(page, "mv")
    chosen = [row.dataset_id for row in home.runs(dataset.project_id)]
    assert chosen == [dataset.id, newer.id]


def test_a_run_that_ends_while_the_page_is_drawn_is_drawn_once(
    home: Workspace, dataset: Dataset, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = home.queue(dataset.id, "mv")
    claim(home.catalogue)
    begin(home.catalogue, row.id, pid=1, started=0.0)
    page = open_page("run")
    list_runs = Workspace.runs

    def end_after_the_fragment(workspace: Workspace, project_id: str) -> list[RunRow]:
        rows = list_runs(workspace, project_id)
        if inspect.stack()[1].function == "_follow" and workspace.run(row.id).status == "running":
            workspace.save_result(row.id, fit(workspace.load_data(dataset.id), "mv"))
        return rows

    monkeypatch.setattr(Workspace, "runs", end_after_the_fragment)
    page.run()
    assert not page.exception
    assert home.run(row.id).status == "done"
    monkeypatch.undo()
