"""Start the dashboard: one process, one port, one address with its token."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import threading
import tomllib
import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dashboard.pages import PAGES
from dashboard.server import downloads, gate

if TYPE_CHECKING:
    import streamlit as st
    from starlette.requests import Request
    from starlette.responses import Response

DASHBOARD = Path(__file__).resolve().parents[1]
FIRST_PORT, LAST_PORT = 8501, 8520
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})


def main(
    port: int | None,
    workspace: Path | None,
    host: str = "127.0.0.1",
    browser: bool = True,
) -> None:
    """Serve the dashboard until the process is stopped.

    Parameters
    ----------
    port
        The port to listen on; None takes the first free one from 8501 on.
    workspace
        The folder of the workspace; None is the usual one.
    host
        The address to listen on.
    browser
        Whether to open a browser.
    """
    if os.name != "nt":
        os.umask(0o077)  # what this process and its children write is the user's alone
    chosen = pick_port(host, port)

    import streamlit as st
    from starlette.middleware import Middleware
    from starlette.routing import Route

    from crowdcore.workspace import Workspace

    home = Workspace(workspace)
    token = gate.load_token(home.root)
    os.environ["CROWDCORE_HOME"] = str(home.root)
    os.environ[downloads.SERVED] = "1"
    # Upload tickets of open tabs stay valid after a restart; App.run takes no secrets.
    ticket = hashlib.sha256(f"cookies of {token}".encode()).hexdigest()
    os.environ.setdefault("STREAMLIT_SERVER_COOKIE_SECRET", ticket)
    shown = "localhost" if _is_local(host) or host in EVERYWHERE else host
    url = f"http://{f'[{shown}]' if ':' in shown else shown}:{chosen}/?token={token}"

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncGenerator[None, None]:
        from dashboard.server import startup

        startup.begin(home.root)
        sys.stdout.write(f"\n  crowdcore is open at {url}\n  Press Ctrl+C to stop it.\n\n")
        sys.stdout.flush()
        if browser:  # may block until the browser is there
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        yield

    app = st.App(
        DASHBOARD / "app.py",
        routes=[
            *downloads.routes(home),
            Route(f"/{PAGES[0].name}", to_first_page, methods=["GET"]),
        ],
        middleware=[
            Middleware(gate.SecurityHeaders),
            Middleware(gate.TokenGate, token=token, port=chosen, hosts=allowed_hosts(host)),
        ],
        lifespan=lifespan,
    )
    app.run(config=options(host, chosen))


def to_first_page(request: Request) -> Response:
    """Lead from the first page's name to "/", where alone Streamlit shows it."""
    from starlette.responses import RedirectResponse

    query = request.url.query
    return RedirectResponse(f"/?{query}" if query else "/")


def options(host: str, port: int) -> dict[str, Any]:
    """Flatten config.toml to dotted keys, which `App.run` wants; it does not read the file."""
    file = tomllib.loads((DASHBOARD / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    return {
        **_flat(file),
        # Streamlit would print and open an address without the token.
        "logger.hideWelcomeMessage": True,
        "server.headless": True,
        "server.address": host,
        "server.port": port,
        "server.allowedHosts": sorted(allowed_hosts(host) or ()),
    }


def allowed_hosts(host: str) -> frozenset[str] | None:
    """Return the names under which a server on an address answers; None for any.

    A local one has no other names: a page that reached it under its own name would be of a
    stranger who has bent that name to this computer.
    """
    return frozenset({"localhost", "127.0.0.1", "::1", host}) if _is_local(host) else None


def pick_port(host: str, requested: int | None) -> int:
    """Return the requested port, or the first free one; a taken one ends with a sentence."""
    if requested is not None:
        if not _is_free(host, requested):
            _refuse(
                f"Port {requested} on {host} is taken or not allowed. "
                "Choose another with --port, or leave it out to take the first free one."
            )
        return requested
    for port in range(FIRST_PORT, LAST_PORT + 1):
        if _is_free(host, port):
            return port
    with closing(socket.socket(_family(host))) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _is_free(host: str, port: int) -> bool:
    with closing(socket.socket(_family(host))) as probe:
        if os.name != "nt":  # as the server will bind; on Windows it would hide a listener
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except (OSError, OverflowError):
            return False
    return True


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _is_local(host: str) -> bool:
    return host in {"localhost", "::1"} or host.startswith("127.")


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{prefix}{name}"
        flat |= _flat(value, f"{key}.") if isinstance(value, dict) else {key: value}
    return flat


def _refuse(sentence: str) -> NoReturn:
    sys.stderr.write(sentence + "\n")
    raise SystemExit(2)
