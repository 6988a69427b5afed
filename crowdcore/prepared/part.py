"""PreparedPart: some buckets of a prepared folder, as data that methods and tables take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData
from crowdcore.prepared.layout import BY_ITEM, ITEMS, PreparedFolder, items_before


class ItemNames(Sequence[str]):
    """Names of items as Arrow text; one becomes a Python string when it is asked for.

    Parameters
    ----------
    names
        A pyarrow chunked array of strings.
    """

    def __init__(self, names: Any) -> None:
        self.arrow = names

    def __len__(self) -> int:
        return len(self.arrow)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        """Return one name, or some."""
        if isinstance(at, slice):
            return list(self.arrow[at].to_pylist())
        return str(self.arrow[int(at)].as_py())

    def __iter__(self) -> Iterator[str]:
        """Go through the names, a chunk at a time."""
        for chunk in self.arrow.chunks:
            yield from chunk.to_pylist()


class PreparedPart(CrowdData):
    """The labels of some buckets; codes of items are their places in these, one after the other.

    Sizes are this part's own; the workers and classes are those of all labels.

    Parameters
    ----------
    folder
        The prepared folder.
    buckets
        Numbers of the buckets, in their order.
    """

    def __init__(self, folder: PreparedFolder, buckets: Sequence[int]) -> None:
        manifest = folder.manifest
        sizes = [manifest.buckets[number] for number in buckets]
        own = {
            "folder": folder,
            "buckets": tuple(buckets),
            "kind": manifest.kind,
            "classes": manifest.classes if manifest.kind == "classes" else (),
            "n_codes": len(manifest.classes),
            "workers": folder.workers,
            "report": folder.report,
            "details": {},
            "bucket_starts": items_before([bucket.n_items for bucket in sizes]),
            "_n_labels": sum(bucket.n_labels for bucket in sizes),
        }
        self.__dict__.update(own)  # frozen, as all data are

    folder: PreparedFolder
    buckets: tuple[int, ...]
    bucket_starts: NDArray[np.int64]
    n_codes: int
    _n_labels: int

    @property
    def n_labels(self) -> int:
        """Labels of this part."""
        return self._n_labels

    @property
    def n_items(self) -> int:
        """Items of this part."""
        return int(self.bucket_starts[-1])

    @property
    def fingerprint(self) -> str:
        """That of all labels, as the manifest has it."""
        return self.folder.manifest.fingerprint

    @cached_property
    def items(self) -> ItemNames:  # type: ignore[override]
        """The names of the items."""
        return ItemNames(self._item_column("item"))

    @cached_property
    def labels_per_item(self) -> NDArray[np.int64]:
        """The number of labels of each item [N]."""
        return np.asarray(self._item_column("n_labels").to_numpy(), np.int64)

    @cached_property
    def gold(self) -> NDArray[Any] | None:
        """The known answers [N], as codes or values; None where there is none in any bucket."""
        if not self.folder.manifest.n_gold:
            return None
        codes = np.asarray(self._item_column("gold").to_numpy())
        return np.append(self._values, np.nan)[codes] if self.kind == "ratings" else codes

    def keys(self) -> NDArray[np.int32]:
        """Return worker * K + class of each label [L], in the order of the items."""
        paths = [self.folder.bucket(number) / BY_ITEM for number in self.buckets]
        if not paths:
            return np.zeros(0, np.int32)
        return np.concatenate([np.load(path, mmap_mode="r") for path in paths])

    @cached_property
    def item(self) -> NDArray[Any]:
        """Codes of the items [L], in their order."""
        return np.repeat(np.arange(self.n_items, dtype=np.int32), self.labels_per_item)

    @cached_property
    def worker(self) -> NDArray[Any]:
        """Codes of the workers [L], in the order of the items."""
        return self.keys() // np.int32(self.n_codes)

    @cached_property
    def label(self) -> NDArray[Any]:
        """Codes of the classes, or values of ratings [L], in the order of the items."""
        codes = self.keys() % np.int32(self.n_codes)
        return self._values[codes] if self.kind == "ratings" else codes

    def in_memory(self) -> CrowdData:
        """Return the labels of this part as plain data, which hold everything in memory."""
        data = CrowdData(
            item=self.item,
            worker=self.worker,
            label=self.label,
            items=tuple(self.items),
            workers=self.workers,
            classes=self.classes,
            kind=self.kind,
            gold=self.gold,
            report=self.report,
        )
        vars(data)["fingerprint"] = self.fingerprint  # they stand for all labels
        return data

    @property
    def _values(self) -> NDArray[np.float64]:
        return np.array(self.folder.manifest.values)

    def _item_column(self, name: str) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {"item": pa.string(), "n_labels": pa.int32(), "gold": pa.int32()}
        chunks = []
        for number in self.buckets:
            table = pq.read_table(self.folder.bucket(number) / ITEMS, columns=[name])
            chunks += table.column(name).chunks
        return pa.chunked_array(chunks, types[name])
