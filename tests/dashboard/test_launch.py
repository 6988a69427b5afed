from __future__ import annotations

import re
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdcore.data import CrowdData
from crowdcore.registry import fit
from crowdcore.workspace import RunRow, Workspace
from crowdcore.workspace.run_states import claim
from dashboard.server.downloads import export_url
from dashboard.server.gate import HEADERS
from dashboard.server.launch import FIRST_PORT, allowed_hosts, options, pick_port
from tests.dashboard.server import HOST, Server, serving, start
from tests.torture import access


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a workspace with one finished run and one that waits."""
    home = Workspace(tmp_path_factory.mktemp("home"))
    triples = [("i1", "w1", "=1+1"), ("i1", "w2", "=1+1"), ("i2", "w1", "b")]
    data = CrowdData.from_triples(triples)
    dataset = home.add_data(home.create_project("Größe & co").id, data, name="labels")
    row = home.queue(dataset.id, "mv")
    claim(home.catalogue)
    home.save_result(row.id, fit(data, "mv"))
    home.queue(dataset.id, "mv")
    with serving(home, tmp_path_factory.mktemp("log") / "server.log") as running:
        yield running


@pytest.fixture
def run(server: Server) -> RunRow:
    """Return the run that has a result."""
    return next(row for row in server.home.runs(server.home.projects()[0].id) if not row.active)


def test_health_is_open_and_pages_are_not(server: Server, run: RunRow) -> None:
    assert server.get("/_stcore/health")[0] == 200
    for path in (
        "/",
        "/truths",
        "/_stcore/host-config",
        export_url(run.id, "truths", "csv"),
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
    assert server.get("/overview")[0] == 403
    status, headers, _ = server.get("/overview?project=a%20b", server.cookie)
    assert (status, headers["location"]) == (307, "/?project=a%20b")
    assert server.get("/overview", server.cookie)[1]["location"] == "/"


def test_every_answer_carries_the_security_headers(server: Server) -> None:
    for path, cookie in (("/", ""), ("/", server.cookie), ("/_stcore/health", "")):
        assert HEADERS.items() <= server.get(path, cookie)[1].items()


@pytest.mark.parametrize(
    ("fmt", "begin"),
    [("csv", b'"item",'), ("csv-exact", b'"item",'), ("jsonl", b"{"), ("parquet", b"PAR1")],
)
def test_an_export_streams_with_a_safe_name(
    server: Server, run: RunRow, fmt: str, begin: bytes
) -> None:
    address = export_url(run.id, "truths", fmt)  # type: ignore[arg-type]
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


def test_a_spreadsheet_export_disarms_formulas_and_an_exact_one_does_not(
    server: Server, run: RunRow
) -> None:
    safe = server.get(export_url(run.id, "truths", "csv"), cookie=server.cookie)[2]
    exact = server.get(export_url(run.id, "truths", "csv-exact"), cookie=server.cookie)[2]
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
def test_an_unknown_export_is_not_found(server: Server, run: RunRow, path: str) -> None:
    status = server.get(path.replace("RUN", run.id), cookie=server.cookie)[0]
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


def test_no_attack_gets_in_and_none_leaves_a_traceback(server: Server) -> None:
    assert [row for row in access.attack(server, 240, seed=0) if row.failed] == []


def test_a_hostile_neighbour_with_the_users_cookie_gets_no_socket(server: Server) -> None:
    neighbour = {"Origin": f"http://127.0.0.1:{server.port + 1}", "Cookie": server.cookie}
    assert server.open_socket(neighbour) == 403
    assert server.open_socket({**neighbour, "Origin": server.origin}) == 101


def test_an_address_with_a_coded_line_break_is_answered_with_400(server: Server) -> None:
    for path in ("/a%0ab", "/%0d%0aSet-Cookie:%20x=1", f"/%0a?token={server.token}"):
        assert server.get(path, server.cookie)[0] == 400
    assert "Traceback" not in server.log.read_text(encoding="utf-8")


def test_files_that_the_server_writes_are_the_users_alone(server: Server) -> None:
    assert stat.S_IMODE((server.home.root / "token").stat().st_mode) == 0o600
    status = Path(f"/proc/{server.process.pid}/status")
    if status.exists():  # it was started with a umask of 0
        assert "Umask:\t0077" in status.read_text(encoding="utf-8")


def test_a_local_server_answers_to_its_own_names_only() -> None:
    usual = {"localhost", "127.0.0.1", "::1"}
    assert set(allowed_hosts("127.0.0.1") or ()) == usual
    assert set(allowed_hosts("127.0.0.2") or ()) == {*usual, "127.0.0.2"}
    assert allowed_hosts("0.0.0.0") is None
