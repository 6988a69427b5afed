"""Kinds of findings about the features of items."""

from __future__ import annotations

from crowdcore.reading.finding_kind import FindingKind

FEATURE_FINDINGS: tuple[FindingKind, ...] = (
    FindingKind(
        id="features_by_order",
        area="features",
        title="Features without ids",
        meaning="The file of features does not say which row belongs to which item. The rows are "
        "taken to be in the order in which the items first appear.",
        fix="Give an NPZ with the item ids in 'item' and the features in 'x', to be sure.",
    ),
    FindingKind(
        id="items_without_features",
        area="features",
        title="Items without features",
        meaning="Methods that learn from features know nothing about these items but their labels.",
        fix="Add their features to the file.",
    ),
    FindingKind(
        id="features_without_labels",
        area="features",
        title="Items in the features that nobody labelled",
        meaning="Features of items that are not among the labels are left out; perhaps their ids "
        "are spelled differently.",
        fix="Check the spelling of the ids.",
    ),
    FindingKind(
        id="features_categories",
        area="features",
        title="Columns of features with few values",
        meaning="Each value of such a column becomes a number that is 1 or 0; for a blank cell "
        "all are 0.",
    ),
    FindingKind(
        id="features_texts",
        area="features",
        title="Columns of features that are text",
        meaning="Texts are weighed by their words and pairs of words (TF-IDF) and reduced to the "
        "main directions; a blank text is all zeros.",
    ),
    FindingKind(
        id="features_left_out",
        area="features",
        title="Columns that cannot be features",
        meaning="A column that is the same for every item, or blank, or a text of which no word "
        "occurs twice, says nothing. It is left out.",
    ),
    FindingKind(
        id="features_new_values",
        area="features",
        title="Columns with values that were not there to learn from",
        meaning="A classifier asked about new items meets values that it has never seen. They "
        "count as blank.",
    ),
    FindingKind(
        id="features_pictures",
        area="features",
        title="Pictures that became features",
        meaning="Of each picture the middle square is brought to one size, in colour or, where "
        "no picture has a colour, in grey.",
    ),
    FindingKind(
        id="features_damaged",
        area="features",
        title="Pictures that cannot be read",
        meaning="A picture is damaged, too large, or in another format than its name says. It is "
        "left out, and its item has no features.",
        fix="Save them as PNG or JPEG again.",
    ),
    FindingKind(
        id="features_other_files",
        area="features",
        title="Files that are no pictures",
        meaning="The folder or zip holds other files beside the pictures. They are left out.",
    ),
    FindingKind(
        id="features_turned_grey",
        area="features",
        title="Pictures in colour",
        meaning="A classifier that learnt from grey pictures is asked about pictures in colour. "
        "They are turned to grey.",
    ),
)
"""Findings about tables, arrays and pictures of features."""
