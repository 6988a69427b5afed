"""CrowdData: who said what of which item, as codes and names."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["classes", "ratings", "sequences"]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]

UNKNOWN = -1
"""The code of an answer that is not known: no gold, or no decided truth."""

COUNTED_AT_ONCE = 65_536

FLAT, PICTURES = 2, 4
"""Dimensions of features: items × numbers, or items × channels × height × width."""


class DataError(ValueError):
    """Input that cannot be used: what is wrong, where, and what to do about it."""

    def __init__(
        self,
        what: str,
        *,
        file: str | None = None,
        column: str | None = None,
        row: int | None = None,
        fix: str | None = None,
    ) -> None:
        self.what, self.file, self.column, self.row, self.fix = what, file, column, row, fix
        place = [f"file {file}"] if file else []
        place += [f"column {column!r}"] if column is not None else []
        place += [f"row {row}"] if row is not None else []
        sentence = what.rstrip(".") + (f" ({', '.join(place)})" if place else "") + "."
        super().__init__(sentence + (f" {fix}" if fix else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        places = {"file": self.file, "column": self.column, "row": self.row, "fix": self.fix}
        return _rebuild_error, (self.what, places)


def _rebuild_error(what: str, places: dict[str, Any]) -> DataError:
    return DataError(what, **places)


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdData:
    """Labels of a crowd; three parallel arrays of codes, and the names behind the codes.

    `label` holds class codes, or the values themselves where `kind` is "ratings". For
    sequences the items are tokens and `offsets` says where each sentence starts.
    """

    item: NDArray[Any]  # [L]
    worker: NDArray[Any]  # [L]
    label: NDArray[Any]  # [L] codes; float64 values where kind is ratings
    items: tuple[str, ...]
    workers: tuple[str, ...]
    classes: tuple[str, ...] = ()
    kind: Kind = "classes"
    gold: NDArray[Any] | None = None  # [N]; UNKNOWN (NaN for ratings) where there is none
    features: NDArray[np.float32] | None = None  # [N, D] or [N, C, H, W]; NaN where none
    feature_names: tuple[str, ...] = ()
    recipe: Any = None
    """The `FeatureRecipe` by which new items get such features; None where they came finished."""
    time: Floats | None = None  # [L] seconds since the epoch; NaN where unknown
    offsets: NDArray[np.int64] | None = None  # [S + 1]
    details: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # name -> [N] text
    report: Any = None
    """The health report that the reader made; stored with the data."""

    def __post_init__(self) -> None:
        for name in ("item", "worker", "label", "gold"):
            values = getattr(self, name)
            if values is None:
                continue
            if self.kind == "ratings" and name in ("label", "gold"):
                array: NDArray[Any] = np.ascontiguousarray(values, dtype=np.float64)
            else:
                array = _whole_numbers(name, values)
            object.__setattr__(self, name, _read_only(array))
        if self.features is not None:
            values = np.ascontiguousarray(self.features, dtype=np.float32)
            object.__setattr__(self, "features", _read_only(values))
        if self.time is not None:
            times = np.ascontiguousarray(self.time, dtype=np.float64)
            object.__setattr__(self, "time", _read_only(times))
        _check(self)

    @classmethod
    def from_triples(
        cls,
        triples: Sequence[tuple[Any, Any, Any]],
        *,
        classes: Sequence[str] | None = None,
        gold: Mapping[Any, Any] | None = None,
    ) -> CrowdData:
        """Build data from (item, worker, label) triples, with names in order of appearance."""
        items = _codes_of(str(triple[0]) for triple in triples)
        workers = _codes_of(str(triple[1]) for triple in triples)
        seen = [str(triple[2]) for triple in triples]
        answers = [str(value) for value in (gold or {}).values()]
        names = tuple(classes) if classes is not None else natural_order({*seen, *answers})
        code = {name: index for index, name in enumerate(names)}
        if missing := [name for name in [*seen, *answers] if name not in code]:
            raise DataError(f"The label {missing[0]!r} is not one of the classes {list(names)}")
        known = np.full(len(items), UNKNOWN, np.int32) if gold else None
        for name, answer in (gold or {}).items():
            if known is not None and str(name) in items:
                known[items[str(name)]] = code[str(answer)]
        return cls(
            item=np.array([items[str(triple[0])] for triple in triples], np.int32),
            worker=np.array([workers[str(triple[1])] for triple in triples], np.int32),
            label=np.array([code[name] for name in seen], np.int32),
            items=tuple(items),
            workers=tuple(workers),
            classes=names,
            gold=known,
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
        """Which items have a known answer."""
        if self.gold is None:
            return np.zeros(self.n_items, bool)
        known = ~np.isnan(self.gold) if self.kind == "ratings" else self.gold != UNKNOWN
        return np.asarray(known, bool)

    @cached_property
    def labels_per_item(self) -> NDArray[np.int64]:
        """The number of labels of each item."""
        return self._counted(self.n_items, lambda part: self.item[part])

    @cached_property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """The number of labels of each worker."""
        return self._counted(self.n_workers, lambda part: self.worker[part])

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """How often each item [N] got each class [K]."""
        if self.kind == "ratings":
            raise DataError("Ratings have no classes to count")
        counts = self._counted(
            self.n_items * self.n_classes,
            lambda part: self.item[part] * np.intp(self.n_classes) + self.label[part],
        )
        return counts.reshape(self.n_items, self.n_classes)

    def _counted(
        self, size: int, codes: Callable[[slice], NDArray[np.integer]]
    ) -> NDArray[np.int64]:
        """How often each of so many codes occurs, which are asked for some labels at a time.

        Numpy needs 64-bit copies of what it counts, and a large one costs more than the counting.
        """
        total = np.zeros(size, np.int64)
        for at in range(0, self.n_labels, COUNTED_AT_ONCE):
            np.add.at(total, codes(slice(at, at + COUNTED_AT_ONCE)).astype(np.intp, copy=False), 1)
        return total

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of everything that can change a result."""
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
        if self.features is not None and self.features.ndim > FLAT:
            digest.update(f"\x1d{self.features.shape}".encode())
        if self.recipe is not None:
            digest.update(f"\x1d{self.recipe.fingerprint}".encode())
        return digest.hexdigest()

    def only(self, keep: NDArray[np.bool_]) -> CrowdData:
        """Keep some labels; items, workers and classes stay as they are."""
        return replace(
            self,
            item=self.item[keep],
            worker=self.worker[keep],
            label=self.label[keep],
            time=None if self.time is None else self.time[keep],
        )

    def without_workers(self, names: Sequence[str]) -> CrowdData:
        """Leave out every label of the named workers."""
        if unknown := sorted(set(names) - set(self.workers)):
            raise DataError(f"There is no worker called {unknown[0]!r}")
        out = np.isin(np.array(self.workers, dtype=object), list(names))
        return self.only(~out[self.worker])


def natural_order(names: set[str] | Sequence[str]) -> tuple[str, ...]:
    """Order numbers by value and everything else by spelling."""

    def key(name: str) -> tuple[int, float, str]:
        try:
            value = float(name)
        except ValueError:
            return (1, 0.0, name)
        return (1, 0.0, name) if math.isnan(value) else (0, value, name)

    return tuple(sorted(set(names), key=key))


def _codes_of(names: Any) -> dict[str, int]:
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def _whole_numbers(name: str, values: NDArray[Any]) -> Codes:
    """Codes as 32-bit integers; anything that is not a whole number is refused, not cut."""
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"Codes must be whole numbers, not {array.dtype}", column=name)
    return np.ascontiguousarray(array, dtype=np.int32)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to; the caller's own array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def _check(data: CrowdData) -> None:
    if not len(data.item) == len(data.worker) == len(data.label):
        sizes = f"{len(data.item)}, {len(data.worker)} and {len(data.label)}"
        raise DataError(f"Items, workers and labels must be equally many; there are {sizes}")
    if not len(data.item):
        raise DataError("There is no label in the data", fix="Add rows of item, worker, label.")
    _check_codes("item", data.item, data.items)
    _check_codes("worker", data.worker, data.workers)
    if data.kind != "ratings":
        _check_codes("label", data.label, data.classes)
    elif not np.isfinite(data.label).all():
        raise DataError("A rating is not a finite number", column="label")
    if data.gold is not None and data.kind != "ratings" and len(data.gold):
        low, high = int(np.min(data.gold)), int(np.max(data.gold))
        if low < UNKNOWN or high >= data.n_classes:
            raise DataError("A gold answer is none of the classes", column="gold")
    _check_length("gold answers", data.gold, data.n_items, "items")
    _check_length("rows of features", data.features, data.n_items, "items")
    if data.features is not None and (
        data.features.ndim not in (FLAT, PICTURES) or not data.n_features
    ):
        raise DataError(
            f"The features have the shape {data.features.shape}",
            fix="Give [items, numbers], or pictures as [items, channels, height, width].",
        )
    _check_length("times", data.time, data.n_labels, "labels")
    for name, values in data.details.items():
        _check_length(f"details {name!r}", values, data.n_items, "items")


def _check_codes(name: str, codes: NDArray[Any], names: tuple[str, ...]) -> None:
    if int(codes.min()) < 0 or int(codes.max()) >= len(names):
        raise DataError(f"A code lies outside 0..{len(names) - 1}", column=name)
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise DataError(f"Two names are {twice!r}", column=name)


def _check_length(what: str, values: Sequence[str] | NDArray[Any] | None, n: int, of: str) -> None:
    if values is not None and len(values) != n:
        raise DataError(f"There are {len(values)} {what} for {n} {of}")
