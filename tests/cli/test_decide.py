"""`crowdcore decide`, and runs that go by a file of decisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdcore import fit
from crowdcore.samples import load_sample
from crowdcore.workspace import Workspace
from tests.cli.calling import call, rows
from tests.workspace.samples import made_result, small_data


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("CROWDCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("crowdcore.jobs.ensure_daemon", lambda _workspace: None)
    home = Workspace(tmp_path / "home")
    project = home.create_project("Birds")
    dataset = home.add_data(project.id, small_data(), name="labels.csv")
    home.save_result(home.queue(dataset.id, "mv").id, made_result(small_data()))
    return home


def test_decisions_are_kept_listed_taken_back_and_run_by(home: Workspace) -> None:
    done = call("decide", "exclude", "Birds#1", "bob", "--by", "Ann", "--reason", "copies")
    assert done.exit_code == 0, done.output
    assert "Exclude worker bob" in done.stdout
    assert call("decide", "truth", "Birds#1", "c", "no", "--by", "Ann").exit_code == 0
    assert call("decide", "require", "Birds", "0.8", "--by", "Ann").exit_code == 0
    project = home.projects()[0].id
    ledger = home.decisions(project)
    assert [made.action for made in ledger] == ["exclude", "truth", "require"]
    assert ledger[0].evidence["worker"] == "bob"
    queued = call("decide", "run", "Birds#1")
    assert "without bob with 1 decided truth" in queued.stdout
    assert call("decide", "undo", "Birds", ledger[0].id, "--by", "Bob").exit_code == 0
    assert home.standing(project).excluded == ()
    listed = call("decide", "list", "Birds").stdout
    assert "replaced or undone" in listed
    assert json.loads(call("decide", "list", "Birds", "--json").stdout)[2]["value"] == "0.8"


def test_an_exclusion_without_a_reason_and_unknown_runs_are_refused(home: Workspace) -> None:
    done = call("decide", "exclude", "Birds#1", "bob", "--by", "Ann", "--reason", " ")
    assert (done.exit_code, "no reason to exclude 'bob'" in done.stderr) == (2, True)
    done = call("decide", "keep", "Birds#9", "bob", "--by", "Ann")
    assert (done.exit_code, "There is no run 'Birds#9'" in done.stderr) == (2, True)
    done = call("decide", "list", "Fish")
    assert (done.exit_code, "Projects: 'Birds'" in done.stderr) == (2, True)
    assert not home.decisions(home.projects()[0].id)


@pytest.mark.parametrize("name", ["made.jsonl", "made.csv"])
def test_a_run_on_files_goes_by_exported_decisions(
    home: Workspace, tmp_path: Path, name: str
) -> None:
    call("decide", "exclude", "Birds#1", "bob", "--by", "Ann", "--reason", "copies")
    call("decide", "truth", "Birds#1", "b", "yes", "--by", "Ann")
    assert call("decide", "export", "Birds", "--out", tmp_path / name).exit_code == 0
    labels = tmp_path / "labels.csv"
    labels.write_text("item,worker,label\na,ann,yes\na,bob,no\nb,ann,no\nc,eve,yes\n")
    out = tmp_path / "out"
    done = call(
        "run",
        labels,
        "-m",
        "ds",
        "-p",
        "use_gold=true",
        "--decisions",
        tmp_path / name,
        "--out",
        out,
    )
    assert done.exit_code == 0, done.output
    assert "By decisions: 1 worker left out, 1 truth." in done.stdout
    truths = {row["item"]: row["truth"] for row in rows(out / "truths.csv")}
    assert truths == {"a": "yes", "b": "yes", "c": "yes"}
    other = home.create_project("Other").id
    done = call("decide", "import", "Other", tmp_path / name)
    assert done.stdout == "Added 2 decisions; 0 were there already.\n"
    assert len(home.decisions(other)) == 2


def test_a_report_holds_what_an_audit_is_defended_with(home: Workspace, tmp_path: Path) -> None:
    call("decide", "exclude", "Birds#1", "bob", "--by", "Ann", "--reason", "<b>copies</b>")
    done = call("report", "Birds#1", "--out", tmp_path / "report.html")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "report.html").read_text()
    for part in ("Birds: audit of labels", "Exclude worker bob", "Ann", "Fingerprint", "--seed"):
        assert part in text
    for title in ("Agreement", "Workers left out", "What changed", "Versions", "Terms"):
        assert f"<h2>{title}</h2>" in text
    for part in ("Krippendorff&#x27;s alpha", "This is the first run", "decide export", "torch"):
        assert part in text
    assert "&lt;b&gt;copies&lt;/b&gt;" in text
    assert "<script" not in text
    assert "http" not in text  # nothing is asked for from anywhere


def test_a_report_says_who_was_left_out_with_the_evidence_of_the_decision(
    home: Workspace, tmp_path: Path
) -> None:
    call("decide", "exclude", "Birds#1", "bob", "--by", "Ann", "--reason", "copies")
    first = home.runs(home.projects()[0].id)[0]
    evidence = home.decisions(first.project_id)[0].evidence
    second = home.run_decided(first.id)
    home.save_result(second.id, made_result(small_data().without_workers(["bob"])))
    call("report", "Birds#2", "--out", tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    left_out = text.partition("<h2>Workers left out</h2>")[2].partition("</section>")[0]
    for part in ("bob", "copies", "Ann", str(evidence["verdict"])):
        assert part in left_out
    assert "Since #1" in text
    assert "-2 labels" in text


def test_an_overview_is_printed_with_what_to_do_next(home: Workspace) -> None:
    printed = call("overview", "Birds#1").stdout
    assert "Agreement (alpha)" in printed
    assert "Hand it on" in printed
    done = call("overview", "Birds#1", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    figures = json.loads(done.stdout)["figures"]
    assert [figure["page"] for figure in figures] == [
        "truths", "workers", "truths", "agreement", "compare",
    ]  # fmt: skip
    done = call("workspace", "worker", "bob", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    history = json.loads(done.stdout)
    assert [row["project"] for row in history] == ["Birds"]
    assert "No project" in call("workspace", "worker", "nobody").stdout


def test_two_runs_are_compared_and_changed_truths_written(home: Workspace, tmp_path: Path) -> None:
    dataset = home.datasets(home.projects()[0].id)[0]
    second = home.queue(dataset.id, "mv", excluded=["bob"])
    home.save_result(second.id, made_result(small_data().without_workers(["bob"])))
    done = call("compare", "Birds#1", "Birds#2", "--out", tmp_path / "changed.csv")
    assert done.exit_code == 0, done.output
    assert "truths of 4 changed" in done.stdout
    assert "-2 labels" in done.stdout
    assert "bob" in done.stdout
    assert (tmp_path / "changed.csv").read_text().startswith('"item","truth_before","truth_after"')
    summary = json.loads(call("compare", "Birds#1", second.id, "--json").stdout)
    assert summary["items"] == 4


def test_a_part_is_left_out_and_a_group_votes_once(home: Workspace) -> None:
    done = call("decide", "leave-out", "Birds#1", "bob", "--by", "Ann", "--reason", "asleep")
    assert (done.exit_code, "Nothing shows that a part" in done.stderr) == (2, True)
    done = call("decide", "leave-out", "Birds#1", "bob", "a", "--by", "Ann", "--reason", "asleep")
    assert "Leave out 1 label of worker bob" in done.stdout, done.output
    done = call(
        "decide", "one-vote", "Birds#1", "ann", "bob", "--by", "Ann", "--reason", "one person"
    )
    assert "Workers 'ann', 'bob' vote once per item" in done.stdout, done.output
    ledger = home.decisions(home.projects()[0].id)
    assert set(ledger[1].evidence) == {"evidence of ann", "evidence of bob"}
    queued = call("decide", "run", "Birds#1")
    assert "without part of bob with 1 group voting once" in queued.stdout
    row = home.runs(home.projects()[0].id)[0]
    given, kept = small_data(), home.run_data(row.id)
    assert given.n_labels > kept.n_labels
    pair = [kept.workers.index(name) for name in ("ann", "bob")]
    items = kept.item[[code in pair for code in kept.worker.tolist()]].tolist()
    assert len(items) == len(set(items))


def test_a_worse_part_is_found_by_the_run_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDCORE_HOME", str(tmp_path))
    home, data = Workspace(tmp_path), load_sample("verdicts")
    dataset = home.add_data(home.create_project("All").id, data, name="labels.csv")
    row = home.queue(dataset.id, "mv")
    home.save_result(row.id, fit(data, "mv"))
    table = home.workers(row.id).set_index("verdict")["worker"]
    for verdict in ("drifting", "too fast in part"):
        name = str(table[[verdict]].iloc[0])
        done = call("decide", "leave-out", "All#1", name, "--by", "Ann", "--reason", "asleep")
        assert done.exit_code == 0, done.output
    home.run_decided(row.id)
    kept = home.run_data(home.runs(dataset.project_id)[0].id)
    lost = data.labels_per_worker - kept.labels_per_worker
    assert (lost > 0).sum() == 2
    assert (kept.labels_per_worker[lost > 0] > 5).all()  # the better part stays
