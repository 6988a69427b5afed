"""CVAT for images (XML): the tags of each picture; boxes and masks are told as such."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pyarrow as pa

from crowdcore.data import DataError
from crowdcore.reading.parsing.formats import Format, ParseOptions
from crowdcore.reading.parsing.source import Content
from crowdcore.reading.parsing.table import Table

_ROOT = b"<annotations"


def _matches(content: Content) -> float:
    start = content.head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return float(start.startswith((b"<?xml", _ROOT)) and _ROOT in content.head)


def _read(content: Content, options: ParseOptions) -> Table:
    del options  # XML has no header line
    try:
        root = ElementTree.fromstring(content.all())
    except ElementTree.ParseError as error:
        raise DataError(
            f"The XML is not valid: {error}", file=content.name, fix="Export the job again."
        ) from None
    name = root.findtext("meta/job/assignee/username") or root.findtext(
        "meta/task/assignee/username"
    )
    rows = []
    for image in root.iter("image"):
        tags = [tag.get("label", "") for tag in image.iter("tag")]
        shapes = [
            {"shape": part.tag, "label": part.get("label"), "x": part.get("xtl")}
            for part in image
            if part.tag != "tag"
        ]
        answer = "\n".join(tags) if tags or not shapes else json.dumps(shapes)
        rows.append((image.get("name") or image.get("id") or "", name or "", answer))
    if not rows:
        fix = "Export the job as 'CVAT for images 1.1'."
        raise DataError("There is no image in the XML", file=content.name, fix=fix)
    columns = dict(zip(("image", "annotator", "label"), zip(*rows, strict=True), strict=True))
    if not name:
        del columns["annotator"]
    data = {column: pa.array(cells, pa.string()) for column, cells in columns.items()}
    return Table(name=content.name, data=pa.table(data), description="Read as CVAT's XML.")


FORMAT = Format(title="CVAT for images (XML)", matches=_matches, read=_read)
