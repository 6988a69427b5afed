"""SQUAREM: extrapolate a fixed-point iteration that has begun near its end.

Varadhan and Roland 2008, scheme S3: from two steps of the iteration it estimates how slowly they
shrink, and jumps to where they seem to lead. It only ever goes on in the direction of the steps,
so that it is driven away from saddles as the steps are, and ends where they end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

STEP_FACTOR = 4.0
"""How much longer steps may get after one of full length, and how much shorter after a bad one."""

MAX_LOSS = 1.0
"""Log-likelihood that a jump may lose before it is taken back: less is made up at once."""

MAX_NUMBERS = 4_000_000
"""Numbers above which the points that are kept would cost more memory than jumps are worth."""


class Squarem:
    """Takes the image of the last point under the iteration, and gives the next point [P].

    Where points have bounds, the caller brings them back: an extrapolation does not know them.

    Parameters
    ----------
    enabled : bool
        Whether to extrapolate at all; otherwise the image itself is the next point.

    Attributes
    ----------
    extrapolated : bool
        Whether the last point was extrapolated, and says nothing about convergence.
    """

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.extrapolated = False
        self._path: list[Tensor] = []
        self._max_length = STEP_FACTOR
        self._value_before = 0.0

    def next(self, image: Tensor, value: Tensor | None = None) -> Tensor:
        """Return the image itself, or a point beyond it.

        Parameters
        ----------
        image : Tensor [P]
            Where the iteration leads from the last point.
        value : Tensor, optional
            What the iteration maximises, at the last point, if there is such a thing: an
            extrapolation that loses more than `MAX_LOSS` of it is taken back.

        Returns
        -------
        Tensor [P]
            The next point.
        """
        if not self.enabled or image.numel() > MAX_NUMBERS:
            return image
        if self.extrapolated:
            self.extrapolated = False
            if value is not None and float(value) < self._value_before - MAX_LOSS:
                self._path = self._path[-1:]
                self._max_length = max(1.0, self._max_length / STEP_FACTOR)
                return self._path[0]
            self._path = []
        self._path.append(image)
        if len(self._path) < 3:  # noqa: PLR2004  (two steps have three ends)
            return image
        first, second, third = self._path
        step, change = second - first, third - 2 * second + first
        length = float(step.norm() / change.norm()) if change.any() else 1.0
        if length <= 1:
            self._path = [third]
            return image
        if length >= self._max_length:
            length, self._max_length = self._max_length, self._max_length * STEP_FACTOR
        self.extrapolated = True
        self._value_before = float("-inf") if value is None else float(value)
        return first + 2 * length * step + length**2 * change
