"""Original: the file that labels were read from, kept so that results can go back into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from crowdcore.data import Codes
from crowdcore.reading.parsing.source import Content

_COMPRESSION = "zstd"


@dataclass(frozen=True, kw_only=True)
class TextLayout:
    """How a delimited text is cut into rows and cells.

    Parameters
    ----------
    encoding
        The name of its encoding, as Python knows it.
    delimiter
        What stands between cells.
    n_columns
        Cells of the first row, also nameless ones.
    n_skipped_lines
        Lines before the first row.
    header
        Whether the first row names the columns.
    """

    encoding: str
    delimiter: str
    n_columns: int
    n_skipped_lines: int = 0
    header: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Original:
    """A file as it was given, and which item each of its rows is about.

    Parameters
    ----------
    name
        The file's name.
    columns
        The names of its columns.
    item
        The code of the item of each row [rows]; UNKNOWN for a row of an item without labels.
        None where rows are not about items.
    layout
        How the file is cut into rows, where it is a delimited text.
    source
        The bytes, or the path of a file that `save` wrote.
    """

    name: str
    columns: tuple[str, ...]
    item: Codes | None
    source: Content | Path
    layout: TextLayout | None = None

    def content(self) -> Content:
        """Return the bytes of the file; read anew from disk where they are kept there."""
        if isinstance(self.source, Content):
            return self.source
        with pa.input_stream(str(self.source), compression=_COMPRESSION) as stream:
            return Content(name=self.name, buffer=pa.py_buffer(stream.read()))

    @property
    def n_bytes(self) -> int:
        """How large the file is; compressed, where it is kept on disk."""
        if isinstance(self.source, Content):
            return int(self.source.buffer.size)
        return self.source.stat().st_size

    def save(self, path: Path) -> None:
        """Write the bytes of the file, compressed.

        Parameters
        ----------
        path
            Where to; an existing file is replaced.
        """
        if isinstance(self.source, Path):
            path.write_bytes(self.source.read_bytes())
            return
        with pa.output_stream(str(path), compression=_COMPRESSION) as stream:
            for block in self.source.blocks():
                stream.write(block)

    def to_json(self) -> dict[str, Any]:
        """Return name, columns and layout as plain JSON values."""
        layout = None if self.layout is None else asdict(self.layout)
        return {"name": self.name, "columns": list(self.columns), "layout": layout}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], path: Path, item: Codes | None) -> Original:
        """Make an original of what `to_json` gave and a file that `save` wrote.

        Parameters
        ----------
        plain
            What `to_json` gave.
        path
            The file that `save` wrote.
        item
            The code of the item of each row [rows].

        Returns
        -------
        Original
        """
        layout = None if plain["layout"] is None else TextLayout(**plain["layout"])
        columns = tuple(plain["columns"])
        return cls(name=plain["name"], columns=columns, item=item, source=path, layout=layout)
