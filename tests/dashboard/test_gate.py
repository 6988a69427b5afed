from __future__ import annotations

import asyncio
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from dashboard.server.gate import HEADERS, SESSION_DAYS, SecurityHeaders, TokenGate, load_token

TOKEN = "0123456789abcdef" * 2
PORT = 8501
HOST = f"localhost:{PORT}"
ORIGIN = f"http://{HOST}"


async def inner(scope: Any, _receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = [
        (b"content-type", b"text/plain"),
        (b"X-Frame-Options", b"SAMEORIGIN"),
        (b"Access-Control-Allow-Origin", b"*"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(
    path: str = "/",
    query: str = "",
    cookie: str = "",
    kind: str = "http",
    *,
    method: str = "GET",
    host: str | None = HOST,
    origin: str | None = None,
    scheme: str = "http",
    port: int = PORT,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Send one request through the gate; return its first message and its headers."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(dict(message))

    async def receive() -> Any:
        return {"type": f"{kind}.connect"}

    given = {"host": host, "origin": origin, "cookie": cookie or None}
    scope = {
        "type": kind,
        "method": method,
        "scheme": scheme if kind == "http" else {"http": "ws", "https": "wss"}[scheme],
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), text.encode()) for name, text in given.items() if text],
    }
    hosts = frozenset({"localhost", "127.0.0.1", "::1"})
    app = SecurityHeaders(TokenGate(inner, token=TOKEN, port=port, hosts=hosts))
    asyncio.run(app(scope, receive, send))
    headers = {name.decode().lower(): value.decode() for name, value in sent[0].get("headers", [])}
    return sent[0], headers


def cookie_of_a_visitor() -> str:
    return ask(query=f"token={TOKEN}")[1]["set-cookie"].partition(";")[0]


def opens_socket(**request: Any) -> bool:
    message, _ = ask(cookie=cookie_of_a_visitor(), kind="websocket", **request)
    return bool(message["type"] == "websocket.accept")


def test_nobody_enters_without_the_token() -> None:
    assert ask()[0]["status"] == 403
    assert ask(query="token=wrong")[0]["status"] == 403
    assert ask(query="token=%C3%A9")[0]["status"] == 403
    assert ask(cookie="crowdcore=nonsense; \x01=2")[0]["status"] == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    message, headers = ask(path="/truths", query=f"project=ab&token={TOKEN}&item=a%26b")
    assert message["status"] == 303
    assert headers["location"] == "/truths?project=ab&item=a%26b"
    assert headers["cache-control"] == "no-store"


def test_the_cookie_is_a_session_and_not_the_token() -> None:
    cookie = ask(query=f"token={TOKEN}")[1]["set-cookie"]
    assert TOKEN not in cookie
    assert f"crowdcore_{PORT}_" in cookie
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert f"Max-Age={SESSION_DAYS * 86400}" in cookie
    assert "Secure" not in cookie
    assert "Secure" in ask(query=f"token={TOKEN}", scheme="https")[1]["set-cookie"]


def test_the_cookie_opens_pages_and_sockets() -> None:
    cookie = cookie_of_a_visitor()
    assert ask(cookie=cookie)[0]["status"] == 200
    assert ask(cookie=f"other=1; {cookie}; more=2")[0]["status"] == 200
    assert opens_socket(origin=ORIGIN)


def test_a_cookie_of_the_same_name_from_another_port_does_not_lock_out() -> None:
    cookie = cookie_of_a_visitor()
    name = cookie.partition("=")[0]
    assert ask(cookie=f"{name}=1.2; {cookie}")[0]["status"] == 200
    assert ask(cookie=f"{cookie}; {name}=1.2")[0]["status"] == 200


def test_a_cookie_ends_after_days_and_cannot_be_made_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cookie = cookie_of_a_visitor()
    name, _, value = cookie.partition("=")
    expires, _, signature = value.partition(".")
    assert ask(cookie=f"{name}={int(expires) + 1}.{signature}")[0]["status"] == 403
    monkeypatch.setattr(time, "time", lambda: float(expires) + 1)
    assert ask(cookie=cookie)[0]["status"] == 403


def test_neither_the_token_nor_the_cookie_of_another_port_is_a_session() -> None:
    cookie = cookie_of_a_visitor()
    name, _, value = cookie.partition("=")
    assert ask(cookie=f"{name}={TOKEN}")[0]["status"] == 403
    assert ask(cookie=f"{name}=9999999999.{TOKEN}")[0]["status"] == 403
    other = name.replace(f"_{PORT}_", "_8502_")
    assert ask(cookie=f"{other}={value}", port=8502)[0]["status"] == 403


def test_a_socket_without_the_cookie_is_closed() -> None:
    assert ask(kind="websocket", origin=ORIGIN)[0]["type"] == "websocket.close"
    message, _ = ask(kind="websocket", origin=ORIGIN, query=f"token={TOKEN}")
    assert message["type"] == "websocket.close"


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        f"http://localhost:{PORT + 1}",
        "http://localhost",
        f"https://localhost:{PORT}",
        f"http://127.0.0.1:{PORT}",
        f"http://localhost.evil.example:{PORT}",
        f"http://localhost:{PORT}/",
        f"http://user@localhost:{PORT}",
        "http://evil.example",
    ],
)
def test_a_page_of_another_server_has_no_access_though_the_browser_sends_the_cookie(
    origin: str | None,
) -> None:
    assert not opens_socket(origin=origin)
    cookie = cookie_of_a_visitor()
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert ask(cookie=cookie, method=method, origin=origin)[0]["status"] == 403


def test_its_own_page_may_change_things_also_through_a_tunnel() -> None:
    cookie = cookie_of_a_visitor()
    assert ask(cookie=cookie, method="PUT", origin=ORIGIN)[0]["status"] == 200
    assert opens_socket(host="localhost:9000", origin="http://localhost:9000")
    assert opens_socket(origin=f"https://{HOST}", scheme="https")


@pytest.mark.parametrize(
    "host", [None, "evil.example", "localhost.evil.example", "a b", "[::1", ""]
)
def test_only_its_own_names_are_answered(host: str | None) -> None:
    assert ask(cookie=cookie_of_a_visitor(), host=host)[0]["status"] == 400
    assert ask(query=f"token={TOKEN}", host=host)[0]["status"] == 400
    assert not opens_socket(host=host, origin=f"http://{host}")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8501", "[::1]:8501"])
def test_every_name_of_this_computer_is_answered(host: str) -> None:
    assert ask(cookie=cookie_of_a_visitor(), host=host)[0]["status"] == 200


@pytest.mark.parametrize("path", ["/a\nb", "/a\r\nSet-Cookie: x=1", "/\x00", "/truths\x7f"])
def test_an_address_with_a_line_break_is_no_address(path: str) -> None:
    assert ask(path=path, query=f"token={TOKEN}")[0]["status"] == 400
    assert ask(path=path, cookie=cookie_of_a_visitor())[0]["status"] == 400


def test_the_redirect_never_leaves_this_server() -> None:
    for path in ("//evil.example/x", "/\\evil.example", "///evil.example"):
        location = ask(path=path, query=f"token={TOKEN}")[1]["location"]
        assert location.startswith("/e")


def test_a_redirect_keeps_letters_of_any_language() -> None:
    assert ask(path="/größe%", query=f"token={TOKEN}")[1]["location"] == "/gr%C3%B6%C3%9Fe%25"


def test_anyone_may_ask_whether_the_server_lives() -> None:
    assert ask(path="/_stcore/health")[0]["status"] == 200
    assert ask(path="/_stcore/health/")[0]["status"] == 403


def test_every_answer_carries_the_headers_once_and_allows_no_other_origin() -> None:
    for _, headers in (ask(), ask(cookie=cookie_of_a_visitor()), ask(query=f"token={TOKEN}")):
        assert HEADERS.items() <= headers.items()
        assert "access-control-allow-origin" not in headers


def test_the_policy_opens_no_socket_elsewhere() -> None:
    policy = HEADERS["content-security-policy"]
    assert "ws:" not in policy
    assert "wss:" not in policy
    assert "form-action 'self'" in policy
    assert "base-uri 'self'" in policy


def test_workspaces_do_not_overwrite_each_others_cookie() -> None:
    names = {TokenGate(inner, token=letter * 32, port=PORT).cookie for letter in "ab"}
    names.add(TokenGate(inner, token="a" * 32, port=PORT + 1).cookie)
    assert len(names) == 3


@pytest.mark.parametrize("umask", [0, 0o777])
def test_the_token_is_private_whatever_the_umask_and_stays_the_same(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        token = load_token(tmp_path)
    finally:
        os.umask(before)
    assert len(token) >= 32
    assert load_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("damaged", ["", "short", "zz" * 20])
def test_a_damaged_token_is_replaced(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "token"
    path.write_text(damaged, encoding="utf-8")
    path.chmod(0o600)
    assert len(load_token(tmp_path)) == 32


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o640, 0o604, 0o666])
def test_a_token_that_others_could_have_read_or_written_is_replaced(
    tmp_path: Path, mode: int
) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN, encoding="ascii")
    path.chmod(mode)
    assert load_token(tmp_path) != TOKEN
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_of_another_user_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN, encoding="ascii")
    path.chmod(0o600)
    assert load_token(tmp_path) == TOKEN
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert load_token(tmp_path) != TOKEN


def test_a_token_behind_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    target, folder = tmp_path / "target", tmp_path / "home"
    folder.mkdir()
    target.write_text(TOKEN, encoding="ascii")
    target.chmod(0o600)
    (folder / "token").symlink_to(target)
    assert load_token(folder) != TOKEN
    assert not (folder / "token").is_symlink()
    assert target.read_text(encoding="ascii") == TOKEN


def test_where_nothing_can_be_kept_private_the_token_lives_with_the_server(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    assert load_token(tmp_path) != load_token(tmp_path)
