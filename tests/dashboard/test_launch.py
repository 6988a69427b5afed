from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from crowdcore.data import CrowdData
from crowdcore.registry import fit
from crowdcore.workspace import Workspace
from crowdcore.workspace.runs import claim
from dashboard.exports import export_url
from dashboard.gate import HEADERS
from dashboard.launch import FIRST_PORT, options, pick_port

ROOT = Path(__file__).parents[2]
HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Server:
    """A dashboard in a process of its own, over a workspace with one finished run."""

    process: subprocess.Popen[bytes]
    port: int
    home: Workspace
    run_id: str
    log: Path

    def get(self, path: str, cookie: str = "") -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=20)
        try:
            connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, headers, answer.read()
        finally:
            connection.close()

    @property
    def token(self) -> str:
        return (self.home.root / "token").read_text(encoding="ascii")

    @property
    def cookie(self) -> str:
        return self.get(f"/?token={self.token}")[1]["set-cookie"].partition(";")[0]


def start(port: int, home: Path, log: Path) -> subprocess.Popen[bytes]:
    code = (
        "from pathlib import Path; from crowdcore import jobs; from dashboard.launch import main; "
        "jobs.ensure_daemon = lambda workspace: None; "
        f"main({port}, Path({str(home)!r}), browser=False)"
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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = Workspace(tmp_path_factory.mktemp("home"))
    triples = [("i1", "w1", "=1+1"), ("i1", "w2", "=1+1"), ("i2", "w1", "b")]
    data = CrowdData.from_triples(triples)
    dataset = home.add_data(home.create_project("Größe & co").id, data, name="labels")
    row = home.queue(dataset.id, "mv")
    claim(home.catalogue)
    home.save_result(row.id, fit(data, "mv"))
    home.queue(dataset.id, "mv")
    log = tmp_path_factory.mktemp("log") / "server.log"
    port = free_port()
    process = start(port, home.root, log)
    try:
        wait_until_healthy(process, port, log)
        yield Server(process=process, port=port, home=home, run_id=row.id, log=log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def test_health_is_open_and_pages_are_not(server: Server) -> None:
    assert server.get("/_stcore/health")[0] == 200
    for path in (
        "/",
        "/truths",
        "/_stcore/host-config",
        export_url(server.run_id, "truths", "csv"),
    ):
        status, _, body = server.get(path)
        assert status == 403
        assert b"token" in body


def test_the_token_leads_through_a_cookie_to_the_page(server: Server) -> None:
    status, headers, _ = server.get(f"/?token={server.token}")
    assert (status, headers["location"]) == (303, "/")
    status, _, body = server.get("/", cookie=server.cookie)
    assert status == 200
    assert b"<html" in body


def test_the_first_page_is_also_found_under_its_name(server: Server) -> None:
    assert server.get("/data")[0] == 403
    status, headers, _ = server.get("/data?project=a%20b", server.cookie)
    assert (status, headers["location"]) == (307, "/?project=a%20b")
    assert server.get("/data", server.cookie)[1]["location"] == "/"


def test_every_answer_carries_the_security_headers(server: Server) -> None:
    for path, cookie in (("/", ""), ("/", server.cookie), ("/_stcore/health", "")):
        assert HEADERS.items() <= server.get(path, cookie)[1].items()


@pytest.mark.parametrize(
    ("fmt", "begin"),
    [("csv", b'"item",'), ("csv-exact", b'"item",'), ("jsonl", b"{"), ("parquet", b"PAR1")],
)
def test_an_export_streams_with_a_safe_name(server: Server, fmt: str, begin: bytes) -> None:
    address = export_url(server.run_id, "truths", fmt)  # type: ignore[arg-type]
    status, headers, body = server.get(address, cookie=server.cookie)
    assert status == 200
    assert body.lstrip(b"\xef\xbb\xbf").startswith(begin)
    name = re.search(r'filename="([^"]+)"', headers["content-disposition"])
    assert name is not None
    assert re.fullmatch(r"[a-z0-9-]+\.(csv|jsonl|parquet)", name[1])
    until = time.monotonic() + 5
    while list(server.home.root.glob(".tmp-export-*")):
        assert time.monotonic() < until, "the file outlives its download"
        time.sleep(0.02)


def test_a_spreadsheet_export_disarms_formulas_and_an_exact_one_does_not(server: Server) -> None:
    safe = server.get(export_url(server.run_id, "truths", "csv"), cookie=server.cookie)[2]
    exact = server.get(export_url(server.run_id, "truths", "csv-exact"), cookie=server.cookie)[2]
    assert b',"\'=1+1",' in safe
    assert b',"=1+1",' in exact


@pytest.mark.parametrize(
    "path",
    [
        "/api/export/0123456789abcdef/truths.csv",
        "/api/export/..%2f..%2fcatalogue/truths.csv",
        "/api/export/RUN/secrets.csv",
        "/api/export/RUN/truths.exe",
    ],
)
def test_an_unknown_export_is_not_found(server: Server, path: str) -> None:
    status = server.get(path.replace("RUN", server.run_id), cookie=server.cookie)[0]
    assert status in {400, 404}


def test_a_run_without_a_result_has_no_export(server: Server) -> None:
    queued = next(row for row in server.home.runs(server.home.projects()[0].id) if row.active)
    status, _, body = server.get(export_url(queued.id, "truths", "csv"), cookie=server.cookie)
    assert status == 404
    assert b"not finished" in body


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_the_server_process_holds_no_torch(server: Server) -> None:
    server.get("/", cookie=server.cookie)
    assert "libtorch" not in Path(f"/proc/{server.process.pid}/maps").read_text(encoding="utf-8")


def test_a_taken_port_is_a_sentence_and_exit_code_two(server: Server, tmp_path: Path) -> None:
    process = start(server.port, tmp_path / "home", tmp_path / "log")
    assert process.wait(20) == 2
    output = (tmp_path / "log").read_text(encoding="utf-8")
    assert output.startswith(f"Port {server.port} on {HOST} is taken")
    assert "Traceback" not in output


def test_without_a_wish_the_first_free_port_is_taken() -> None:
    with socket.socket() as other:
        first = pick_port(HOST, None)
        assert first >= FIRST_PORT
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((HOST, first))
        other.listen()
        assert pick_port(HOST, None) > first


def test_the_theme_has_exactly_ten_chart_colours() -> None:
    config = options(HOST, 8501)
    for theme in ("light", "dark"):
        for kind in ("Categorical", "Sequential", "Diverging"):
            assert len(config[f"theme.{theme}.chart{kind}Colors"]) == 10


def test_the_options_keep_the_dashboard_silent_and_private() -> None:
    config = options(HOST, 8501)
    assert config["browser.gatherUsageStats"] is False
    assert config["client.disableDataExport"] is True
    assert config["server.maxUploadSize"] == 500
    assert "localhost" in config["server.allowedHosts"]
    assert options("0.0.0.0", 8501)["server.allowedHosts"] == []


def test_the_address_is_printed_with_its_token_and_nothing_else_is_said(server: Server) -> None:
    output = server.log.read_text(encoding="utf-8")
    assert f"http://localhost:{server.port}/?token={server.token}" in output
    assert len(output.strip().splitlines()) == 2
