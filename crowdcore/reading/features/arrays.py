"""Finished numbers as features: NPY and NPZ files."""

from __future__ import annotations

import io
import warnings
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import pyarrow as pa

from crowdcore.data_checks import PICTURE_DIMENSIONS, TABLE_DIMENSIONS
from crowdcore.errors import DataError
from crowdcore.reading.features.rows import FeatureRows
from crowdcore.reading.parsing.source import ZIP_MAGICS, Content

_ID_ARRAYS = ("task", "item", "id", "tasks", "items", "ids")
_VALUE_ARRAYS = ("x", "X", "features", "embeddings", "embedding")
_NPY_MAGIC = b"\x93NUMPY"


def is_numpy(content: Content) -> bool:
    """Tell whether a file is an NPY, or a zip of them; a damaged zip is what its name says.

    Parameters
    ----------
    content
        The file.

    Returns
    -------
    bool
    """
    if not content.head.startswith(ZIP_MAGICS):
        return content.head.startswith(_NPY_MAGIC)
    try:
        with ZipFile(pa.BufferReader(content.buffer)) as archive:
            names = archive.namelist()
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return not content.name.lower().endswith(".zip")
    return bool(names) and all(name.endswith(".npy") for name in names)


def read_arrays(content: Content) -> FeatureRows:
    """Read the features of an NPY, or the features and ids of an NPZ.

    Parameters
    ----------
    content
        The file.

    Returns
    -------
    FeatureRows
        Without ids where the file has none.

    Raises
    ------
    DataError
        If the file is damaged, holds Python objects, or no features.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that an old Python wrote
            loaded = np.load(io.BytesIO(content.all()), allow_pickle=False)
        arrays = {"x": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    except MemoryError:
        raise
    except Exception:  # a damaged file makes numpy, zipfile and tokenize raise a dozen kinds
        raise DataError(
            "The NumPy file cannot be read, or holds Python objects",
            file=content.name,
            fix="Save plain numbers and texts with numpy.save or numpy.savez.",
        ) from None
    if others := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
        raise DataError(
            f"The member {others[0]!r} of the NPZ is not an array",
            file=content.name,
            fix="Save plain numbers and texts with numpy.savez.",
        )
    values = next((arrays[name] for name in _VALUE_ARRAYS if name in arrays), None)
    ids = next((arrays[name] for name in _ID_ARRAYS if name in arrays), None)
    if values is None:
        raise DataError(
            f"The NPZ has no array 'x' or 'features', only {', '.join(map(repr, arrays))}",
            file=content.name,
            fix="Save the item ids as 'item' and the features as 'x'.",
        )
    _check_arrays(values, ids, content.name)
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = np.asarray(values, np.float32)
    names = None if ids is None else tuple(map(str, ids.tolist()))
    return FeatureRows(file=content.name, values=numbers, ids=names).checked()


def _check_arrays(values: Any, ids: Any, file: str) -> None:
    if (
        values.ndim not in (TABLE_DIMENSIONS, PICTURE_DIMENSIONS)
        or 0 in values.shape[1:]
        or values.dtype.kind not in "fiub"
    ):
        raise DataError(
            f"The features are {values.dtype} of shape {values.shape}",
            file=file,
            fix="Give a matrix of numbers with one row per item, or pictures as [items, channels, "
            "height, width].",
        )
    if ids is None:
        return
    if ids.ndim != 1 or len(ids) != len(values) or ids.dtype.kind not in "iuU":
        raise DataError(
            f"The item ids are {ids.dtype} of shape {ids.shape} for {len(values)} rows of features",
            file=file,
            fix="Give one id per row, as text or whole numbers.",
        )
