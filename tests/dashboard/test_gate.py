from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

from dashboard.gate import HEADERS, SecurityHeaders, TokenGate, load_token

TOKEN = "0123456789abcdef" * 2


async def inner(scope: Any, _receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = [(b"content-type", b"text/plain"), (b"X-Frame-Options", b"SAMEORIGIN")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(
    path: str = "/", query: str = "", cookie: str = "", kind: str = "http"
) -> tuple[dict[str, Any], dict[str, str]]:
    """Send one request through the gate; return its first message and its headers."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(dict(message))

    async def receive() -> Any:
        return {"type": f"{kind}.connect"}

    scope = {
        "type": kind,
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"cookie", cookie.encode())] if cookie else [],
    }
    app = SecurityHeaders(TokenGate(inner, token=TOKEN))
    asyncio.run(app(scope, receive, send))
    headers = {name.decode().lower(): value.decode() for name, value in sent[0].get("headers", [])}
    return sent[0], headers


def cookie_of_a_visitor() -> str:
    return ask(query=f"token={TOKEN}")[1]["set-cookie"].partition(";")[0]


def test_nobody_enters_without_the_token() -> None:
    assert ask()[0]["status"] == 403
    assert ask(query="token=wrong")[0]["status"] == 403
    assert ask(query="token=%C3%A9")[0]["status"] == 403
    assert ask(cookie="crowdcore=nonsense; \x01=2")[0]["status"] == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    message, headers = ask(path="/truths", query=f"project=ab&token={TOKEN}&item=a%26b")
    assert message["status"] == 303
    assert headers["location"] == "/truths?project=ab&item=a%26b"
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]
    assert headers["cache-control"] == "no-store"


def test_the_cookie_opens_pages_and_sockets() -> None:
    cookie = cookie_of_a_visitor()
    assert ask(cookie=cookie)[0]["status"] == 200
    assert ask(cookie=f"other=1; {cookie}; more=2")[0]["status"] == 200
    assert ask(cookie=cookie, kind="websocket")[0]["type"] == "websocket.accept"


def test_a_socket_without_the_cookie_is_closed() -> None:
    assert ask(kind="websocket")[0]["type"] == "websocket.close"
    assert ask(kind="websocket", query=f"token={TOKEN}")[0]["type"] == "websocket.close"


def test_the_redirect_never_leaves_this_server() -> None:
    for path in ("//evil.example/x", "/\\evil.example", "///evil.example"):
        location = ask(path=path, query=f"token={TOKEN}")[1]["location"]
        assert location.startswith("/e")


def test_anyone_may_ask_whether_the_server_lives() -> None:
    assert ask(path="/_stcore/health")[0]["status"] == 200
    assert ask(path="/_stcore/health/")[0]["status"] == 403


def test_every_answer_carries_the_headers_once() -> None:
    for _, headers in (ask(), ask(cookie=cookie_of_a_visitor()), ask(query=f"token={TOKEN}")):
        assert HEADERS.items() <= headers.items()


def test_workspaces_do_not_overwrite_each_others_cookie() -> None:
    assert TokenGate(inner, token="a" * 32).cookie != TokenGate(inner, token="b" * 32).cookie


def test_the_token_is_private_and_stays_the_same(tmp_path: Path) -> None:
    token = load_token(tmp_path)
    assert len(token) >= 32
    assert load_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


@pytest.mark.parametrize("damaged", ["", "short", "zz" * 20])
def test_a_damaged_token_is_replaced(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "token").write_text(damaged, encoding="utf-8")
    assert len(load_token(tmp_path)) == 32
