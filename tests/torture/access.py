"""Attacks on a running dashboard: foreign pages, stolen and made-up cookies, malformed requests.

Only the printed address, and the cookie that it sets, may let anybody in; and only a page of the
very same scheme, host and port may open the socket or change something.
"""

from __future__ import annotations

import random
import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crowdcore.workspace import Workspace
from dashboard.server.startup import WELCOMED
from tests.dashboard.server import HOST, Server, serving
from tests.torture import Row

MAX_CASES_PER_KIND = 2_500
"""Beyond this many random requests of one kind hardly anything new is tried."""

PAGES = (
    "/",
    "/overview",
    "/data",
    "/run",
    "/truths",
    "/workers",
    "/_stcore/host-config",
    "/_stcore/metrics",
)
CHANGES = ("POST", "PUT", "DELETE", "PATCH")
BYTES = [bytes([code]) for code in range(256)]
PIECES = [b"%0a", b"%0d%0a", b"%00", b"%", b"..", b"/", b"\\", b"?", b"token=", b"&", b"%c3", b"a"]


def run(budget: int, seed: int) -> list[Row]:
    """Start a dashboard of its own and attack it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Workspace(Path(folder) / "home")
        home.set_setting(WELCOMED, True)
        with serving(home, Path(folder) / "server.log") as server:
            return attack(server, budget, seed)


def attack(server: Server, budget: int, seed: int) -> list[Row]:
    """Attack a running dashboard in about `budget` ways, and look into its log afterwards."""
    attacker = Attacker(server=server, draw=random.Random(seed), cookie=server.cookie)
    n_cases = max(1, min(MAX_CASES_PER_KIND, budget // 4))
    log_bytes = server.log.stat().st_size
    rows = [
        _row("access: sockets", n_cases, attacker.open_socket),
        _row("access: pages", n_cases, attacker.get_page),
        _row("access: changes", n_cases, attacker.change),
        _row("access: malformed requests", n_cases, attacker.send_malformed),
    ]
    n_tracebacks = server.log.read_bytes()[log_bytes:].count(b"Traceback")
    worst = "a traceback in the log" if n_tracebacks else "no traceback in the log"
    return [*rows, Row(name="access: log", tried=4 * n_cases, failed=n_tracebacks, worst=worst)]


def _row(name: str, n_cases: int, attempt: Callable[[], str | None]) -> Row:
    """Make attempts; each returns what went wrong, or None."""
    slowest, problems = 0.0, []
    for _ in range(n_cases):
        began = time.monotonic()
        if (problem := attempt()) is not None:
            problems.append(problem)
        slowest = max(slowest, time.monotonic() - began)
    worst = problems[0] if problems else f"slowest answer {slowest:.2f} s"
    return Row(name=name, tried=n_cases, failed=len(problems), worst=worst)


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """Somebody who can send requests, and sometimes has the user's cookie."""

    server: Server
    draw: random.Random
    cookie: str  # of a user who has opened the printed address

    def open_socket(self) -> str | None:
        """Ask for a socket; the right cookie from a wrong page must not do, nor the reverse."""
        origin, cookie, host = self._origin(), self._cookie(), self._host()
        headers = _present({"Origin": origin, "Cookie": cookie, "Host": host})
        opened = self.server.open_socket(headers) == 101
        right = (origin, cookie, host) == (self.server.origin, self.cookie, self.server.host)
        if opened == right:
            return None
        return f"A socket was {'opened' if opened else 'refused'} with {headers}"

    def get_page(self) -> str | None:
        """Ask for a page; only the cookie, under the server's own name, may show it."""
        cookie, host = self._cookie(), self._host()
        path = self.draw.choice(PAGES) + self.draw.choice(["", "?token=", "?token=" + "0" * 32])
        headers = _present({"Cookie": cookie, "Host": host})
        status = self.server.ask("GET", path, headers)[0]
        is_right = (cookie, host) == (self.cookie, self.server.host)
        if (status < 400) == is_right or (is_right and status == 404):
            return None
        return f"GET {path} was answered with {status} for {headers}"

    def change(self) -> str | None:
        """Try to change something from another page, with the user's cookie."""
        origin = self._origin()
        if origin == self.server.origin:
            origin = None
        method = self.draw.choice(CHANGES)
        headers = _present({"Origin": origin, "Cookie": self.cookie, "Content-Length": "0"})
        path = self.draw.choice([*PAGES, "/_stcore/upload_file/a/b"])
        status = self.server.ask(method, path, headers)[0]
        return None if status == 403 else f"{method} {path} from {origin} got {status}"

    def send_malformed(self) -> str | None:
        """Send a request that no browser sends; it must get an answer below 500, or none."""
        pieces = self.draw.choices([*PIECES, *BYTES], k=self.draw.randint(1, 12))
        visit = f"?token={self.server.token}".encode()
        target = b"/" + b"".join(pieces) + self.draw.choice([b"", visit])
        lines = [
            b"GET " + target + b" HTTP/1.1",
            f"Host: {self.server.host}".encode(),
            self.draw.choice([b"Cookie: " + self.cookie.encode(), b"Cookie: =;=", b"X: y"]),
            self.draw.choice([b"Connection: close", b"Connection: close\r\nUpgrade: websocket"]),
        ]
        answer = self._send(b"\r\n".join([*lines, b"", b""]))
        status = answer[9:12]
        if answer and (not status.isdigit() or int(status) >= 500):
            return f"{target!r} got {status!r}"
        return None

    def _send(self, request: bytes) -> bytes:
        with socket.create_connection((HOST, self.server.port), timeout=10) as connection:
            connection.sendall(request)
            return connection.recv(1024)

    def _origin(self) -> str | None:
        own, port = self.server.origin, self.server.port
        return self.draw.choice(
            [
                own,
                None,
                "null",
                f"http://{HOST}:{self.draw.randint(1, 65535)}",
                f"http://localhost:{port}",
                f"https://{HOST}:{port}",
                f"{own}/",
                f"{own}.evil.example",
                f"http://{HOST}.evil.example:{port}",
                f"http://{HOST}@evil.example:{port}",
                own.upper(),
                f"http://{secrets.token_hex(4)}.example",
            ]
        )

    def _cookie(self) -> str | None:
        name, _, value = self.cookie.partition("=")
        expires, _, signature = value.partition(".")
        return self.draw.choice(
            [
                self.cookie,
                None,
                f"{name}={self.server.token}",
                f"{name}={int(expires) + self.draw.randint(1, 10**9)}.{signature}",
                f"{name}={expires}.{secrets.token_hex(32)}",
                f"{name}={expires}.",
                f"{name}=.{signature}",
                f"{name.rsplit('_', 1)[0]}={value}",
                f"_streamlit_user={value}",
            ]
        )

    def _host(self) -> str:
        return self.draw.choice(
            [
                *[self.server.host] * 4,  # mostly right, so that the rest is tried too
                f"evil.example:{self.server.port}",
                f"{HOST}.evil.example",
                f"evil.example@{self.server.host}",
                "",
            ]
        )


def _present(headers: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if value is not None}
