"""What a health report can hold about texts with spans, as data."""

from __future__ import annotations

from crowdcore.reading.finding_kind import FindingKind

SPAN_FINDINGS: tuple[FindingKind, ...] = (
    FindingKind(
        id="tag_scheme",
        area="spans",
        title="Tags in another scheme than BIO",
        meaning="Tags of the schemes IOB1, BIOES and BILOU, and plain types without a prefix, are "
        "read as BIO: B- begins a span, I- continues it. Two plain tags of one type side by side "
        "are one span, because the file cannot tell them apart.",
        fix="Read every tag as BIO, if the scheme was guessed wrongly.",
    ),
    FindingKind(
        id="begun_inside",
        area="spans",
        title="Spans that begin with I-",
        meaning="In BIO a span begins with B-. An I- after O or after another type is kept as it "
        "is and begins a span, as the usual scorer (conlleval) reads it.",
    ),
    FindingKind(
        id="partial_words",
        area="spans",
        title="Spans that cover part of a word",
        meaning="A worker's mark begins or ends within a word, often by a slip of the mouse. A "
        "word belongs to a span only if it is covered whole; a span without a whole word is left "
        "out.",
        fix="Take words that are covered in part.",
    ),
    FindingKind(
        id="empty_spans",
        area="spans",
        title="Spans without a word",
        meaning="A mark covers only blanks, or lies beyond the text. It is left out.",
        fix="Check that positions count characters of the text in the file.",
    ),
    FindingKind(
        id="overlapping_spans",
        area="spans",
        title="Spans that overlap another of the same worker",
        meaning="A token has one tag, so of overlapping spans only the longest is kept. Spans of "
        "different layers belong into a data set each.",
        fix="Keep the first in the file instead; or export one layer at a time.",
    ),
    FindingKind(
        id="tags_in_tokens",
        area="spans",
        title="Tokens that end with a type, such as Nepal/LOC",
        meaning="Such endings give away an answer to every method that reads the words. They are "
        "cut off.",
        fix="Keep the tokens as they are.",
    ),
    FindingKind(
        id="repeated_annotations",
        area="spans",
        title="Texts that a worker annotated twice",
        meaning="The worker came back to a text, or two people share an id. The last annotation "
        "in the file counts.",
    ),
    FindingKind(
        id="refused_annotations",
        area="spans",
        title="Annotations that were cancelled or skipped",
        meaning="The platform marks these annotations as cancelled, skipped, ignored or rejected. "
        "They are left out: they do not say that the worker found nothing.",
    ),
    FindingKind(
        id="different_text",
        area="spans",
        title="Annotations of another text",
        meaning="The file of a worker has other words than that of the others, so their marks "
        "cannot be compared. The annotation is left out.",
        fix="Export all workers' files from the same version of the text.",
    ),
    FindingKind(
        id="unmarked_texts",
        area="spans",
        title="Texts in which a worker marked nothing, as you said",
        meaning="The file does not say whether a worker without a mark saw the text. It is read "
        "as you have answered.",
    ),
    FindingKind(
        id="unannotated_texts",
        area="spans",
        title="Texts that nobody annotated",
        meaning="Their spans can only be guessed from words and from the order of tags.",
        fix="Have them annotated.",
    ),
    FindingKind(
        id="single_annotations",
        area="spans",
        title="Texts with one annotation only",
        meaning="One opinion cannot be checked against another.",
        fix="Have them annotated again.",
    ),
    FindingKind(
        id="empty_texts",
        area="spans",
        title="Texts without a word",
        meaning="There is nothing to annotate in them. They are left out.",
    ),
)
