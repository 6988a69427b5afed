"""Files of the sample projects: labels, truths, workers, descriptions, pictures."""

from __future__ import annotations

import base64
import csv
import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.simulation.classes import Simulation


def write_long(
    folder: Path, crowd: Simulation, *, items: list[str], classes: list[str], gold_share: float
) -> None:
    """Write a crowd as one row per label, with its truths, gold and workers."""
    folder.mkdir(parents=True, exist_ok=True)
    data = crowd.data
    order = np.random.default_rng(1).permutation(data.n_labels)  # as they came in
    codes = zip(data.item[order], data.worker[order], data.label[order], strict=True)
    rows = [[items[i], data.workers[w], classes[k]] for i, w, k in codes]
    write(folder / "labels.csv", ["item", "worker", "label"], rows)
    write_answers(folder, items, [classes[code] for code in crowd.truth], gold_share)
    write_workers(folder, crowd, data.workers)


def write_answers(folder: Path, items: list[str], truth: list[str], gold_share: float) -> None:
    """Write the truth of every item for checking, and a random part of it as gold."""
    rows = [list(row) for row in zip(items, truth, strict=True)]
    write(folder / "truth.csv", ["item", "truth"], rows)
    rng = np.random.default_rng(2)
    gold = np.sort(rng.choice(len(rows), size=round(gold_share * len(rows)), replace=False))
    write(folder / "gold.csv", ["item", "gold"], [rows[index] for index in gold])


def write_workers(folder: Path, crowd: Simulation, workers: Sequence[str]) -> None:
    """Write who the simulated workers are."""
    copied = [workers[code] if code >= 0 else "" for code in crowd.copied_from]
    rows = zip(workers, crowd.character, copied, strict=True)
    write(folder / "workers.csv", ["worker", "character", "copied_from"], rows)


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def describe(folder: Path, **facts: str | None) -> None:
    """Write what a project is called and about."""
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    (folder / "project.json").write_text(text, encoding="utf-8")


def png(pixels: NDArray[np.float64], scale: int = 4) -> str:
    """A data URI of an 8 × 8 picture of values 0 to 16, dark on light, enlarged."""
    shade = 15 - np.rint(pixels.reshape(8, 8) * 15 / 16).astype(np.uint8)
    large = np.kron(shade, np.ones((scale, scale), np.uint8))
    side = len(large)
    packed = (large[:, ::2] << 4 | large[:, 1::2]).astype(np.uint8)  # two pixels per byte
    lines = b"".join(b"\0" + line.tobytes() for line in packed)
    # Stored, not compressed: the bytes then do not depend on the machine's zlib.
    size = struct.pack("<HH", len(lines), len(lines) ^ 0xFFFF)
    stream = b"\x78\x01\x01" + size + lines + struct.pack(">I", zlib.adler32(lines))
    header = struct.pack(">IIBBBBB", side, side, 4, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", stream), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(content)) + kind + content
        + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )  # fmt: skip
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()
