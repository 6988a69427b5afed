"""A dashboard in a process of its own, and plain requests to it."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crowdcore.workspace import Workspace

ROOT = Path(__file__).parents[2]
HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running dashboard over a workspace."""

    process: subprocess.Popen[bytes]
    port: int
    home: Workspace
    log: Path

    @property
    def host(self) -> str:
        """What a browser on this computer sends as Host."""
        return f"{HOST}:{self.port}"

    @property
    def origin(self) -> str:
        """What a browser sends as Origin from a page of this server."""
        return f"http://{self.host}"

    @property
    def token(self) -> str:
        return (self.home.root / "token").read_text(encoding="ascii")

    @property
    def cookie(self) -> str:
        """Visit the printed address, and return the cookie that it sets."""
        return self.get(f"/?token={self.token}")[1]["set-cookie"].partition(";")[0]

    def get(self, path: str, cookie: str = "") -> tuple[int, dict[str, str], bytes]:
        return self.ask("GET", path, {"Cookie": cookie} if cookie else {})

    def ask(
        self, method: str, path: str, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; headers that are given replace those of a browser."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            received = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, received, answer.read()
        finally:
            connection.close()

    def open_socket(self, headers: Mapping[str, str], path: str = "/_stcore/stream") -> int:
        """Ask for a websocket; return the status, which is 101 if it was opened."""
        handshake = {
            "Host": self.host,
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        return self.ask("GET", path, {**handshake, **headers})[0]


def start(port: int, home: Path, log: Path, *, daemon: bool = False) -> subprocess.Popen[bytes]:
    """Start a dashboard under a umask that hides nothing; without a daemon no run is worked on."""
    code = (
        "import os; os.umask(0); from pathlib import Path; from crowdcore import jobs; "
        "from dashboard.server.launch import main; "
        + ("" if daemon else "jobs.ensure_daemon = lambda workspace: None; ")
        + f"main({port}, Path({str(home)!r}), browser=False)"
    )
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )


def wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if process.poll() is not None:
            raise AssertionError(f"The server ended at once:\n{log.read_text(encoding='utf-8')}")
        connection = http.client.HTTPConnection(HOST, port, timeout=2)
        try:
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise AssertionError("The server did not become healthy")


def free_port() -> int:
    """Return a port that no other server of the tests, which may start at once, is given too."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(home: Workspace, log: Path, *, daemon: bool = False) -> Iterator[Server]:
    """Serve a workspace for a while."""
    port = free_port()
    process = start(port, home.root, log, daemon=daemon)
    try:
        wait_until_healthy(process, port, log)
        yield Server(process=process, port=port, home=home, log=log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
