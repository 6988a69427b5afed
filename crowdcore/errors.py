"""What goes wrong: input that cannot be used, and methods that break their promises."""

from __future__ import annotations

from typing import Any


class DataError(ValueError):
    """Input that cannot be used: what is wrong, where, and what to do about it.

    Parameters
    ----------
    problem
        What is wrong, in a sentence.
    file, column, row
        Where, as far as it is known; rows are counted from 1.
    fix
        What to do about it, in a sentence.

    Examples
    --------
    >>> raise DataError("A rating is not a number", column="stars", row=7, fix="Remove the row.")
    Traceback (most recent call last):
    crowdcore.errors.DataError: A rating is not a number (column 'stars', row 7). Remove the row.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        column: str | None = None,
        row: int | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem, self.file, self.column, self.row, self.fix = problem, file, column, row, fix
        location = [f"file {file}"] if file else []
        location += [f"column {column!r}"] if column is not None else []
        location += [f"row {row}"] if row is not None else []
        sentence = problem.rstrip(".") + (f" ({', '.join(location)})" if location else "") + "."
        super().__init__(sentence + (f" {fix}" if fix else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        details = {"file": self.file, "column": self.column, "row": self.row, "fix": self.fix}
        return _rebuild_error, (type(self), self.problem, details)


def _rebuild_error(cls: type[DataError], problem: str, details: dict[str, Any]) -> DataError:
    return cls(problem, **details)


class ResultError(RuntimeError):
    """A method broke its promise; this is a bug in the method, not in the data."""
