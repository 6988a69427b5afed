"""Parts: processes that each hold some of the items, and add up what concerns the workers.

Every part runs the same method on its own items. Whatever is summed or compared over items goes
through `Parts`, so that all parts know the same of the workers. Each part must make the same
calls in the same order, or the others wait in vain.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor

TIMEOUT = timedelta(minutes=10)
"""How long a part waits for the others before it fails."""


class Parts(Protocol):
    """What a part asks of all parts."""

    @property
    def n(self) -> int:
        """How many parts there are."""

    @property
    def rank(self) -> int:
        """The number of this one, from 0."""

    def sum(self, value: Tensor) -> Tensor:
        """Add up what all parts hold; in float64, whatever comes in."""

    def max(self, value: Tensor) -> Tensor:
        """Return the largest of what all parts hold, entry by entry."""

    def agree(self, flag: bool) -> bool:
        """Tell whether any part says so, such as that it was asked to stop."""


class Alone:
    """One part that holds everything; nothing is added up."""

    n, rank = 1, 0

    def sum(self, value: Tensor) -> Tensor:
        """Return the value itself."""
        return value

    def max(self, value: Tensor) -> Tensor:
        """Return the value itself."""
        return value

    def agree(self, flag: bool) -> bool:
        """Return the flag itself."""
        return flag


class Group:
    """Processes of a `torch.distributed` group, which must be there already."""

    def __init__(self) -> None:
        import torch.distributed as dist

        self.n, self.rank = dist.get_world_size(), dist.get_rank()

    def sum(self, value: Tensor) -> Tensor:
        """Add up over the group, in float64."""
        import torch.distributed as dist

        total = value.double().contiguous() if value.dtype.is_floating_point else value.clone()
        total = total.clone() if total is value else total
        dist.all_reduce(total)
        return total

    def max(self, value: Tensor) -> Tensor:
        """Return the largest over the group."""
        import torch.distributed as dist

        largest = value.clone()
        dist.all_reduce(largest, op=dist.ReduceOp.MAX)
        return largest

    def agree(self, flag: bool) -> bool:
        """Tell whether any process of the group says so."""
        import torch

        return bool(self.max(torch.tensor([int(flag)])).item())


class _Meeting:
    """Where threads put their values, and wait for those of the others."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.values: dict[int, Tensor] = {}
        self.barrier = threading.Barrier(n)


class Threads:
    """Parts that are threads of one process, to test methods over parts.

    Parameters
    ----------
    meeting
        What all of them share.
    rank
        The number of this one.

    Attributes
    ----------
    calls : list of tuple
        What was asked for, in order, with shapes: equal on all parts, or they would have hung.
    """

    def __init__(self, meeting: _Meeting, rank: int) -> None:
        self.n, self.rank = meeting.n, rank
        self._meeting = meeting
        self.calls: list[tuple[str, tuple[int, ...]]] = []

    @classmethod
    def make(cls, n: int) -> list[Threads]:
        """Return n parts that share a meeting."""
        meeting = _Meeting(n)
        return [cls(meeting, rank) for rank in range(n)]

    def abort(self) -> None:
        """Let the others fail instead of waiting for this part."""
        self._meeting.barrier.abort()

    def sum(self, value: Tensor) -> Tensor:
        """Add up over the threads, in float64."""
        import torch

        floating = value.dtype.is_floating_point
        return torch.stack(self._gather("sum", value.double() if floating else value)).sum(0)

    def max(self, value: Tensor) -> Tensor:
        """Return the largest over the threads."""
        import torch

        return torch.stack(self._gather("max", value)).amax(0)

    def agree(self, flag: bool) -> bool:
        """Tell whether any thread says so."""
        import torch

        return bool(self.max(torch.tensor([int(flag)])).item())

    def _gather(self, name: str, value: Tensor) -> list[Tensor]:
        self.calls.append((name, tuple(value.shape)))
        meeting = self._meeting
        meeting.values[self.rank] = value
        meeting.barrier.wait(60)
        values = [meeting.values[rank] for rank in range(self.n)]
        meeting.barrier.wait(60)
        return values
