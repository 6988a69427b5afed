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
    for names in _BOXES:
        if all(name in plain and _are_positions(measures, plain[name]) for name in names):
            return "boxes"
    return "spans" if _spans(measures, plain, item) else ""


def _spans(measures: Measures, plain: Mapping[str, str], item: set[str]) -> bool:
    starts = [plain[name] for name in plain if name in _STARTS]
    ends = [plain[name] for name in plain if name in _ENDS]
    if not starts or not ends or item & {starts[0], ends[0]}:
        return False
    return _are_positions(measures, starts[0]) and _are_positions(measures, ends[0])


def _are_positions(measures: Measures, column: str) -> bool:
    numbers = numbers_of(measures.facts(column).values)
    return numbers is not None and len(set(numbers)) > 1 and 0 <= max(numbers) < _MAX_POSITION
