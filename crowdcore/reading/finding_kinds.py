"""Every kind of finding that a health report can hold, as data; the guide is made from it."""

from __future__ import annotations

from crowdcore.reading.features.finding_kinds import FEATURE_FINDINGS
from crowdcore.reading.file_finding_kinds import FILE_FINDINGS
from crowdcore.reading.finding_kind import FindingKind as FindingKind  # noqa: PLC0414  (also here)
from crowdcore.reading.sequences.finding_kinds import SPAN_FINDINGS

FEW_LABELS = 5
"""Workers with fewer labels are reported: nothing certain can be said about them."""


FINDINGS: tuple[FindingKind, ...] = (
    *FILE_FINDINGS,
    FindingKind(
        id="scale",
        area="labels",
        title="Answers that look like steps of a scale",
        meaning="The answers are numbers or words in an order, and workers who differ mostly "
        "differ by a step. Here they are read as classes without an order, for which 1 and 2 "
        "differ as much as 1 and 5.",
        fix="Keep in mind that near misses count as errors.",
    ),
    FindingKind(
        id="times",
        area="labels",
        title="Times that cannot be read",
        meaning="The time says which of a worker's several labels of one item came last. A time "
        "in an unknown form counts as unknown; the label is kept.",
        fix="Write times as 2024-03-09T22:16:08Z.",
    ),
    FindingKind(
        id="rejected",
        area="labels",
        title="Rows that the platform marks as rejected",
        meaning="Somebody has already refused this work on the platform. It is left out, so that "
        "known bad work does not count as an opinion.",
        fix="Keep them.",
    ),
    FindingKind(
        id="platform_tests",
        area="labels",
        title="Answers to test questions",
        meaning="The platform marks questions whose answer is known, to test workers with. They "
        "are often easier than others, and workers who notice take more care.",
        fix="Take their known answers as gold, if they are not.",
    ),
    FindingKind(
        id="trimmed_ids",
        area="labels",
        title="Blanks around ids",
        meaning="'w1 ' and 'w1' are nearly always the same worker. The blanks are cut off, and "
        "ids that become equal are one.",
        fix="Read the ids as they are.",
    ),
    FindingKind(
        id="pseudonyms",
        area="labels",
        title="Workers who are called by number",
        meaning="On request the ids of workers are replaced by numbers, in the order in which "
        "they appear. Neither the data nor the report then holds their ids.",
    ),
    FindingKind(
        id="missing_ids",
        area="labels",
        title="Rows without an item or a worker",
        meaning="A label that belongs to no item or to no worker cannot be used. Such rows are "
        "left out.",
        fix="Complete them in the file.",
    ),
    FindingKind(
        id="blank_rows",
        area="labels",
        title="Blank rows",
        meaning="Rows without item, worker and label, as spreadsheets leave them. They are left "
        "out.",
    ),
    FindingKind(
        id="empty_labels",
        area="labels",
        title="Empty labels",
        meaning="A worker saw the item and gave no answer. No answer is no label, so these rows "
        "are left out, unless an empty answer means something in your task.",
        fix="Keep them as a class of their own.",
    ),
    FindingKind(
        id="missing",
        area="labels",
        title="Labels that mean no answer",
        meaning="On request labels such as 'NA' are left out, because they mean that there is no "
        "answer.",
    ),
    FindingKind(
        id="spellings_applied",
        area="labels",
        title="Labels that were spelled anew",
        meaning="On request several spellings of one class were merged.",
    ),
    FindingKind(
        id="exact_duplicates",
        area="labels",
        title="Labels that are there twice",
        meaning="The same worker gave the same label to the same item more than once, often "
        "because a file was exported or joined twice. Each is kept once, so that nobody's opinion "
        "counts double.",
        fix="Keep every copy.",
    ),
    FindingKind(
        id="contradictions",
        area="labels",
        title="Workers who gave one item several labels",
        meaning="A worker changed their mind, or two people share one id. By default the last "
        "label counts, by time where the file has one. The number is that of worker and item "
        "pairs.",
        fix="Leave all of them out, or choose which to keep: all, the first or the last.",
    ),
    FindingKind(
        id="idle_workers",
        area="labels",
        title="Workers without a label",
        meaning="Every label of these workers was left out, or they gave none. Nothing can be "
        "said about them.",
    ),
    FindingKind(
        id="details_vary",
        area="labels",
        title="Details that differ within an item",
        meaning="A column that is kept to describe items has several texts for one item, so it "
        "is perhaps about the label or the worker. The text of the item's first row is kept.",
        fix="Leave these columns out of the details.",
    ),
    FindingKind(
        id="spellings",
        area="labels",
        title="Classes with nearly the same name",
        meaning="'cat' and 'Cat ' are probably one class, and a rare word that is one letter away "
        "from a frequent one is probably a slip. As two classes they split the votes. Nothing is "
        "merged unasked.",
        fix="Merge each of them into the more frequent spelling.",
    ),
    FindingKind(
        id="missing_marks",
        area="labels",
        title="Classes that may mean no answer",
        meaning="Labels such as 'NA', 'none' or, in a matrix, -1 often stand for a missing "
        "answer. As a class they would be inferred as truths.",
        fix="Leave these labels out, if they mean that there is no answer.",
    ),
    FindingKind(
        id="ratings",
        area="labels",
        title="Classes that may be ratings",
        meaning="The labels are numbers, or words of a usual scale, and near ones go together. "
        "They are treated as classes without an order, for which 4 and 5 differ as much as 1 and "
        "5. Numbers can be codes of classes, so nothing is decided for you.",
        fix="Read them as ratings, if 4 lies between 3 and 5.",
    ),
    FindingKind(
        id="read_as_ratings",
        area="labels",
        title="Different numbers that were read as ratings",
        meaning="The labels are numbers with decimals, or so many numbers of which near ones go "
        "together that they are hardly codes of classes. Truths are then numbers with an "
        "interval.",
        fix="Read them as classes, if the numbers are only names.",
    ),
    FindingKind(
        id="rating_codes",
        area="labels",
        title="Ratings that may mean no answer",
        meaning="Numbers such as 99 or -1 often stand for a missing answer. These lie far outside "
        "all other ratings, and would pull truths with them.",
        fix="Leave these ratings out, if they mean that there is no answer.",
    ),
    FindingKind(
        id="off_scale",
        area="labels",
        title="Ratings off the scale",
        meaning="Nearly all ratings lie on a round scale, and these do not: typing errors, or the "
        "scale is another one. Nothing is cut off by itself.",
        fix="Leave these ratings out, if they are slips.",
    ),
    FindingKind(
        id="growing_errors",
        area="labels",
        title="Items whose ratings scatter the more the higher they are",
        meaning="Errors grow with the value, as in counts and prices. A method then lets the "
        "highest items decide how good workers are.",
        fix="Run methods with the setting scale = log, which works on logarithms.",
    ),
    FindingKind(
        id="several_classes",
        area="labels",
        title="Different answers with several classes",
        meaning="One cell holds any number of classes: boxes that were ticked. Each class is a "
        "yes/no question of its own. An empty cell counts as no answer, unless empty labels are "
        "kept: then the worker saw the item and ticked nothing.",
    ),
    FindingKind(
        id="other_winners",
        area="labels",
        title="Comparisons with another answer",
        meaning="The answer is neither of the two items, nor a side, nor a tie.",
    ),
    FindingKind(
        id="self_comparisons",
        area="labels",
        title="Items compared with themselves",
        meaning="Both sides show the same item, so that nothing can be preferred.",
    ),
    FindingKind(
        id="many_classes",
        area="labels",
        title="Very many classes",
        meaning="Nearly every label is different, as in a column of free text. Nothing can be "
        "inferred from labels that never meet.",
        fix="Check that the label column is not free text.",
    ),
    FindingKind(
        id="one_class",
        area="labels",
        title="Nothing to infer: all labels are of one class",
        meaning="Everybody always gave the same label, so there is no disagreement to learn from.",
        fix="Check that the label column is really the label.",
    ),
    FindingKind(
        id="rare_classes",
        area="labels",
        title="Classes that were given once or twice",
        meaning="Most classes come often, and these hardly ever: a slip of the pen, a class of "
        "another round, or a rare case.",
        fix="Look at these labels; spell them anew if they are slips.",
    ),
    FindingKind(
        id="date_labels",
        area="labels",
        title="Classes that are dates",
        meaning="Either a column of times was taken for the labels, or a spreadsheet turned "
        "answers such as 1-2 into the second of January.",
        fix="Choose the column of the labels, or save the answers as text and export them again.",
    ),
    FindingKind(
        id="own_answers",
        area="labels",
        title="Workers most of whose answers nobody else gives",
        meaning="The others share a few classes, and these hardly ever use them: a column of "
        "remarks or of something else was taken for a worker, or the worker answered in own words.",
        fix="Take the column out of the workers, if it is none.",
    ),
    FindingKind(
        id="unlabelled_items",
        area="labels",
        title="Items without a label",
        meaning="These items are in the file, but none of their labels could be used. They stay "
        "in the data, and no method can decide them by votes.",
        fix="Have them labelled.",
    ),
    FindingKind(
        id="single_label_items",
        area="labels",
        title="Items with one label only",
        meaning="One opinion cannot be checked against another: the truth of these items is what "
        "their only worker said.",
        fix="Have them labelled again: one opinion cannot be checked.",
    ),
    FindingKind(
        id="thin_workers",
        area="labels",
        title=f"Workers with fewer than {FEW_LABELS} labels",
        meaning="So few labels tell hardly anything about a worker: the interval of their "
        "accuracy is wide, and no verdict is passed on them.",
        fix="Do not judge these workers by so few labels.",
    ),
    FindingKind(
        id="islands",
        area="labels",
        title="Islands of workers and items",
        meaning="The workers fall into groups that share no item. Who is better can be said "
        "within a group, but not across groups.",
        fix="Compare workers within an island only, or have some items labelled across islands.",
    ),
    FindingKind(
        id="similar_items",
        area="labels",
        title="Items whose ids differ by case or blanks only",
        meaning="'Doc 1' and 'doc1' may be one item, whose labels are then counted apart.",
        fix="Write the ids alike, if they mean the same.",
    ),
    FindingKind(
        id="similar_workers",
        area="labels",
        title="Workers whose names differ by case or blanks only",
        meaning="'Ann' and 'ann' may be one person, who then counts as two.",
        fix="Write the names alike, if they mean the same person.",
    ),
    FindingKind(
        id="twin_workers",
        area="labels",
        title="Workers with the same answers under two names",
        meaning="They gave the same labels to the same items at the same times; where no times "
        "are known, with several labels that nobody else gave. That may be one person with two "
        "names, an export that holds a worker twice, or work that was copied. It proves none of "
        "these.",
        fix="Find out who they are; leave one of them out, if they are one.",
    ),
    FindingKind(
        id="personal",
        area="file",
        title="Columns with personal data",
        meaning="A column seems to hold addresses, names or other data that say who a person is. "
        "Such columns are never kept as details; workers that are called by their address can be "
        "called by number.",
        fix="Remove them from the file.",
    ),
    *SPAN_FINDINGS,
    FindingKind(
        id="gold_conflicts",
        area="gold",
        title="Items with several gold answers",
        meaning="Gold is the known truth, and an item has one. The first answer is kept.",
        fix="Leave one answer for each item.",
    ),
    FindingKind(
        id="gold_without_labels",
        area="gold",
        title="Items in gold that nobody labelled",
        meaning="Gold for items that are not among the labels cannot be used; perhaps their ids "
        "are spelled differently.",
        fix="Check the spelling of the ids.",
    ),
    FindingKind(
        id="gold_only_classes",
        area="gold",
        title="Gold answers that nobody gave",
        meaning="A gold answer that no worker ever gave is a class that is never right, or "
        "another spelling of one that is.",
        fix="Check their spelling.",
    ),
    *FEATURE_FINDINGS,
)
"""Every finding that a health report can hold, in the order of reading."""
