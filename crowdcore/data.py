"""CrowdData: who said what of which item, as codes and names."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.codes import as_codes, codes_by_name, natural_order
from crowdcore.data_checks import NUMBERS, TABLE_DIMENSIONS, check_data
from crowdcore.data_checks import OUTCOMES as OUTCOMES  # noqa: PLC0414
from crowdcore.data_checks import UNKNOWN as UNKNOWN  # noqa: PLC0414
from crowdcore.data_checks import Kind as Kind  # noqa: PLC0414
from crowdcore.errors import DataError as DataError  # noqa: PLC0414  (also to be had here)

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]

LABELS_PER_CHUNK = 65_536
"""Labels that are counted at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdData:
    """Labels of a crowd; three parallel arrays of codes, and the names behind the codes.

    The arrays are kept as they are given, but read-only.

    Parameters
    ----------
    item, worker, label
        Codes of the item, the worker and the class of each label [L]. Where `kind` is
        "ratings", `label` holds the values themselves; of "sets" it is a row of `sets`, and of
        "comparisons" one of `OUTCOMES`.
    items, workers, classes
        The names behind the codes; no two may be the same.
    kind
        What the labels are. For sequences the items are tokens.
    other
        The second item of each comparison [L]; `item` is the first, shown on the left.
    sets
        Which classes each different answer holds [answers, K], for labels that are sets. A row
        without any is the answer of somebody who saw the item and ticked nothing.
    gold
        The known answers [N], as codes or values; UNKNOWN, or NaN for values, where there is
        none. Comparisons have known scores.
    features
        What is known of the items [N, D], or pictures [N, C, H, W]; NaN where nothing is.
    feature_names
        The names of the D features.
    recipe
        The `FeatureRecipe` by which new items get such features; None where they came finished.
    time
        When each label was given [L], in seconds since the epoch; NaN where that is unknown.
    duration
        How many seconds each label took [L]; NaN where that is unknown.
    offsets
        Where each of the S sequences starts, and the last one ends [S + 1].
    row
        The row of the file that each label came from [L], counted from 0; UNKNOWN where it came
        from elsewhere.
    details
        Further texts about the items, name -> [N].
    original
        The `Original`, the file that the labels were read from.
    report
        The health report that the reader made.

    Raises
    ------
    DataError
        If there is no label, or if arrays, codes and names do not fit together.

    Examples
    --------
    >>> data = CrowdData.from_triples([("pic 1", "ann", "cat"), ("pic 1", "bob", "dog")])
    >>> data.n_labels, data.classes
    (2, ('cat', 'dog'))
    """

    item: NDArray[Any]  # [L]
    worker: NDArray[Any]  # [L]
    label: NDArray[Any]  # [L] codes; float64 values where kind is ratings
    items: tuple[str, ...]
    workers: tuple[str, ...]
    classes: tuple[str, ...] = ()
    kind: Kind = "classes"
    other: NDArray[Any] | None = None  # [L]
    sets: NDArray[np.bool_] | None = None  # [answers, K]
    gold: NDArray[Any] | None = None  # [N]
    features: NDArray[np.float32] | None = None  # [N, D] or [N, C, H, W]
    feature_names: tuple[str, ...] = ()
    recipe: Any = None
    time: Floats | None = None  # [L]
    duration: Floats | None = None  # [L]
    row: Codes | None = None  # [L]
    offsets: NDArray[np.int64] | None = None  # [S + 1]
    details: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # name -> [N]
    report: Any = None
    original: Any = None

    def __post_init__(self) -> None:
        for name in ("item", "worker", "label", "other", "gold", "row"):
            values = getattr(self, name)
            if values is None:
                continue
            if name in NUMBERS.get(self.kind, ()):
                array: NDArray[Any] = np.ascontiguousarray(values, dtype=np.float64)
            else:
                array = as_codes(name, values)
            object.__setattr__(self, name, _read_only(array))
        if self.sets is not None:
            object.__setattr__(self, "sets", _read_only(np.ascontiguousarray(self.sets, bool)))
        if self.features is not None:
            values = np.ascontiguousarray(self.features, dtype=np.float32)
            object.__setattr__(self, "features", _read_only(values))
        for name in ("time", "duration"):
            values = getattr(self, name)
            if values is not None:
                seconds = np.ascontiguousarray(values, dtype=np.float64)
                object.__setattr__(self, name, _read_only(seconds))
        check_data(self)

    @classmethod
    def from_triples(
        cls,
        triples: Sequence[tuple[Any, Any, Any]],
        *,
        classes: Sequence[str] | None = None,
        gold: Mapping[Any, Any] | None = None,
    ) -> CrowdData:
        """Build data from triples, with items and workers in order of appearance.

        Parameters
        ----------
        triples
            (item, worker, label) of every label.
        classes
            The classes in their order; None takes those that occur, numbers by value and
            everything else by spelling.
        gold
            Known answers by item; items without labels are left out.

        Returns
        -------
        CrowdData
            The labels as codes and names.

        Raises
        ------
        DataError
            If a label or an answer is none of the classes.

        Examples
        --------
        >>> CrowdData.from_triples([(1, "ann", "yes"), (2, "ann", "no")], gold={1: "yes"}).n_gold
        1
        """
        items = codes_by_name(str(triple[0]) for triple in triples)
        workers = codes_by_name(str(triple[1]) for triple in triples)
        labels = [str(triple[2]) for triple in triples]
        answers = [str(value) for value in (gold or {}).values()]
        names = tuple(classes) if classes is not None else natural_order({*labels, *answers})
        code = {name: index for index, name in enumerate(names)}
        if missing := [name for name in [*labels, *answers] if name not in code]:
            raise DataError(f"The label {missing[0]!r} is not one of the classes {list(names)}")
        gold_codes = np.full(len(items), UNKNOWN, np.int32) if gold else None
        for name, answer in (gold or {}).items():
            if gold_codes is not None and str(name) in items:
                gold_codes[items[str(name)]] = code[str(answer)]
        return cls(
            item=np.array([items[str(triple[0])] for triple in triples], np.int32),
            worker=np.array([workers[str(triple[1])] for triple in triples], np.int32),
            label=np.array([code[name] for name in labels], np.int32),
            items=tuple(items),
            workers=tuple(workers),
            classes=names,
            gold=gold_codes,
        )

    @property
    def n_labels(self) -> int:
        """L, the number of labels."""
        return len(self.item)

    @property
    def n_items(self) -> int:
        """N, the number of items."""
        return len(self.items)

    @property
    def n_workers(self) -> int:
        """W, the number of workers."""
        return len(self.workers)

    @property
    def n_classes(self) -> int:
        """K, the number of classes."""
        return len(self.classes)

    @property
    def n_gold(self) -> int:
        """How many items have a known answer."""
        return int(self.has_gold.sum())

    @property
    def n_features(self) -> int:
        """How many numbers describe an item; 0 without features."""
        return 0 if self.features is None else math.prod(self.features.shape[1:])

    @property
    def has_gold(self) -> NDArray[np.bool_]:
        """Which items have a known answer [N]."""
        if self.gold is None:
            return np.zeros(self.n_items, bool)
        is_number = "gold" in NUMBERS.get(self.kind, ())
        return np.asarray(~np.isnan(self.gold) if is_number else self.gold != UNKNOWN, bool)

    @cached_property
    def labels_per_item(self) -> NDArray[np.int64]:
        """The number of labels of each item [N]; a comparison counts for both of its items."""
        first = self._count(self.n_items, lambda chunk: self.item[chunk])
        other = self.other
        if other is None:
            return first
        return first + self._count(self.n_items, lambda chunk: other[chunk])

    @cached_property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """The number of labels of each worker [W]."""
        return self._count(self.n_workers, lambda chunk: self.worker[chunk])

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """How often each item [N] got each class [K]."""
        if self.kind not in ("classes", "sequences"):
            raise DataError(f"Labels that are {self.kind} are not one class each to be counted")
        counts = self._count(
            self.n_items * self.n_classes,
            lambda chunk: self.item[chunk] * np.intp(self.n_classes) + self.label[chunk],
        )
        return counts.reshape(self.n_items, self.n_classes)

    def _count(self, size: int, codes: Callable[[slice], NDArray[np.integer]]) -> NDArray[np.int64]:
        """Count how often each code occurs; `codes` gives those of some labels at a time.

        Numpy needs 64-bit copies of what it counts, and a large one costs more than the counting.
        """
        total = np.zeros(size, np.int64)
        for start in range(0, self.n_labels, LABELS_PER_CHUNK):
            chunk = slice(start, start + LABELS_PER_CHUNK)
            np.add.at(total, codes(chunk).astype(np.intp, copy=False), 1)
        return total

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of everything that can change a result, in hexadecimal."""
        digest = hashlib.sha256(self.kind.encode())
        for names in (self.items, self.workers, self.classes, self.feature_names):
            digest.update(f"\x1d{len(names)}\x1d".encode())
            digest.update("\x1f".join(names).encode("utf-8", "surrogatepass"))
        arrays = (self.item, self.worker, self.label, self.gold, self.features, self.time)
        for array in (*arrays, self.offsets):
            digest.update(b"\x1d" if array is None else np.ascontiguousarray(array).data)
        for name, values in sorted(self.details.items()):
            digest.update(f"\x1d{name}\x1d".encode())
            digest.update("\x1f".join(values).encode("utf-8", "surrogatepass"))
        if self.features is not None and self.features.ndim > TABLE_DIMENSIONS:
            digest.update(f"\x1d{self.features.shape}".encode())
        if self.recipe is not None:
            digest.update(f"\x1d{self.recipe.fingerprint}".encode())
        if self.duration is not None:  # data without durations keep the fingerprint they had
            digest.update(b"\x1dduration")
            digest.update(self.duration.data)
        for array in (self.other, self.sets):
            if array is not None:
                digest.update(b"\x1d" + array.tobytes())
        return digest.hexdigest()

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """What the codes of labels stand for: classes, or sets of them as JSON lists."""
        if self.sets is None:
            return self.classes
        names = np.array(self.classes, dtype=object)
        return tuple(json.dumps(names[row].tolist(), ensure_ascii=False) for row in self.sets)

    def class_names(self, codes: NDArray[Any], unknown: str = "") -> NDArray[np.object_]:
        """Return the names of class codes, or of sets of classes as JSON lists.

        Parameters
        ----------
        codes
            Codes of labels, or UNKNOWN, in any shape.
        unknown
            What stands for UNKNOWN.

        Returns
        -------
        numpy.ndarray
            The names, in the shape of the codes.
        """
        names = np.array([*self.answers, unknown], dtype=object)
        named: NDArray[np.object_] = names[np.asarray(codes)]  # UNKNOWN, -1, is the last
        return named

    def only(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> CrowdData:
        """Keep some labels; items, workers and classes stay as they are.

        Parameters
        ----------
        keep
            Which labels to keep: a mask [L], or positions in their new order.

        Returns
        -------
        CrowdData
            Data with the same codes and names.
        """
        return replace(
            self,
            item=self.item[keep],
            worker=self.worker[keep],
            label=self.label[keep],
            other=None if self.other is None else self.other[keep],
            time=None if self.time is None else self.time[keep],
            duration=None if self.duration is None else self.duration[keep],
            row=None if self.row is None else self.row[keep],
        )

    def without_workers(self, names: Sequence[str]) -> CrowdData:
        """Leave out every label of some workers; the workers keep their codes.

        Parameters
        ----------
        names
            The workers to leave out.

        Returns
        -------
        CrowdData
            Data with the same codes and names.

        Raises
        ------
        DataError
            If there is no worker of such a name.
        """
        if unknown := sorted(set(names) - set(self.workers)):
            raise DataError(f"There is no worker called {unknown[0]!r}")
        is_left_out = np.isin(np.array(self.workers, dtype=object), list(names))
        return self.only(~is_left_out[self.worker])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to; the caller's own array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view
