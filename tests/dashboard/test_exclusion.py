"""Running again without some workers: the new run opens itself and says whom it leaves out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from crowdcore import CrowdData, fit
from crowdcore.decisions import Action, names_in
from crowdcore.jobs.fit_process import execute
from crowdcore.samples import load_sample
from crowdcore.workspace import RunRow, Workspace
from crowdcore.workspace.run_states import claim, end
from dashboard.server.downloads import export_frame, file_name
from tests.dashboard.results import everything_said, key_like, open_view, pets, save_run

OpenPage = Callable[..., AppTest]


def tick(page: AppTest, *names: str) -> None:
    """Tick exactly these workers in the table."""
    workers = list(page.dataframe[0].value["worker"])
    rows = sorted(workers.index(name) for name in names)
    page.session_state[key_like(page, "workers_table")] = {"selection": {"rows": rows}}
    page.run()
    assert not page.exception


def decide(page: AppTest, reason: str | None = "Answers at random") -> None:
    """Give a name and a reason, and press the button."""
    page.text_input(key="workers_by").set_value("Ann")
    if reason is not None:
        page.selectbox(key="workers_reason_exclude").set_value(reason)
    page.run()
    assert not page.button(key="workers_exclude").disabled
    page.button(key="workers_exclude").click().run()
    assert not page.exception


def newest(home: Workspace) -> RunRow:
    return home.runs(home.projects()[0].id)[0]


def finish(home: Workspace, run: RunRow) -> None:
    claim(home.catalogue)
    home.save_result(run.id, fit(home.run_data(run.id), run.method))


def test_ticked_workers_are_excluded_together_and_the_new_run_opens_itself(
    home: Workspace, open_page: OpenPage
) -> None:
    old = save_run(home, pets(), max_iter=17)
    page = open_page("workers", run=old.id)
    tick(page, "turned", "always cat")
    assert page.subheader[-1].value == "2 workers ticked"
    assert set(page.dataframe[1].value["worker"]) == {"turned", "always cat"}
    assert page.button(key="workers_exclude").disabled  # without a name and a reason
    decide(page)

    new = newest(home)
    assert {made.subject: made.reason for made in home.decisions(new.project_id)} == {
        "turned": "Answers at random",
        "always cat": "Answers at random",
    }
    assert {made.subject for made in new.decisions} == {"turned", "always cat"}
    assert (new.status, new.method, new.seed) == ("queued", old.method, old.seed)
    assert new.params == old.params
    assert set(new.excluded) == {"turned", "always cat"}
    assert home.run(old.id).excluded == ()  # the old run stays as it was
    assert page.query_params["run"] == new.id
    assert page.title[0].value == "Workers"
    assert not page.dataframe  # nothing of the old run is shown in place of the new one
    assert "turned" in page.get("progress")[0].proto.text

    finish(home, new)
    page.run()
    assert not page.exception
    assert page.query_params["run"] == new.id
    assert page.selectbox(key="choose:Run").value == new.id
    assert "without" in page.caption[0].value
    assert "2 workers ticked" not in everything_said(page)


def test_an_exclusion_adds_to_those_of_the_open_run(home: Workspace, open_page: OpenPage) -> None:
    save_run(home, pets(), excluded=["always cat"])
    page = open_page("workers", worker="turned")
    assert "Still left out: always cat" in everything_said(page)
    decide(page)
    assert newest(home).excluded == ("always cat", "turned")


def test_workers_who_are_out_are_taken_in_and_only_they(
    home: Workspace, open_page: OpenPage
) -> None:
    save_run(home, pets(), excluded=["always cat", "turned", "good0"])
    page = open_page("workers")
    tick(page, "always cat", "turned")
    assert page.button(key="workers_exclude").label == "Take in 2 workers and run again"
    decide(page, reason=None)
    assert [made.action for made in home.decisions(newest(home).project_id)] == ["keep", "keep"]
    assert newest(home).excluded == ("good0",)


def test_of_ticked_workers_only_those_still_in_are_excluded(
    home: Workspace, open_page: OpenPage
) -> None:
    save_run(home, pets(), excluded=["turned"])
    page = open_page("workers")
    tick(page, "always cat", "turned", "good0")
    assert page.button(key="workers_exclude").label == "Exclude 2 workers and run again"
    decide(page)
    assert newest(home).excluded[0] == "turned"
    assert set(newest(home).excluded) == {"turned", "always cat", "good0"}


def test_ticks_stay_while_the_table_is_filtered_and_go_with_close(home: Workspace) -> None:
    save_run(home, pets())
    page = open_view("workers")
    tick(page, "turned")
    assert page.query_params["worker"] == "turned"
    page.text_input(key="workers_search").set_value("always").run()
    tick(page, "always cat")
    assert set(page.dataframe[1].value["worker"]) == {"turned", "always cat"}
    assert "worker" not in page.query_params
    page.button(key="workers_untick").click().run()
    assert len(page.dataframe) == 1
    assert not page.exception


def test_watching_keeps_every_label_and_queues_nothing(home: Workspace) -> None:
    run = save_run(home, pets())
    page = open_view("workers", worker="turned")
    page.segmented_control(key="workers_action").set_value("watch")
    page.text_input(key="workers_by").set_value("Ann")
    page.run()
    page.button(key="workers_exclude").click().run()
    assert not page.exception
    (made,) = home.decisions(run.project_id)
    assert (made.action, made.subject, made.evidence["worker"]) == ("watch", "turned", "turned")
    assert newest(home).id == run.id


def press(page: AppTest, action: Action, reason: str) -> None:
    """Choose what to decide, say why and who, and press the button."""
    page.segmented_control(key="workers_action").set_value(action).run()
    page.text_input(key="workers_by").set_value("Ann")
    page.run()
    assert page.button(key="workers_exclude").disabled  # it takes labels away: why?
    page.selectbox(key=f"workers_reason_{action}").set_value(reason).run()
    page.button(key="workers_exclude").click().run()
    assert not page.exception


def test_a_worse_part_is_left_out_alone_and_a_group_votes_once(
    home: Workspace, open_page: OpenPage
) -> None:
    data = load_sample("verdicts")
    run = save_run(home, data, "mv")
    workers = home.workers(run.id).set_index("verdict")["worker"]
    drifting, alike, good = (
        str(workers[[verdict]].iloc[0]) for verdict in ("drifting", "alike", "good")
    )
    page = open_page("workers", worker=good)
    assert page.segmented_control(key="workers_action").options == ["Exclude", "Watch", "Keep"]
    page = open_page("workers", worker=drifting)
    press(page, "leave_out", "Stops looking at the items")
    part = newest(home)
    assert part.excluded == ()
    assert f"without part of {drifting}" in part.label
    given, kept = data.labels_per_worker, home.run_data(part.id).labels_per_worker
    code = data.workers.index(drifting)
    assert 0 < kept[code] < given[code]
    assert given.sum() - kept.sum() == given[code] - kept[code]

    page = open_page("workers", worker=alike, run=run.id)
    press(page, "one_vote", "One person with several accounts")
    once = newest(home)
    assert "with 1 group voting once" in once.label
    (made,) = [made for made in once.decisions if made.action == "one_vote"]
    group = names_in(made.subject)
    assert alike in group
    assert len(group) > 1
    kept_data = home.run_data(once.id)
    codes = [kept_data.workers.index(name) for name in group]
    items = kept_data.item[np.isin(kept_data.worker, codes)]
    assert len(items) == len(np.unique(items))  # one vote each
    before = data.item[np.isin(data.worker, codes)]
    assert set(items.tolist()) == set(before.tolist())  # and no item is lost
    execute(home, claim(home.catalogue) or "")
    execute(home, claim(home.catalogue) or "")
    assert any("vote once per item" in note for note in home.provenance(once.id)["notes"])


def test_a_preview_says_what_would_change_and_decides_nothing(home: Workspace) -> None:
    run = save_run(home, pets())
    page = open_view("workers", worker="turned")
    page.button(key="workers_preview_go").click().run()
    assert not page.exception
    preview_id, _ = page.session_state["kept:workers_preview"]
    preview = home.run(preview_id)
    assert (preview.preview, preview.excluded) == (True, ("turned",))
    finish(home, preview)
    page.run()
    assert not page.exception
    assert "Truths that would change" in [metric.label for metric in page.metric]
    lost = next(metric for metric in page.metric if metric.label == "Labels lost")
    n_labels = int((pets().worker == pets().workers.index("turned")).sum())
    assert lost.value == str(n_labels)
    assert home.decisions(run.project_id) == []
    assert newest(home).id == run.id


def test_the_only_worker_cannot_be_excluded(home: Workspace) -> None:
    save_run(home, CrowdData.from_triples([("i", "w", "yes")]), "mv")
    page = open_view("workers", worker="w")
    button = page.button(key="workers_exclude")
    assert button.disabled
    assert "Nobody else has labels" in str(button.help)
    assert "only one class" in everything_said(page)


@pytest.mark.parametrize("name", ["truths", "workers", "export"])
def test_no_page_shows_another_run_in_place_of_one_that_failed(
    home: Workspace, open_page: OpenPage, name: str
) -> None:
    old = save_run(home, pets())
    queued = home.run_again(old.id, excluded=["turned"], warm_from=old.id)
    claim(home.catalogue)
    end(home.catalogue, queued.id, "failed", "Out of memory.", folder=home.run_folder(queued.id))
    page = open_page(name, run=queued.id)
    assert not page.toast
    assert "without turned ended without a result" in everything_said(page)
    assert not page.dataframe
    assert not page.metric
    page.button(key="pending_back").click().run()
    assert not page.exception
    assert page.query_params["run"] == old.id
    assert "ended without a result" not in everything_said(page)


def test_whom_a_run_leaves_out_is_in_its_name_everywhere(
    home: Workspace, open_page: OpenPage
) -> None:
    run = save_run(home, pets(), excluded=["turned", "always cat"])
    label = f"#{run.number} Dawid-Skene without turned, always cat"
    assert run.label == label
    assert file_name(home, run.id, "workers", "csv") == (
        f"pets-ds-without-turned-always-cat-workers-{run.id[:6]}.csv"
    )
    page = open_page("run")
    assert any(r"without turned\, always cat" in text.value for text in page.markdown)
    page = open_page("workers")
    assert r"without turned\, always cat" in page.caption[0].value
    assert label in page.selectbox(key="choose:Run").options
    assert page.sidebar.caption[0].value == r"without turned\, always cat"


def test_a_run_without_many_names_the_first_and_counts_the_rest(home: Workspace) -> None:
    triples = [("i", f"worker number {n:02} of many more", "yes") for n in range(9)]
    data = CrowdData.from_triples(triples)
    run = save_run(home, data, "mv", excluded=data.workers[:7])
    assert run.label.count("worker number") == 4
    assert run.label.endswith("and 3 more")
    assert len(run.label) < 140


def test_the_exported_workers_and_labels_have_none_of_those_left_out(home: Workspace) -> None:
    run = save_run(home, pets(), excluded=["turned", "always cat"])
    for kind in ("workers", "labels"):
        names = set(export_frame(home, run.id, kind)["worker"])
        assert names == {"good0", "good1", "good2", "stranger"}
