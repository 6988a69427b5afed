"""Processes of a benchmark never outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import torch

from crowdcore.bench.processes import pool

PARENT = """
import os, time
from crowdcore.bench.processes import pool

if __name__ == "__main__":
    with pool(1) as processes:
        print(processes.submit(os.getpid).result(), flush=True)
        processes.submit(time.sleep, 600).result()
"""


def test_each_process_computes_on_one_core() -> None:
    with pool(1) as processes:
        assert processes.submit(os.getpid).result() != os.getpid()
        assert processes.submit(torch.get_num_threads).result() == 1


def test_processes_end_when_the_one_that_began_them_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
    child.wait(timeout=30)  # raises where it goes on
