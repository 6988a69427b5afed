"""open_table: a file of any known format in, a table of text out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crowdcore.data import DataError
from crowdcore.reading.parsing.combined import combine
from crowdcore.reading.parsing.encoding import binary_error
from crowdcore.reading.parsing.extra_rows import without_extra_rows
from crowdcore.reading.parsing.formats import ParseOptions, find_format
from crowdcore.reading.parsing.formats.archive import read_member
from crowdcore.reading.parsing.lists_in_cells import with_row_per_answer
from crowdcore.reading.parsing.source import Source, is_folder, load
from crowdcore.reading.parsing.table import Table

_INCOMPLETE = "Check that the export is complete."


def open_table(
    source: Source | Table, *, name: str | None = None, header: bool | None = None
) -> Table:
    r"""Parse a file of any known format: CSV, TSV, JSON, Parquet, Excel, a zip or folder of such.

    Parameters
    ----------
    source
        A path of a file or folder, bytes, an open binary file, or a table, which is returned as
        it is.
    name
        The file's name for messages; that of the source unless given.
    header
        Whether the first line names the columns; decided by its cells unless given.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file is empty, damaged, or not a table.

    Examples
    --------
    >>> table = open_table(b"task,worker,label\nt1,w1,cat\nt1,w2,dog\n")
    >>> table.columns
    ('task', 'worker', 'label')
    """
    if isinstance(source, Table):
        return source
    if is_folder(source):
        return _open_folder(Path(str(source)), ParseOptions(header=header))
    content = load(source, name)
    file_format = find_format(content)
    if file_format is None:
        raise binary_error(content)
    table = file_format.read(content, ParseOptions(header=header))
    if not table.columns:
        message = "There is neither a name nor a cell in the file"
        raise DataError(message, file=table.name, fix=_INCOMPLETE)
    if not table.n_rows:
        below = "below the header" if table.header else "in the file"
        raise DataError(f"There is no row {below}", file=table.name, fix=_INCOMPLETE)
    table = table if table.content is not None else replace(table, content=content)
    return with_row_per_answer(without_extra_rows(table))


def _open_folder(folder: Path, options: ParseOptions) -> Table:
    """Put the tables of a folder together, as those of a zip."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not _is_hidden(path))
    contents = [(path, load(path)) for path in paths if path.stat().st_size]
    read: list[tuple[str, Table]] = []
    faults: list[tuple[str, DataError]] = []
    for path, content in contents:
        try:
            table = read_member(content, options)
        except DataError as error:
            faults.append((path.name, error))
            continue
        read += [] if table is None else [(path.stem, table)]
    return combine(read, name=folder.name, noun="file", faults=faults)


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")
