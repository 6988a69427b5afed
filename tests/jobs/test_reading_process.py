"""No file can take the server down: it is read in a process that can be stopped and is bounded."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest

from crowdcore.data import DataError
from crowdcore.jobs.drafts import ReadRequest, UploadedFile, read_draft
from crowdcore.jobs.opening import OpenRequest, open_draft
from crowdcore.jobs.reading_process import ReadingProcess
from crowdcore.workspace import Workspace
from dashboard.data import reading

LABELS = b"task,worker,label\nt1,w1,cat\nt1,w2,dog\nt2,w1,cat\nt2,w2,cat\n"
SMALL_LIMIT_BYTES = 400_000_000


def refuse(file: str) -> None:
    raise DataError("No table", file=file, fix="Give another.")


def break_down(request: int) -> float:
    return 1 / request


def allocate(library: str) -> int:
    n_bytes = 10 * SMALL_LIMIT_BYTES
    if library == "arrow":
        return int(pa.allocate_buffer(n_bytes).size)
    return len(bytearray(n_bytes)) if library == "python" else np.ones(n_bytes, np.uint8).size


def kill_itself(request: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def upload(folder: Path, content: bytes = LABELS) -> UploadedFile:
    path = folder / "labels"
    path.write_bytes(content)
    return UploadedFile(name="pets.csv", path=path)


def test_a_draft_is_opened_read_and_adopted_without_being_loaded(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "home")
    draft = workspace.new_draft()
    file = upload(draft.path)
    opened = ReadingProcess(open_draft, OpenRequest(files=(file,)), draft.path).answer()
    assert opened.choices[0].columns == ("task", "worker", "label")
    assert opened.choices[0].preview[0] == {"task": "t1", "worker": "w1", "label": "cat"}
    request = ReadRequest(
        labels=file, roles=opened.choices[0].guess.roles, target=draft.path / "data"
    )
    read = ReadingProcess(read_draft, request, draft.path).answer()
    assert (read.report.n_rows, read.facts.n_items) == (4, 2)
    project = workspace.create_project("Pets")
    saved = workspace.adopt_data(project.id, read.folder, read.facts, name="pets.csv")
    assert workspace.load_data(saved.id).fingerprint == read.facts.fingerprint
    again = workspace.adopt_data(project.id, read.folder, read.facts, name="other.csv")
    assert again.id == saved.id
    draft.remove()
    assert not draft.path.exists()
    assert workspace.load_data(saved.id).n_labels == 4


def test_a_draft_goes_with_whoever_holds_it(tmp_path: Path) -> None:
    draft = Workspace(tmp_path).new_draft()
    path = draft.path
    Workspace(tmp_path)
    assert path.exists(), "another process that opens the workspace leaves it alone"
    del draft
    assert not path.exists()


def test_bad_input_is_the_same_sentence_as_in_one_process(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"No table \(file x\.csv\)\. Give another\."):
        ReadingProcess(refuse, "x.csv", tmp_path).answer()


def test_a_bug_is_not_taken_for_bad_input(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        ReadingProcess(break_down, 0, tmp_path).answer()


@pytest.mark.parametrize("library", ["python", "numpy", "arrow"])
def test_too_much_memory_is_a_sentence(tmp_path: Path, library: str) -> None:
    with pytest.raises(DataError, match=r"more than 400\.0 MB of memory"):
        ReadingProcess(allocate, library, tmp_path, limit=SMALL_LIMIT_BYTES).answer()


def test_a_table_that_unfolds_beyond_the_limit_is_a_sentence(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = pa.DictionaryArray.from_arrays(np.zeros(3_000_000, np.int32), ["x" * 200])
    pq.write_table(pa.table({"task": rows, "worker": rows, "label": rows}), tmp_path / "labels")
    file = UploadedFile(name="bomb.parquet", path=tmp_path / "labels")
    opened = ReadingProcess(open_draft, OpenRequest(files=(file,)), tmp_path).answer()
    request = ReadRequest(
        labels=file, roles=opened.choices[0].guess.roles, target=tmp_path / "data"
    )
    with pytest.raises(DataError, match="of memory, so it was stopped"):
        ReadingProcess(read_draft, request, tmp_path, limit=SMALL_LIMIT_BYTES).answer()


def test_a_process_that_the_system_kills_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="of memory"):
        ReadingProcess(kill_itself, 0, tmp_path).answer()


def test_a_click_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit interrupts a page at its next word, as this does."""

    def interrupt(seconds: float) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "duration", interrupt)
    before = psutil.Process().children(recursive=True)
    with pytest.raises(KeyboardInterrupt):
        reading.read_stoppably(sleep, 60.0, tmp_path, title="Reading", on_stop=lambda: None)
    assert not set(psutil.Process().children(recursive=True)) - set(before)
