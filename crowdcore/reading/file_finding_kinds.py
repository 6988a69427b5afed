"""Kinds of findings about the file itself, before any label is looked at."""

from __future__ import annotations

from crowdcore.reading.finding_kind import FindingKind

FILE_FINDINGS: tuple[FindingKind, ...] = (
    FindingKind(
        id="roles",
        area="file",
        title="Columns whose role was guessed with doubt",
        meaning="The reader decides by names and values which column is the item, the worker and "
        "the label. Here other columns would have been possible, too; a wrong role makes every "
        "result wrong.",
        fix="Check the roles of the columns, and choose others where they are wrong.",
    ),
    FindingKind(
        id="open_quotes",
        area="file",
        title="Quotation marks that nothing closes",
        meaning="A cell begins with a quotation mark and does not end with one, so that it would "
        "swallow the lines below. The quotation mark is taken to end on its own line, and every "
        "line below is read as a row.",
        fix="Close these quotation marks in the file, and check these rows.",
    ),
    FindingKind(
        id="rows_in_cells",
        area="file",
        title="Cells that seem to hold whole rows",
        meaning="Between two quotation marks stand several lines, each with as many delimiters as "
        "a row. This is one long text, or two quotation marks are too many and hide rows.",
        fix="Read every line as a row.",
    ),
    FindingKind(
        id="missing_cells",
        area="file",
        title="Rows that end before the last column",
        meaning="Some platforms leave out the empty cells at the end of a row. Missing cells count "
        "as empty; a row that lacks its label because the file was cut off is left out as one "
        "without a label.",
    ),
    FindingKind(
        id="other_tables",
        area="file",
        title="Sheets or files that were not read",
        meaning="A workbook or an archive holds several tables. Those of one shape are put "
        "together; others, such as guidelines or a list of items, are left out.",
        fix="Give a table that is meant all the same on its own, or bring it to the same columns.",
    ),
    FindingKind(
        id="extra_rows",
        area="file",
        title="Rows that are no data",
        meaning="Survey tools write several rows of headers, files that were put below each other "
        "repeat theirs, and spreadsheets end with a total. Such rows are no answers.",
        fix="Look whether one of them is an answer after all; then take the word out of its row.",
    ),
    FindingKind(
        id="questions",
        area="file",
        title="Further questions in the file",
        meaning="The workers answered several questions about each item. One of them is read; "
        "the others can be read in the same way, each as a data set of its own.",
        fix="Choose another question, if that is the one that is meant.",
    ),
)
"""Findings about roles, rows and cells, in the order of reading."""
