"""Cleaning: what is to be done about faults in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from crowdcore.data import DataError

Keep = Literal["drop", "keep"]
Contradictions = Literal["all", "last", "first", "drop"]
RowsInCells = Literal["keep", "split"]
PartialWords = Literal["leave", "take"]
Overlaps = Literal["longest", "first"]
TagScheme = Literal["guess", "bio"]
TagsInTokens = Literal["strip", "keep"]
Unmarked = Literal["ask", "saw", "absent"]
LabelKind = Literal["auto", "classes", "ratings"]


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """What to do about faults in a file; every step that changes anything is reported.

    Parameters
    ----------
    exact_duplicates
        Whether to keep every copy of a label that is there twice.
    contradictions
        Which of a worker's different labels of one item to keep.
    spellings
        Labels that are to be written in another way: variant -> right spelling.
    empty_labels
        Whether an empty label is a class of its own.
    missing
        Labels that mean "no answer", such as NA; they are left out.
    rejected
        Whether to keep rows that the platform marks as rejected.
    trim_ids
        Whether blanks around the ids of items and workers are cut off.
    pseudonyms
        Whether workers are called "worker 1", "worker 2", … instead of by their ids.
    rows_in_cells
        Whether cells whose lines all look like rows of the file are split into rows.
    partial_words
        In texts with marked passages: whether a word that is covered in part belongs to the span.
    overlaps
        Which of a worker's overlapping spans is kept: the longest, or the first in the file.
    tag_scheme
        Whether the scheme of tags is guessed, or every tag is read as BIO.
    tags_in_tokens
        Whether a type at the end of a token, such as Nepal/LOC, is cut off.
    unmarked
        In a table of spans without empty rows: whether workers saw the texts in which they marked
        nothing ("saw"), or not ("absent"); "ask" refuses to guess.
    kind
        Whether labels are classes or ratings; "auto" takes numbers for ratings where that is
        beyond doubt, and says so where it is not.

    Raises
    ------
    DataError
        If a value is not one of those that are possible.
    """

    exact_duplicates: Keep = "drop"
    contradictions: Contradictions = "last"
    spellings: Mapping[str, str] = field(default_factory=dict)
    empty_labels: Keep = "drop"
    missing: tuple[str, ...] = ()
    rejected: Keep = "drop"
    trim_ids: bool = True
    pseudonyms: bool = False
    rows_in_cells: RowsInCells = "keep"
    partial_words: PartialWords = "leave"
    overlaps: Overlaps = "longest"
    tag_scheme: TagScheme = "guess"
    tags_in_tokens: TagsInTokens = "strip"
    unmarked: Unmarked = "ask"
    kind: LabelKind = "auto"

    def __post_init__(self) -> None:
        choices: dict[str, tuple[str, ...]] = {
            "contradictions": get_args(Contradictions),
            "rows_in_cells": get_args(RowsInCells),
            "partial_words": get_args(PartialWords),
            "overlaps": get_args(Overlaps),
            "tag_scheme": get_args(TagScheme),
            "tags_in_tokens": get_args(TagsInTokens),
            "unmarked": get_args(Unmarked),
            "kind": get_args(LabelKind),
        }
        choices |= dict.fromkeys(("exact_duplicates", "empty_labels", "rejected"), get_args(Keep))
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise DataError(
                    f"{name} is {getattr(self, name)!r}", fix=f"Choose one of {', '.join(allowed)}."
                )
        object.__setattr__(self, "missing", tuple(self.missing))

    def with_option(self, option: Mapping[str, Any]) -> Cleaning:
        """Add the fix that a finding proposes.

        Parameters
        ----------
        option
            The `option` of a `Finding`; its spellings and missing marks are added to those that
            are there.

        Returns
        -------
        Cleaning

        Raises
        ------
        DataError
            If there is no such option.
        """
        names = {option_field.name for option_field in fields(self)}
        if unknown := sorted(set(option) - names):
            raise DataError(f"There is no cleaning option {unknown[0]!r}")
        values = dict(option)
        if "spellings" in values:
            values["spellings"] = {**self.spellings, **values["spellings"]}
        if "missing" in values:
            values["missing"] = tuple(dict.fromkeys([*self.missing, *values["missing"]]))
        return replace(self, **values)

    def spell(self, name: str) -> str:
        """Return what a label is to be called, also over several steps."""
        visited = {name}
        while name in self.spellings:
            name = self.spellings[name]
            if name in visited:
                break
            visited.add(name)
        return name
