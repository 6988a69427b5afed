"""Features of items, matched by id."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.reading import read_labels
from tests.reading.tables import finding, table

MATRIX = np.array([[1.5, 2], [3, 4]], np.float32)  # of t2 and t1, in this order


def npz(**arrays: object) -> bytes:
    sink = io.BytesIO()
    np.savez(sink, **arrays)  # type: ignore[arg-type]
    return sink.getvalue()


def npy(array: object) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)  # type: ignore[arg-type]
    return sink.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()


def of_version(archive: bytes, version: int) -> bytes:
    """The zip, of which a later version than any says how to unpack it."""
    at = archive.index(b"PK\1\2") + 6
    return archive[:at] + bytes([version]) + archive[at + 1 :]


def parquet(columns: dict[str, object]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def values(data: CrowdData) -> list[list[float]]:
    assert data.features is not None
    assert data.features.dtype == np.float32
    rows: list[list[float]] = data.features.tolist()
    return rows


@pytest.mark.parametrize(
    "file",
    [
        b"task,a,b\nt2,1.5,2\nt1,3,4\n",
        b"a;item_id;b\n1.5;t2;2\n 3 ; t1 ;4\n",
        b"t2\t1.5\t2\nt1\t3\t4\n",
        b'[{"id": "t2", "a": 1.5, "b": 2}, {"id": "t1", "a": 3, "b": 4}]',
        parquet({"item": ["t2", "t1"], "a": [1.5, 3.0], "b": [2, 4]}),
        parquet({"item": ["t2", "t1"], "embedding": [[1.5, 2.0], [3.0, 4.0]]}),
        b'item,embedding\nt2,"[1.5, 2]"\nt1,"[3, 4.0]"\n',
        b'[{"id": "t2", "a": [1.5, 2]}, {"id": "t1", "a": [3, 4]}]',
        npz(task=np.array(["t2", "t1"]), x=MATRIX),
        npz(id=np.array(["t2", "t1"]), features=MATRIX.astype(np.float64)),
    ],
)
def test_features_are_matched_to_items_by_id(file: bytes) -> None:
    data = read_labels(table(), features=file)
    assert values(data) == [[3, 4], [1.5, 2]]
    assert finding(data, "items_without_features").severity == "ok"


def test_names_of_features_are_kept() -> None:
    assert read_labels(table(), features=b"task,a,b\nt2,1,2\nt1,3,4\n").feature_names == ("a", "b")
    nested = parquet({"item": ["t2", "t1"], "e": [[1.5, 2.0], [3.0, 4.0]]})
    assert read_labels(table(), features=nested).feature_names == ("e[0]", "e[1]")


def test_whole_numbers_may_name_the_items() -> None:
    rows = [("1", "w1", "a"), ("2", "w1", "b")]
    file = npz(item=np.array([2, 1]), x=MATRIX)
    assert values(read_labels(table(rows), features=file)) == [[3, 4], [1.5, 2]]


def test_a_column_called_id_wins_over_numbers_that_look_like_ids() -> None:
    rows = [("1", "w1", "a"), ("2", "w1", "b")]
    assert values(read_labels(table(rows), features=b"x,id\n1,2\n2,1\n")) == [[2], [1]]


def test_an_npy_is_taken_in_order_of_appearance_and_the_report_says_so() -> None:
    data = read_labels(table(), features=npy(MATRIX))
    assert values(data) == MATRIX.tolist()
    found = finding(data, "features_by_order")
    assert "order in which the items first appear" in found.done
    by_id = read_labels(table(), features=npz(task=np.array(["t2", "t1"]), x=MATRIX))
    assert by_id.report.finding("features_by_order") is None


def test_items_without_features_get_nan_and_a_warning() -> None:
    data = read_labels(table(), features=b"task,a\nt2,1\n")
    assert data.features is not None
    assert np.isnan(data.features[:, 0]).tolist() == [True, False]
    assert finding(data, "items_without_features").examples == ("item 't1'",)


def test_features_of_unlabelled_items_are_told_and_left_out() -> None:
    data = read_labels(table(), features=b"task,a\nt2,1\nt1,2\nt9,3\n")
    assert values(data) == [[2], [1]]
    assert finding(data, "features_without_labels").examples == ("item 't9'",)
    data = read_labels(table(), features=b"task,a\nt2,1\nt1,2\n")
    assert finding(data, "features_without_labels").severity == "ok"


def test_pictures_may_come_as_finished_numbers() -> None:
    x = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)
    data = read_labels(table(), features=npz(task=np.array(["t2", "t1"]), x=x))
    assert data.features is not None
    assert np.array_equal(data.features, x[::-1])
    assert (data.n_features, data.recipe) == (60, None)
    assert data.report.features == "2 items with 60 numbers each"


def test_the_report_tells_the_features_in_words() -> None:
    assert read_labels(table(), features=b"task,a,b\nt2,1,2\n").report.features == (
        "1 item with 2 numbers each"
    )
    assert read_labels(table()).report.features == ""


def test_features_are_read_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(npy(MATRIX))
    assert values(read_labels(table(), features=path)) == MATRIX.tolist()


FAULTS = {
    "a text": (b"task,a\nt1,1\nt2,high\n", "'high' is not a number"),
    "a blank": (b"task,a\nt1,1\nt2,\n", "not a number"),
    "not finite": (b"task,a\nt1,1\nt2,nan\n", "not a finite number"),
    "too large": (b"task,a\nt1,1\nt2,1e60\n", "not a finite number"),
    "no features": (b"task\nt1\n", "one column only"),
    "twice": (b"task,a\nt1,1\nt1,2\n", "several rows of features"),
    "strangers": (b"task,a\nx,1\ny,2\n", "None of the rows"),
    "too few rows": (npy(MATRIX[:1]), "1 rows of features without ids for 2 items"),
    "a vector": (npy(MATRIX[0]), "shape"),
    "texts": (npy(np.array([["a"], ["b"]])), "matrix of numbers"),
    "objects": (npy(np.array([[1], [None]], dtype=object)), "cannot be read"),
    "object ids": (npz(task=np.array(["t1", None], dtype=object), x=MATRIX), "cannot be read"),
    "damaged": (npy(MATRIX)[:-3], "cannot be read"),
    "damaged zip": (npz(x=MATRIX)[:40], "cannot be read"),
    "no matrix": (npz(task=np.array(["t1", "t2"])), "no array 'x'"),
    "ids too many": (npz(task=np.array(["t1", "t2", "t3"]), x=MATRIX), "for 2 rows"),
    "a broken list": (b'task,a\nt1,"[1, 2]"\nt2,"[1, x]"\n', "not a list of numbers"),
    "written lists of two lengths": (b'task,a\nt1,"[1, 2]"\nt2,[1]\n', "differ in length"),
    "uneven lists": (parquet({"item": ["t1", "t2"], "e": [[1.0], [1.0, 2.0]]}), "differ in length"),
    "a member that is no array": (zipped({"x.npy": b"not an array"}), "'x' of the NPZ is not an"),
    "a zip of the future": (of_version(npz(x=MATRIX), 127), "cannot be read"),
    "a pickle": (pickle.dumps(MATRIX), "."),
}


@pytest.mark.parametrize(("file", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_features_that_cannot_be_used_are_refused(file: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_labels(table(), features=file, features_name="x.npz")
    assert caught.value.file == "x.npz"


def test_a_row_of_features_is_told_by_its_line() -> None:
    with pytest.raises(DataError) as caught:
        read_labels(table(), features=b"task,a\nt1,1\nt2,inf\n")
    assert caught.value.row == 3


def test_the_cell_that_is_no_number_is_told() -> None:
    with pytest.raises(DataError) as caught:
        read_labels(table(), features=b"task,a,b\nt1,1,2\nt2,1,high\n")
    assert (caught.value.column, caught.value.row) == ("b", 3)
