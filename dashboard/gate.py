"""Who may look: a token for every visitor, and headers that keep pages to themselves.

Localhost is not private on a shared machine. The address with the token sets a cookie once;
without it every page, file and socket answers 403.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = frozenset({"/_stcore/health"})
"""Answered to anyone: a container asks whether the server lives."""

HEADERS = {
    "content-security-policy": (
        "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
        "connect-src 'self' ws: wss: data: blob:; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_TOKEN = re.compile(r"[0-9a-f]{32,}")

_REFUSAL = """<!doctype html><html lang="en"><meta charset="utf-8"><title>crowdcore</title>
<meta name="viewport" content="width=device-width"><style>
body{font:16px/1.5 system-ui,sans-serif;margin:18vh auto;max-width:34rem;padding:0 1rem}
@media(prefers-color-scheme:dark){body{background:#12181f;color:#e4eaf0}a{color:#7cc0ee}}
</style><h1>This address needs its token</h1>
<p>Open the address that crowdcore printed when it started; it ends in <code>?token=…</code></p>
<p>If you came here through a link and have opened crowdcore in this browser before,
<a href="">continue</a>.</p></html>"""


def load_token(folder: Path) -> str:
    """Return the workspace's token; the same after a restart, so that open tabs go on."""
    path = folder / "token"
    if path.is_file():
        path.chmod(0o600)
        known = path.read_text(encoding="ascii", errors="replace").strip()
        if _TOKEN.fullmatch(known):
            return known
        path.unlink()
    token = secrets.token_hex(16)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another server of this workspace was quicker
        return load_token(folder)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(token)
    return token


class TokenGate:
    """ASGI middleware: `?token=` once becomes a cookie; who has neither is refused."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token
        # Browsers share cookies between ports: two workspaces must not overwrite each other's.
        self.cookie = "crowdcore_" + hashlib.sha256(token.encode()).hexdigest()[:12]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, set the cookie, or refuse."""
        if scope["type"] not in {"http", "websocket"} or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and self._same(_query(scope).get("token")):
            await self._welcome(scope, send)
        elif self._same(_cookies(scope).get(self.cookie)):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _answer(send, 403, {"content-type": "text/html; charset=utf-8"}, _REFUSAL)

    def _same(self, given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())

    async def _welcome(self, scope: Scope, send: Send) -> None:
        rest = [pair for pair in parse_qsl(scope["query_string"].decode()) if pair[0] != "token"]
        # One leading slash only: "//host" would lead elsewhere.
        target = "/" + scope["path"].lstrip("/\\") + ("?" + urlencode(rest) if rest else "")
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
        await _answer(send, 303, {"location": target, "set-cookie": cookie}, "")


class SecurityHeaders:
    """ASGI middleware: every answer carries the headers, whoever wrote it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to an HTTP answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                kept = [
                    pair for pair in message["headers"] if pair[0].decode().lower() not in HEADERS
                ]
                message = {**message, "headers": [*kept, *ours]}
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


async def _answer(send: Send, status: int, headers: dict[str, str], body: str) -> None:
    content = body.encode()
    every = {**headers, "content-length": str(len(content)), "cache-control": "no-store"}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in every.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})


def _query(scope: Scope) -> dict[str, str]:
    return dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))


def _cookies(scope: Scope) -> dict[str, str]:
    found: SimpleCookie = SimpleCookie()
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                found.load(value.decode("latin-1"))
            except CookieError:
                continue
    return {name: morsel.value for name, morsel in found.items()}
