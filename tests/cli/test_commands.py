"""`crowdcore check`, `run` and `methods`."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

import crowdcore
from crowdcore.cli.run import parse_params
from crowdcore.config import Config
from crowdcore.data import DataError
from crowdcore.registry import get_method, methods_of_files
from crowdcore.samples import samples
from tests.cli.calling import call, rows

WIDE = next(sample.folder for sample in samples() if sample.id == "wide")


def test_the_version_is_told() -> None:
    done = call("--version")
    assert done.exit_code == 0
    assert done.stdout == f"crowdcore {crowdcore.__version__}\n"


def test_every_command_has_help_that_reads_well() -> None:
    top = call("--help").stdout
    for command in ("check", "run", "methods", "simulate", "bench", "dashboard"):
        assert command in top
        assert call(command, "--help").exit_code == 0
    for command in ("accuracy", "speed", "peers"):
        assert "Usage" in call("bench", command, "--help").stdout


def test_methods_are_listed_with_what_they_need() -> None:
    lines = call("methods").stdout.splitlines()
    assert lines[0].split() == ["id", "title", "family", "role", "kinds", "needs", "year", "paper"]
    roles = [method.role for method in methods_of_files()]
    known = [method.id for method in methods_of_files() if method.role == "aggregate"]
    known += [method.id for method in methods_of_files() if method.role == "complete"]
    assert len(roles) == len(known)
    assert [line.split()[0] for line in lines[2:]] == known
    listed = {row["id"]: row for row in json.loads(call("methods", "--json").stdout)}
    assert listed["gauss"]["kinds"] == "ratings"
    assert listed["ds"]["title"] == "Dawid-Skene"
    assert listed["ds"]["needs"] == "labels"
    assert set(listed) == set(known)
    assert listed["g_mv"]["role"] == "complete"


def test_truths_can_be_parquet_which_later_commands_read(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call("run", labels, "--method", "ds", "--out", out).exit_code == 0
    done = call("run", labels, "--method", "ds", "--format", "parquet", "--out", out)
    assert done.exit_code == 0, done.output
    names = sorted(path.name for path in out.iterdir())
    assert names == ["result.json", "truths.parquet", "workers.csv"]
    again = call("run", labels, "--method", "ds", "--start-from", out, "--json")
    assert again.exit_code == 0, again.output
    exported = call("export", out, "--as", "long", "--out", tmp_path / "exported")
    assert exported.exit_code == 0, exported.output


def test_run_writes_truths_workers_and_the_record(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    done = call("run", labels, "--method", "mv", "--gold", tmp_path / "gold.csv", "--out", out)
    assert done.exit_code == 0, done.output
    truths = rows(out / "truths.csv")
    assert list(truths[0]) == ["item", "truth", "confidence", "n_labels", "tied", "p:x", "p:y"]
    assert [row["truth"] for row in truths] == ["x", "y", "x", "y", "x", "x"]
    assert [row["n_labels"] for row in truths] == ["3", "3", "3", "3", "3", "1"]
    assert float(truths[4]["p:x"]) == pytest.approx(2 / 3)
    assert [row["worker"] for row in rows(out / "workers.csv")] == ["a", "b", "c"]
    record = json.loads((out / "result.json").read_text())
    assert record["provenance"]["method"] == "mv"
    assert record["provenance"]["params"]["ties"] == "lowest class"
    assert record["score"]["correct"] == 3
    assert record["score"]["n"] == 4
    assert sorted(path.name for path in out.iterdir()) == [
        "result.json", "truths.csv", "workers.csv",
    ]  # fmt: skip
    # Wilson's interval of 3 of 4 at 95 %.
    assert "0.7500 (95 % interval 0.3006 to 0.9544; 3 of 4 items)" in done.stdout


def test_run_writes_what_was_filled_in_and_takes_it_away_again(
    labels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = call("run", labels, "-m", "mv", "--complete", "g_mv", "--out", out)
    assert done.exit_code == 0, done.output
    assert f"{out / 'completed.parquet'}" in done.stdout.replace("\n", "")
    table = pd.read_parquet(out / "completed.parquet")
    assert list(table.columns) == ["item", "worker", "label", "origin", "probability"]
    assert table["origin"].value_counts().to_dict() == {"observed": 16, "filled": 2}
    assert table.loc[table["origin"] == "filled", "worker"].tolist() == ["a", "b"]
    call("run", labels, "-m", "mv", "--out", out)
    assert not (out / "completed.parquet").exists()


def test_run_prints_json_for_machines(labels: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    done = call("run", labels, "-m", "ds", "-p", "max_iter=3", "--gold", gold, "--json")
    summary = json.loads(done.stdout)
    assert summary["params"]["max_iter"] == 3
    assert summary["data"]["items"] == 6
    assert summary["score"]["accuracy"] == 0.75
    assert summary["files"] == []
    assert sum(summary["workers"].values()) == 3
    without = json.loads(call("run", labels, "-m", "mv", "--json").stdout)
    assert without["score"] is None


def test_the_seed_is_passed_on(labels: Path) -> None:
    done = call("run", labels, "-m", "mv", "-p", "ties=random", "--seed", "7", "--json")
    summary = json.loads(done.stdout)
    assert summary["seed"] == 7
    assert summary["params"]["ties"] == "random"


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("wer,was,gold,sagt\nanna,1,ja,ja\nbert,1,ja,nein\ncleo,1,ja,ja\nanna,2,,nein\n")
    columns = ["--item", "was", "--worker", "wer", "--label", "sagt", "--gold-column", "gold"]
    summary = json.loads(call("run", path, "-m", "mv", *columns, "--json").stdout)
    assert summary["data"] | {"fingerprint": ""} == {
        "kind": "classes", "labels": 4, "items": 2, "workers": 3, "classes": ["ja", "nein"],
        "gold": 1, "fingerprint": "",
    }  # fmt: skip
    assert summary["score"]["correct"] == 1


@pytest.mark.parametrize(("policy", "left"), [("all", 5), ("last", 4), ("first", 4), ("drop", 3)])
def test_contradictions_follow_the_policy(tmp_path: Path, policy: str, left: int) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,a,x\n1,a,y\n1,b,x\n2,a,x\n2,b,y\n")
    done = call("run", path, "-m", "mv", "--contradictions", policy, "--json")
    assert json.loads(done.stdout)["data"]["labels"] == left


def test_run_names_the_check_that_tells_what_it_found(labels: Path, tmp_path: Path) -> None:
    gold = tmp_path / "my gold.csv"
    with labels.open(newline="") as lines:
        gold.write_text(f"item,gold\n{next(csv.DictReader(lines))['item']},unheard of\n")
    done = call("run", labels, "-m", "mv", "--gold", gold, "--contradictions", "first")
    more = done.stdout.split("More: crowdcore ")[1].splitlines()[0]
    assert "Gold answers that nobody gave" in call(*shlex.split(more)).stdout.split("Nothing")[0]
    assert more.endswith("--contradictions first")


def test_check_reports_what_was_found_and_done() -> None:
    done = call("check", WIDE / "labels.csv")
    assert done.exit_code == 0
    assert "Warning: Workers who gave one item several labels (4)" in done.stdout
    assert "Done: The last answer in the file was kept." in done.stdout
    assert "'w01', 'w02'" in done.stdout
    assert "Agreement: Krippendorff's alpha 0.210 (95 % interval 0." in done.stdout
    report = json.loads(call("check", WIDE / "labels.csv", "--json").stdout)
    assert report["agreement"]["alpha"] == pytest.approx(0.210, abs=5e-4)
    assert report["n_workers"] == 12
    assert {finding["id"] for finding in report["findings"]} >= {"contradictions", "spellings"}


def test_check_says_why_agreement_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,a,x\n2,b,y\n")
    assert "Agreement: No item has labels of two workers" in call("check", path).stdout
    assert json.loads(call("check", path, "--json").stdout)["agreement"]["alpha"] is None


def test_a_proposed_fix_is_applied_when_asked_for() -> None:
    before = json.loads(call("check", WIDE / "labels.csv", "--json").stdout)
    fixed = call("check", WIDE / "labels.csv", "--fix", "spellings", "--json")
    after = json.loads(fixed.stdout)
    assert after["n_classes"] < before["n_classes"]
    assert after["n_labels"] == before["n_labels"]
    unknown = call("check", WIDE / "labels.csv", "--fix", "everything")
    assert unknown.exit_code == 2
    assert "No fix 'everything' is proposed" in unknown.stderr


class Everything(Config):
    count: int = 1
    rate: float | None = 0.5
    name: str = "a"
    flag: bool = False
    sizes: tuple[int, ...] = (1,)


def test_settings_are_read_by_their_type() -> None:
    pairs = ["count=20", "rate=1e-3", "name=5", "flag=true", "sizes=[3, 4]"]
    values = Everything(**parse_params(pairs, Everything))
    assert values == Everything(count=20, rate=1e-3, name="5", flag=True, sizes=(3, 4))
    assert parse_params(["rate=null", "name=a=b", "flag=yes"], Everything) == {
        "rate": None, "name": "a=b", "flag": "yes",
    }  # fmt: skip
    for wrong, sentence in [(["count"], "KEY=VALUE"), (["flag=1", "flag=0"], "given twice")]:
        with pytest.raises(DataError, match=sentence):
            parse_params(wrong, Everything)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "nowhere.csv", "-m", "mv"], "There is no file 'nowhere.csv'"),
        (["run", "LABELS", "-m", "dss"], "There is no method 'dss'. Did you mean ds"),
        (["run", "LABELS", "-m", "ds", "-p", "max_iter=0"], "'max_iter' of ds is wrong"),
        (["run", "LABELS", "-m", "ds", "-p", "iterations=3"], "ds has no setting 'iterations'"),
        (["run", "LABELS", "-m", "ds", "--worker", "who"], "a column that is not in the file"),
        (["run", "LABELS", "-m", "mv", "--device", "tpu"], "--device"),
        (["chek", "LABELS"], "Did you mean 'check'?"),
        (["run", "LABELS", "-m", "qqqqq"], "There is no method 'qqqqq'. There are aali, "),
        (["run", "LABELS", "-m", "mv", "--out", "LABELS"], "is a file, not a folder"),
        (["simulate", "--out", "LABELS"], "is a file, not a folder"),
        (["simulate", "--out", "NEW", "--spammers", "2"], "--spammers"),
        (["bench", "accuracy", "nowhere"], "There is no folder 'nowhere'"),
        (["bench", "speed", "--labels", "many"], "--labels"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    labels: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    places = {"LABELS": str(labels), "FOLDER": str(tmp_path), "NEW": str(tmp_path / "new")}
    done = call(*[places.get(argument, argument) for argument in arguments])
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.output
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_fit_that_is_refused_leaves_no_folder(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    done = call("run", labels, "-m", "ds", "-p", "use_gold=true", "--out", out)
    assert done.exit_code == 2
    assert "no gold to use" in done.stderr
    assert not out.parent.exists()


def test_a_file_in_the_way_of_the_results_is_told_before_the_labels_are_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "taken").write_text("")
    done = call("run", tmp_path / "missing.csv", "--out", tmp_path / "taken" / "deep")
    assert done.exit_code == 2
    assert "taken' is a file, not a folder. Choose another folder with --out." in done.stderr


def test_results_never_overwrite_what_is_read(labels: Path) -> None:
    source = labels.rename(labels.with_name("truths.csv"))
    before = source.read_text()
    done = call("run", source, "-m", "mv", "--out", source.parent)
    assert done.exit_code == 2
    assert "would overwrite" in done.stderr
    assert source.read_text() == before


def test_an_error_of_ours_is_not_blamed_on_the_input(
    labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(type(get_method("mv")), "fit", broken)
    done = call("run", labels, "-m", "mv")
    assert isinstance(done.exception, RuntimeError)
