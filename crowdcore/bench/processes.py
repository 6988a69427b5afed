"""Processes to measure in, or to share work out to."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread


def pool(size: int) -> ProcessPoolExecutor:
    """Make processes that compute on one core each and end with this one, even if it is killed.

    Parameters
    ----------
    size : int
        How many processes.

    Returns
    -------
    ProcessPoolExecutor
        To be used in a `with` block.
    """
    return ProcessPoolExecutor(size, get_context("spawn"), _begin)


def _begin() -> None:
    import torch

    torch.set_num_threads(1)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
