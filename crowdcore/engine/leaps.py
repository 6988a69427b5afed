"""Leap ahead on the path of an iteration that has begun near its end.

SQUAREM (Varadhan and Roland 2008, scheme S3): from two steps of a fixed-point iteration it tells
how slowly they shrink, and leaps to where they seem to lead. It only ever goes on in the direction
of the steps, so that it is driven away from saddles as the steps are, and ends where they end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

FURTHER = 4.0
"""How much longer leaps may get after one of full length, and how much shorter after a bad one."""

LOSS = 1.0
"""What a leap may lose of the log-likelihood before it is taken back: less is made up at once."""

LARGEST = 4_000_000
"""Numbers above which the points that are kept would cost more memory than leaps are worth."""


class Leaps:
    """Takes the image of the last point under the iteration, and gives the next point [P].

    Where points have bounds, the caller brings them back: a leap does not know them.
    """

    def __init__(self, *, on: bool) -> None:
        self.on = on
        self.leapt = False  # whether the last point was leapt to, and says nothing of convergence
        self._path: list[Tensor] = []
        self._longest = FURTHER
        self._goal = 0.0

    def next(self, image: Tensor, value: Tensor | None = None) -> Tensor:
        """Give the image itself, or a point beyond it.

        `value` is what the iteration wants to be high, at the last point, if there is such a
        thing: a leap that loses of it is taken back.
        """
        if not self.on or image.numel() > LARGEST:
            return image
        if self.leapt:
            self.leapt = False
            if value is not None and float(value) < self._goal - LOSS:
                self._path = self._path[-1:]
                self._longest = max(1.0, self._longest / FURTHER)
                return self._path[0]
            self._path = []
        self._path.append(image)
        if len(self._path) < 3:  # noqa: PLR2004  (two steps have three ends)
            return image
        first, second, third = self._path
        step, bend = second - first, third - 2 * second + first
        length = float(step.norm() / bend.norm()) if bend.any() else 1.0
        if length <= 1:
            self._path = [third]
            return image
        if length >= self._longest:
            length, self._longest = self._longest, self._longest * FURTHER
        self.leapt = True
        self._goal = float("-inf") if value is None else float(value)
        return first + 2 * length * step + length**2 * bend
