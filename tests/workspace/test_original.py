"""The file that labels came from is kept byte for byte, with the item of every row."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdcore.reading import Cleaning, open_table, read_labels
from crowdcore.workspace import DamagedError, Workspace

CONTENT = (
    '\ufefftask;worker;label\r\n"t 1";w1;"ja;\nnein"\r\n\r\n t2;w1;ö\r\nt2;w2;\r\nt 1;w2;ö\r\n'
).encode()


def test_the_file_and_the_rows_of_its_labels_come_back(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    data = read_labels(CONTENT, name="given.csv")
    saved = workspace.add_data(workspace.create_project("P").id, data, name="given.csv")
    back = workspace.load_data(saved.id)
    assert back.row is not None
    assert back.row.tolist() == [0, 1, 3]  # the third row has no label
    assert [back.items[code] for code in back.original.item] == ["t 1", "t2", "t2", "t 1"]
    assert back.original.name == "given.csv"
    assert back.original.content().all() == CONTENT
    assert (back.original.layout.delimiter, back.original.layout.n_columns) == (";", 3)
    workspace.check_original(saved.id)


def test_a_lost_file_costs_the_way_back_and_not_the_labels(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    data = read_labels(CONTENT, name="given.csv")
    saved = workspace.add_data(workspace.create_project("P").id, data, name="given.csv")
    (tmp_path / "data" / saved.id / "original.zst").write_bytes(b"else")
    assert workspace.load_data(saved.id).n_labels == 3
    with pytest.raises(DamagedError, match="the file that the labels came from"):
        workspace.check_original(saved.id)


def test_a_file_whose_names_are_to_be_forgotten_is_not_kept() -> None:
    data = read_labels(CONTENT, cleaning=Cleaning(pseudonyms=True))
    assert data.original is None
    assert data.workers == ("worker 1", "worker 2")


def test_labels_of_a_table_without_a_file_have_rows_all_the_same() -> None:
    data = read_labels(open_table(CONTENT).first_rows(3))
    assert data.row is not None
    assert data.row.tolist() == [0, 1]
