"""Files are read in a process of their own, with bounded memory: none can take the server down.

`python -m crowdcore.jobs.reading_process FOLDER`, as `ReadingProcess` starts it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from crowdcore.atomic import PREFIX, atomic
from crowdcore.data import DataError
from crowdcore.jobs.launch import process_environment
from crowdcore.jobs.processes import kill_session
from crowdcore.wording import size

Request = TypeVar("Request")
Answer = TypeVar("Answer")

MIN_LIMIT_BYTES = 2 << 30
"""What a reading process may always take."""

POLL_SECONDS = 0.05

_MODULE = "crowdcore.jobs.reading_process"
_REQUEST, _ANSWER, _LOG = "request.pickle", "answer.pickle", "reading.log"
_SMALLER = "Give a smaller file, or read it with `crowdcore check`, which has all memory to itself."


class ReadingProcess(Generic[Request, Answer]):
    """A function at work in a process of its own.

    Parameters
    ----------
    function : callable
        A function of a module, which takes the request and returns the answer.
    request : object
        What it is called with; anything that can be pickled.
    folder : Path
        A private folder for the messages between the processes, for one process at a time.
    limit : int, optional
        How many bytes of memory the process may take; by default half of what is free now, at
        least 2 GB.
    """

    def __init__(
        self,
        function: Callable[[Request], Answer],
        request: Request,
        folder: Path,
        *,
        limit: int | None = None,
    ) -> None:
        self.limit = memory_limit() if limit is None else limit
        self._folder = folder
        for name in (_ANSWER, _LOG):
            (folder / name).unlink(missing_ok=True)
        with atomic(folder / _REQUEST, private=True) as temporary:
            temporary.write_bytes(pickle.dumps((function, request)))
        with (folder / _LOG).open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE, str(folder), str(self.limit)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**process_environment(), "ARROW_DEFAULT_MEMORY_POOL": "system"},
                start_new_session=True,
            )

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the process, no longer than so many seconds.

        Parameters
        ----------
        seconds : float
            How long to wait.

        Returns
        -------
        bool
            True if it has ended.
        """
        deadline = time.monotonic() + seconds
        while self._process.poll() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def answer(self) -> Answer:
        """Wait for the end and return what the function returned.

        Returns
        -------
        object
            The answer.

        Raises
        ------
        DataError
            The function raised it, or the process took too much memory.
        RuntimeError
            A bug: the function raised anything else.
        """
        code = self._process.wait()
        try:
            # Written by our own code, into a folder that only we can write to.
            error, answer = pickle.loads((self._folder / _ANSWER).read_bytes())
        except FileNotFoundError:
            pass
        else:
            if error is not None:
                raise error
            returned: Answer = answer
            return returned
        if code in (-signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV):
            raise too_large(self.limit)
        log = (self._folder / _LOG).read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"The process that reads files ended with code {code}.\n{log}")

    def stop(self) -> None:
        """End the process now, whatever it does."""
        if self._process.poll() is None:
            kill_session(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for path in self._folder.glob(f"{PREFIX}*"):
            path.unlink(missing_ok=True)


def memory_limit() -> int:
    """Return how many bytes a process that reads files may take.

    Returns
    -------
    int
        Half of the memory that is free, at least 2 GB.
    """
    import psutil

    return max(MIN_LIMIT_BYTES, int(psutil.virtual_memory().available) // 2)


def too_large(limit: int) -> DataError:
    """Say that reading took too much memory.

    Parameters
    ----------
    limit : int
        How many bytes it may take.

    Returns
    -------
    DataError
        To be raised.
    """
    return DataError(
        f"Reading this file takes more than {size(limit)} of memory, so it was stopped",
        fix=_SMALLER,
    )


def _limit_memory(limit: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows, or a lower limit holds
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with contextlib.suppress(OSError):  # Linux: when memory ends, this goes and not the server
        Path("/proc/self/oom_score_adj").write_text("900", encoding="ascii")


def _main(folder: Path, limit: int) -> int:
    os.umask(0o077)
    _limit_memory(limit)
    try:
        function, request = pickle.loads((folder / _REQUEST).read_bytes())
        answer: tuple[DataError | None, Any] = (None, function(request))
    except DataError as error:
        answer = (error, None)
    except MemoryError:
        answer = (too_large(limit), None)
    except Exception:
        traceback.print_exc()
        return 1
    with atomic(folder / _ANSWER, private=True) as temporary:
        temporary.write_bytes(pickle.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1]), int(sys.argv[2])))
