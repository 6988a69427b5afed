"""Which device computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.data import DataError

if TYPE_CHECKING:
    import torch

    from crowdcore.run import Device


def pick(wish: Device) -> torch.device:
    """Return the wished device; "auto" is CUDA where there is one."""
    import torch

    available = torch.cuda.is_available()
    if wish == "cuda" and not available:
        raise DataError(
            "There is no CUDA device on this machine", fix="Use --device auto or --device cpu."
        )
    return torch.device("cuda" if wish != "cpu" and available else "cpu")
