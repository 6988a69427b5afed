"""Rows that mark a part of an item: a box in a picture, a passage of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from crowdcore.reading.candidates.kinds import numbers_of
from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.candidates.reading import Candidate
from crowdcore.reading.columns.names import vocabulary

_BOXES = (
    ("xmin", "ymin", "xmax", "ymax"),
    ("x1", "y1", "x2", "y2"),
    ("x", "y", "width", "height"),
    ("x", "y", "w", "h"),
    ("left", "top", "width", "height"),
    ("left", "top", "right", "bottom"),
    ("xtl", "ytl", "xbr", "ybr"),
    ("bboxx", "bboxy", "bboxwidth", "bboxheight"),
)
_STARTS = vocabulary("start begin startoffset startchar startpos startindex spanstart charstart")
_ENDS = vocabulary("end stop endoffset endchar endpos endindex spanend charend")
_DRAWN = vocabulary("bbox boundingbox segmentation polygon keypoints")
_MIN_COLUMNS = 4
_LOOKED_AT = 1000
_MAX_POSITION = 1_000_000
_NOT_ALNUM = re.compile(r"[^a-z0-9]")


def region_kind(measures: Measures, best: Candidate | None) -> str:
    """Say whether rows are boxes or spans rather than labels of whole items.

    Parameters
    ----------
    measures
        The table.
    best
        The best reading; where positions are part of what it takes for the item, as in a table of
        agreement, the passages are the items, and several workers judged each.

    Returns
    -------
    str
        "boxes", "spans", or empty.
    """
    plain = {_NOT_ALNUM.sub("", name.lower()): name for name in measures.profile.columns}
    item = set() if best is None or best.roles.item is None else set(best.roles.item.split(" + "))
    if any(name in plain for name in _DRAWN):
        return "boxes"
    for names in _BOXES:
        if all(name in plain and _are_positions(measures, plain[name]) for name in names):
            return "boxes"
    if _spans(measures, plain, item):
        return "spans"
    return "spans" if not measures.profile.table.header and _bare_spans(measures) else ""


def _bare_spans(measures: Measures) -> bool:
    """Whether the last two columns of a file without names say where something begins and ends.

    The second number is always larger, and rows lie about anywhere.
    """
    columns = measures.profile.columns[-2:]
    numbers = [[_number(text) for text in measures.profile.table.text(c).to_pylist()[:_LOOKED_AT]]
               for c in columns]  # fmt: skip
    pairs = [(a, b) for a, b in zip(*numbers, strict=True) if a is not None and b is not None]
    if len(measures.profile.columns) < _MIN_COLUMNS or len(pairs) < _MIN_COLUMNS:
        return False
    if len(pairs) < len(numbers[0]) or not all(a < b for a, b in pairs):
        return False
    if max(b for _, b in pairs) >= _MAX_POSITION:
        return False  # times
    spread = max(a for a, _ in pairs) > min(b for _, b in pairs)
    return spread and len(set(pairs)) > len(pairs) / 2


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _spans(measures: Measures, plain: Mapping[str, str], item: set[str]) -> bool:
    starts = [plain[name] for name in plain if name in _STARTS]
    ends = [plain[name] for name in plain if name in _ENDS]
    if not starts or not ends or item & {starts[0], ends[0]}:
        return False
    return _are_positions(measures, starts[0]) and _are_positions(measures, ends[0])


def _are_positions(measures: Measures, column: str) -> bool:
    numbers = numbers_of(measures.facts(column).values)
    return numbers is not None and len(set(numbers)) > 1 and 0 <= max(numbers) < _MAX_POSITION
