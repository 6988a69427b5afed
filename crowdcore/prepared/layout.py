"""What a prepared folder holds: a manifest, the workers, and a folder for each bucket of items.

Every item belongs to one bucket, by a hash of its name, so a bucket is a random sample of the
items with all of their labels. How many there are depends on the labels alone, and not on how
many processes prepare or read them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError, Kind
from crowdcore.reading.labels.health import HealthReport

MANIFEST, WORKERS, PLAN = "manifest.json", "workers.parquet", "plan.json"
ITEMS, BY_ITEM, BY_KEY, KEYS, KEY_SIZES, BUCKET = (
    "items.parquet",
    "by_item.npy",
    "by_key.npy",
    "keys.npy",
    "key_sizes.npy",
    "bucket.json",
)
FORMAT_VERSION = 1

LABELS_PER_BUCKET = 4_000_000
MIN_BUCKETS, MAX_BUCKETS = 8, 4096

_MULTIPLIER = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MAX_NAME_POWERS = 4096


def n_buckets_for(n_rows: int) -> int:
    """Say how many buckets so many rows are shared out to: a power of two."""
    wanted = -(-n_rows // LABELS_PER_BUCKET)
    return min(MAX_BUCKETS, max(MIN_BUCKETS, 1 << max(0, wanted - 1).bit_length()))


def bucket_of(names: Any, n_buckets: int) -> NDArray[np.int64]:
    """Share names out to buckets, in the same way on every machine.

    Parameters
    ----------
    names
        A pyarrow array of strings without nulls.
    n_buckets
        A power of two.

    Returns
    -------
    numpy.ndarray
        The bucket of each name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> bucket_of(pa.array(["task 1", "task 2", "task 1"]), 8).tolist()
    [2, 0, 2]
    """
    import pyarrow as pa

    names = names.cast(pa.large_string())
    _, offset_buffer, data_buffer = names.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[names.offset :][: len(names) + 1]
    sizes = np.diff(offsets)
    if not len(names) or not offsets[-1] - offsets[0]:
        return np.zeros(len(names), np.int64)
    text = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]].astype(np.uint64)
    # A polynomial in the bytes of each name; what follows the 4,096th byte shares a power.
    powers = np.full(_MAX_NAME_POWERS, _MULTIPLIER).cumprod(dtype=np.uint64)
    place = np.arange(len(text)) - np.repeat(offsets[:-1] - offsets[0], sizes)
    text += np.uint64(1)
    text *= powers[np.minimum(place, _MAX_NAME_POWERS - 1)]
    hashes = np.zeros(len(names), np.uint64)
    filled = np.flatnonzero(sizes)
    hashes[filled] = np.add.reduceat(text, (offsets[:-1] - offsets[0])[filled])
    hashes ^= hashes >> np.uint64(29)
    hashes *= _MIX
    return (hashes >> np.uint64(32)).astype(np.int64) % n_buckets


@dataclass(frozen=True, kw_only=True)
class BucketSizes:
    """How much one bucket holds, and the SHA-256 of its codes and names."""

    n_items: int
    n_labels: int
    n_gold: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a prepared folder holds, as its `manifest.json` says.

    Parameters
    ----------
    kind
        "classes" or "ratings".
    classes
        The names behind the codes of labels; of ratings, the numbers as they were written.
    n_workers
        How many workers there are.
    buckets
        The sizes of each bucket.
    report
        The health report, as `HealthReport.to_json` gives it.
    sources
        The files that were read.
    fingerprint
        A SHA-256 of everything that can change a result.
    """

    kind: Kind
    classes: tuple[str, ...]
    n_workers: int
    buckets: tuple[BucketSizes, ...]
    report: Mapping[str, Any]
    sources: tuple[str, ...]
    fingerprint: str
    version: int = FORMAT_VERSION
    values: tuple[float, ...] = field(default=())

    @property
    def n_labels(self) -> int:
        """Labels of all buckets."""
        return sum(bucket.n_labels for bucket in self.buckets)

    @property
    def n_items(self) -> int:
        """Items of all buckets."""
        return sum(bucket.n_items for bucket in self.buckets)

    @property
    def n_gold(self) -> int:
        """Items of all buckets whose answer is known."""
        return sum(bucket.n_gold for bucket in self.buckets)

    @property
    def n_classes(self) -> int:
        """K, the number of classes; 0 for ratings, as of `CrowdData`."""
        return len(self.classes) if self.kind == "classes" else 0

    @property
    def features(self) -> None:
        """A prepared folder holds no features."""
        return

    def to_json(self) -> str:
        """Return the text of `manifest.json`."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Make a manifest of what `to_json` gave."""
        plain = json.loads(text)
        plain["buckets"] = tuple(BucketSizes(**bucket) for bucket in plain["buckets"])
        for name in ("classes", "sources", "values"):
            plain[name] = tuple(plain[name])
        return cls(**plain)


class PreparedFolder:
    """A folder that `crowdcore prepare` wrote.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    DataError
        If it is no prepared folder, unfinished, or of a later version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.manifest = Manifest.from_json((path / MANIFEST).read_text(encoding="utf-8"))
        except OSError:
            unfinished = (path / PLAN).exists()
            raise DataError(
                f"{str(path)!r} is not prepared to its end"
                if unfinished
                else f"There is no {MANIFEST} in {str(path)!r}",
                fix="Give the same `crowdcore prepare` again: it goes on where it stopped."
                if unfinished
                else "Give a folder that `crowdcore prepare` wrote.",
            ) from None
        except (ValueError, TypeError, KeyError):
            raise DataError(
                f"The {MANIFEST} in {str(path)!r} cannot be read by this version",
                fix="Prepare the labels anew.",
            ) from None

    @cached_property
    def report(self) -> HealthReport:
        """What was found in the files, and done about it."""
        return HealthReport.from_json(self.manifest.report)

    @cached_property
    def workers(self) -> tuple[str, ...]:
        """The names of the workers, in the order of their codes."""
        return tuple(self._worker_table.column("worker").to_pylist())

    @cached_property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """How many labels each worker gave [W], over all buckets."""
        return np.asarray(self._worker_table.column("n_labels").to_numpy(), np.int64)

    @cached_property
    def _worker_table(self) -> Any:
        import pyarrow.parquet as pq

        return pq.read_table(self.path / WORKERS)

    def bucket(self, number: int) -> Path:
        """Return the folder of a bucket."""
        return bucket_path(self.path, number)

    def share(self, rank: int, n_parts: int) -> list[int]:
        """Return the buckets of one of several parts: every n-th, whatever their sizes are."""
        return list(range(rank, len(self.manifest.buckets), n_parts))

    def sample(self, max_labels: int) -> list[int]:
        """Return the first buckets that hold at most so many labels; at least one.

        A bucket is a random sample of the items, so these are, too.
        """
        sizes = np.cumsum([bucket.n_labels for bucket in self.manifest.buckets])
        return list(range(max(1, int(np.searchsorted(sizes, max_labels, side="right")))))


def bucket_path(folder: Path, number: int) -> Path:
    """Return the folder of a bucket of a prepared folder."""
    return folder / f"bucket={number:04d}"


def items_before(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return where each bucket's items begin, and the last one's end."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))])
