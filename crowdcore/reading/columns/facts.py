"""ColumnFacts: what the values of one column look like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from crowdcore.reading.columns.names import vocabulary
from crowdcore.reading.columns.profile import TableProfile

_LOOKED_AT = 1_000
"""How many distinct values are looked at."""

_MOST = 0.9
_SENTENCE_WORDS = 4.0
_SENTENCE_VALUES = 30
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%?")
_DECIMAL = re.compile(r"[+-]?\d*\.\d*[1-9]\d*([eE][+-]?\d+)?")
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}([ T,]+\d{1,2}:\d{2}.*)?"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d{2}:\d{2}:\d{2}.*"
    r"|\d{4}/\d{1,2}/\d{1,2}.*|\d{1,2}:\d{2}(:\d{2})?(\.\d+)?( ?[AP]M)?"
    r"|1[0-9]{9}(\.\d+)?|1[0-9]{12}"
)
_URL = re.compile(r"(https?|s3|gs|ftp)://\S+|\S+\.(jpe?g|png|gif|webp|bmp|tiff?|mp4|mp3|wav)", re.I)
_NESTED = re.compile(r"(\{.*\}|\[\s*[\[{].*\])$", re.DOTALL)
_TICKS = vocabulary("0 1 true false yes no x on off 0.0 1.0 y n")


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnFacts:
    """What the values of a column look like.

    Parameters
    ----------
    name
        The column.
    profile
        The table that it is a column of.
    """

    name: str
    profile: TableProfile

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Some distinct values, spread over all of them."""
        values = self.profile.values(self.name)
        step = max(1, len(values) // _LOOKED_AT)
        return tuple(value.strip() for value in values[::step][:_LOOKED_AT])

    @cached_property
    def n_distinct(self) -> int:
        """How many distinct values there are, blanks apart."""
        return self.profile.n_distinct(self.name)

    @cached_property
    def n_filled(self) -> int:
        """How many rows have a value."""
        return int(self.profile.filled(self.name).sum())

    @property
    def filled_share(self) -> float:
        """The share of rows that have a value."""
        return self.n_filled / max(1, self.profile.n_rows)

    @property
    def is_unique(self) -> bool:
        """Whether no value comes twice."""
        return self.n_distinct == self.n_filled

    @property
    def is_constant(self) -> bool:
        """Whether there are fewer than two values."""
        return self.n_distinct < 2  # noqa: PLR2004

    @cached_property
    def numbers(self) -> float:
        """The share of values that are numbers."""
        return self._share(_NUMBER)

    @cached_property
    def decimals(self) -> float:
        """The share of values that are numbers with decimals other than zero."""
        return self._share(_DECIMAL)

    @cached_property
    def is_date(self) -> bool:
        """Whether the values are dates or times."""
        return self._share(_DATE) >= _MOST

    @cached_property
    def is_url(self) -> bool:
        """Whether the values are addresses of pages or pictures."""
        return self._share(_URL) >= _MOST

    @cached_property
    def is_json(self) -> bool:
        """Whether the values are JSON objects, or lists of objects or lists."""
        nested = [_NESTED.match(value) is not None for value in self.values if value]
        return bool(nested) and sum(nested) >= 0.5 * len(nested)

    @cached_property
    def mean_words(self) -> float:
        """How many words a value has on average."""
        return sum(len(value.split()) for value in self.values) / max(1, len(self.values))

    @cached_property
    def mean_length(self) -> float:
        """How many characters a value has on average."""
        return sum(map(len, self.values)) / max(1, len(self.values))

    @property
    def is_prose(self) -> bool:
        """Whether the values are free text: sentences of which there are many."""
        return self.n_distinct > _SENTENCE_VALUES and self.mean_words >= _SENTENCE_WORDS

    @property
    def is_ticks(self) -> bool:
        """Whether the values are those of a tick box."""
        return 0 < self.n_distinct <= 2 and all(v.lower() in _TICKS for v in self.values)  # noqa: PLR2004

    def _share(self, pattern: re.Pattern[str]) -> float:
        return sum(pattern.fullmatch(value) is not None for value in self.values) / max(
            1, len(self.values)
        )
