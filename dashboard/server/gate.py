"""Who may look: a token for every visitor, and nothing for pages of other servers.

Localhost is not private on a shared machine, and a browser sends cookies to every port of a host.
The address with the token sets a cookie once; without it every page, file and socket answers
403. What changes something, and the socket, must come from a page of this very server: scheme,
host and port are compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = frozenset({"/_stcore/health"})
"""Answered to anyone: a container asks whether the server lives."""

SESSION_DAYS = 7
"""How long a cookie lets a browser in; then the address with the token is needed again."""

HEADERS = {
    "content-security-policy": (
        "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
        "connect-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Requests that change nothing."""

MAX_ATTEMPTS = 3
"""How often a token is written before the file system is taken to keep nothing private."""

_TOKEN = re.compile(r"[0-9a-f]{32,}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")

_REFUSAL = """<!doctype html><html lang="en"><meta charset="utf-8"><title>crowdcore</title>
<meta name="viewport" content="width=device-width"><style>
body{font:16px/1.5 system-ui,sans-serif;margin:18vh auto;max-width:34rem;padding:0 1rem}
@media(prefers-color-scheme:dark){body{background:#12181f;color:#e4eaf0}a{color:#7cc0ee}}
</style><h1>This address needs its token</h1>
<p>Open the address that crowdcore printed when it started; it ends in <code>?token=…</code></p>
<p>If you came here through a link and have opened crowdcore in this browser before,
<a href="">continue</a>.</p></html>"""

_HTML = {"content-type": "text/html; charset=utf-8"}
_TEXT = {"content-type": "text/plain; charset=utf-8"}


def load_token(folder: Path) -> str:
    """Return the workspace's token; the same after a restart, so that open tabs go on.

    A file that somebody else owns, or could have read or written, is replaced.

    Parameters
    ----------
    folder
        The folder of the workspace.

    Returns
    -------
    The token, which is also in the file "token" that only the user can read, where the file
    system can keep it so.
    """
    path = folder / "token"
    for _ in range(MAX_ATTEMPTS):
        if (token := _read_token(path)) is not None:
            return token
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            _create_token(path)
    return secrets.token_hex(16)  # nothing stays private here, so it ends with the server


class TokenGate:
    """ASGI middleware: `?token=` once becomes a cookie; who has neither is refused.

    Parameters
    ----------
    app
        The application behind the gate.
    token
        What the first visit must bring.
    port
        The port that the server listens on. The cookie's name has it, for browsers send
        cookies to all ports.
    hosts
        The names under which the server answers; None for any.
    """

    def __init__(
        self, app: ASGIApp, *, token: str, port: int, hosts: frozenset[str] | None = None
    ) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts
        # Two workspaces may be reached through the same port of a tunnel's end.
        digest = hashlib.sha256(f"name of {token}".encode()).hexdigest()
        self.cookie = f"crowdcore_{port}_{digest[:8]}"
        self._key = hashlib.sha256(f"sessions of {token} at {port}".encode()).digest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, set the cookie, or refuse."""
        if scope["type"] not in {"http", "websocket"} or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is not None:
            await _refuse(scope, send, 400, _TEXT, problem)
        elif not _is_from_here(scope):
            await _refuse(scope, send, 403, _TEXT, "Pages of other servers have no access.\n")
        elif scope["type"] == "http" and self._is_token(_query(scope).get("token")):
            await self._welcome(scope, send)
        elif any(self._is_session(value) for value in _cookies(scope, self.cookie)):
            await self.app(scope, receive, send)
        else:
            await _refuse(scope, send, 403, _HTML, _REFUSAL)

    def _problem(self, scope: Scope) -> str | None:
        """Say what is wrong with the address of a request; None if nothing is."""
        if _CONTROL.search(scope["path"]):
            return "This address has a character that no address has.\n"
        host = _header(scope, b"host")
        if host is None or not _HOST.fullmatch(host):
            return "This request does not say which server it is for.\n"
        if self.hosts is not None and urlsplit(f"//{host}").hostname not in self.hosts:
            return "This server does not answer to that name.\n"
        return None

    def _is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def _is_session(self, value: str) -> bool:
        """Tell whether a cookie was made here and is not too old."""
        expires, _, signature = value.partition(".")
        if not re.fullmatch(r"\d{1,12}", expires) or int(expires) < time.time():
            return False
        return hmac.compare_digest(signature.encode(), self._signature(expires).encode())

    def _signature(self, expires: str) -> str:
        return hmac.new(self._key, expires.encode(), hashlib.sha256).hexdigest()

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Trade the token for a cookie, and lead to the same address without the token."""
        query = [pair for pair in _query_pairs(scope) if pair[0] != "token"]
        # One leading slash only: "//host" would lead elsewhere.
        path = "/" + scope["path"].lstrip("/\\")
        target = quote(path) + ("?" + urlencode(query) if query else "")
        seconds = SESSION_DAYS * 24 * 3600
        expires = str(int(time.time()) + seconds)
        attributes = f"Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}"
        if scope.get("scheme") == "https":
            attributes += "; Secure"
        cookie = f"{self.cookie}={expires}.{self._signature(expires)}; {attributes}"
        await _answer(send, 303, {"location": target, "set-cookie": cookie}, "")


class SecurityHeaders:
    """ASGI middleware: every answer carries the headers, whoever wrote it, and allows no CORS."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to an HTTP answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                kept = [pair for pair in message["headers"] if not _is_replaced(pair[0])]
                message = {**message, "headers": [*kept, *added]}
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def _is_replaced(header: bytes) -> bool:
    name = header.decode("latin-1").lower()
    return name in HEADERS or name.startswith("access-control-")


def _is_from_here(scope: Scope) -> bool:
    """Tell whether a socket, or a request that changes something, comes from our own page."""
    if scope["type"] == "http" and scope["method"] in SAFE_METHODS:
        return True
    scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
    return _header(scope, b"origin") == f"{scheme}://{_header(scope, b'host')}"


def _header(scope: Scope, name: bytes) -> str | None:
    """Return a header; None where it is missing or there are several."""
    values = [value for key, value in scope["headers"] if key == name]
    return str(values[0].decode("latin-1")) if len(values) == 1 else None


def _cookies(scope: Scope, name: str) -> Iterator[str]:
    """Return every cookie of a name: another port may have set one that hides ours."""
    for key, value in scope["headers"]:
        if key == b"cookie":
            for pair in value.decode("latin-1").split(";"):
                given, _, content = pair.strip().partition("=")
                if given == name:
                    yield content


def _query(scope: Scope) -> dict[str, str]:
    return dict(_query_pairs(scope))


def _query_pairs(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"))


async def _refuse(
    scope: Scope, send: Send, status: int, headers: dict[str, str], body: str
) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, status, headers, body)


async def _answer(send: Send, status: int, headers: dict[str, str], body: str) -> None:
    content = body.encode()
    complete = {**headers, "content-length": str(len(content)), "cache-control": "no-store"}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in complete.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})


def _read_token(path: Path) -> str | None:
    """Read the token from a file that only this user can have read or written, else None."""
    # Neither through a link, nor waiting for somebody to write into a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        content = os.read(handle, 1024) if _is_private(os.fstat(handle)) else b""
    finally:
        os.close(handle)
    token = content.decode("ascii", errors="replace").strip()
    return token if _TOKEN.fullmatch(token) else None


def _is_private(status: os.stat_result) -> bool:
    if not stat.S_ISREG(status.st_mode):
        return False
    if os.name == "nt":  # there the folder's permissions decide
        return True
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077


def _create_token(path: Path) -> None:
    """Write a new token, whole or not at all; one that another server has just written stays."""
    draft = path.with_name(f".tmp-token-{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o600)  # whatever the umask
            file.write(secrets.token_hex(16))
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        except OSError:  # a file system without links
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
