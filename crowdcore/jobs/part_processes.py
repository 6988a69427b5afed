"""Several processes that run one method together: on this machine, or as a launcher started them.

`torchrun`, SLURM and Kubernetes set `WORLD_SIZE` and `RANK`; such a process joins the group. On
one machine `run_processes` starts the processes itself, and starts all of them anew when one is
killed: they go on from the counts that were kept last.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crowdcore.data import DataError
from crowdcore.parts import TIMEOUT, Alone, Group, Parts

MAX_RESTARTS = 10
"""How often processes are started anew after one was killed."""

BAD_INPUT, INTERRUPTED = 2, 130
"""Exit codes that no second try would change."""

SECONDS_BETWEEN_LOOKS = 0.2


def is_launched() -> bool:
    """Tell whether a launcher started this process as one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def joined_group(device: str = "auto") -> Iterator[Parts]:
    """Join the processes that a launcher started, for as long as the context lasts.

    Parameters
    ----------
    device
        "cuda" computes and adds up on GPUs.

    Yields
    ------
    Parts
        `Alone` where no launcher started this process.
    """
    if not is_launched():
        yield Alone()
        return
    import torch.distributed as dist

    backend = "nccl" if device == "cuda" else "gloo"
    if backend == "nccl":
        import torch

        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group(backend, timeout=TIMEOUT)
    try:
        yield Group()
    finally:
        dist.destroy_process_group()


def run_processes(arguments: Sequence[str], n: int, logs: Path) -> int:
    """Run `crowdcore` with these arguments as n processes that work together.

    Parameters
    ----------
    arguments
        Of the command line, without the number of parts.
    n
        How many processes.
    logs
        A folder for what all but the first say; shown where one fails.

    Returns
    -------
    int
        The exit code: that of the first process, or of the one that failed.

    Raises
    ------
    DataError
        If processes fail again and again.
    """
    for _ in range(MAX_RESTARTS + 1):
        code, rank = _run_once(arguments, n, logs)
        if code in (0, BAD_INPUT, INTERRUPTED):
            return code
        if code > 0 and not _was_left_alone(logs, rank):
            return code
        sys.stderr.write("A part was killed; all parts go on from the counts kept last.\n")
    raise DataError(
        f"A part was killed {MAX_RESTARTS + 1} times",
        fix="Look for what kills it: often the machine has too little memory for so many parts.",
    )


def _run_once(arguments: Sequence[str], n: int, logs: Path) -> tuple[int, int]:
    """Start all processes and wait for them; when one fails, end the others."""
    logs.mkdir(parents=True, exist_ok=True)
    threads = str(max(1, (os.cpu_count() or 1) // n))
    common = {
        "WORLD_SIZE": str(n),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free_port()),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads),
        "GLOO_SOCKET_IFNAME": os.environ.get("GLOO_SOCKET_IFNAME", "lo"),
    }
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for rank in range(n):
            environment = {**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            command = [sys.executable, "-m", "crowdcore", *arguments]
            if rank == 0:
                processes.append(subprocess.Popen(command, env=environment))
                continue
            with _log(logs, rank).open("wb") as log:
                processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        return _wait(processes)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()


def _wait(processes: Sequence[subprocess.Popen[bytes]]) -> tuple[int, int]:
    """Wait until all have ended well, or one has not: its exit code and rank."""
    while True:
        codes = [process.poll() for process in processes]
        # A killed process first: the others fail because of it.
        ended = sorted((code, rank) for rank, code in enumerate(codes) if code)
        if ended:
            return ended[0]
        if all(code == 0 for code in codes):
            return 0, 0
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _was_left_alone(logs: Path, rank: int) -> bool:
    """Tell whether a process failed only because another was gone; else show what it said."""
    if rank == 0:
        time.sleep(1.0)  # what it said is on the terminal already
        return False
    text = _log(logs, rank).read_text(encoding="utf-8", errors="replace")
    if "Connection" in text or "gloo" in text:
        return True
    sys.stderr.write(text)
    return False


def _log(logs: Path, rank: int) -> Path:
    return logs / f"part-{rank}.log"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
