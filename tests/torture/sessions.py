"""Many people at one dashboard, on two projects, while fits run: nobody sees a wrong number.

Each session speaks Streamlit's own protocol over a websocket, as a browser does: it opens pages,
types into their search boxes, and lets running fragments draw themselves anew. What it is shown
is held to the files of the run. The time of a click is recorded beside that of a session alone.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from crowdcore import fit
from crowdcore.audit.agreement import agreement
from crowdcore.jobs import stop_daemon
from crowdcore.simulation.classes import simulate
from crowdcore.wording import count, percent
from crowdcore.workspace import RunRow, Workspace
from dashboard.server.startup import WELCOMED
from tests.dashboard.server import Server, serving
from tests.torture import Row

CASES_PER_SESSION = 500
"""What a session counts for in a budget: it takes about as long as so many small cases."""

SESSIONS = (50, 200)

MAX_CLICK_SECONDS = 120.0
GRACE_SECONDS = 3.0
"""How long a screen may be out of date because a run that ended has the page drawn once more."""

STOP_SECONDS = 20.0
"""How long fits may take to stop at the end."""

LONG_FIT = {"max_iter": 10_000, "tol": 0.0}
PAGES = {"truths": "item", "workers": "worker"}
DONE, FRAGMENT_DONE = 0, 3  # ForwardMsg.ScriptFinishedStatus


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many people come, and what they do."""

    n_sessions: int
    n_visits: int = 4  # of each; a visit is two clicks
    n_visits_alone: int = 20  # of the one that comes before the others
    think_seconds: float = 2.0  # how long a person looks at a page, on average


def run(budget: int, seed: int) -> list[Row]:
    """Let 50 and 200 sessions in if the budget has room for them, else as many as it has."""
    room = max(2, budget // CASES_PER_SESSION)
    plans = [Plan(n_sessions=size) for size in SESSIONS if size <= room]
    if not plans:
        plans = [Plan(n_sessions=room, n_visits=2, n_visits_alone=3, think_seconds=0.2)]
    with tempfile.TemporaryDirectory() as folder:
        home = Workspace(Path(folder) / "home")
        home.set_setting(WELCOMED, True)
        runs = _make_projects(home, seed)
        try:
            with serving(home, Path(folder) / "server.log", daemon=True) as server:
                return [asyncio.run(_crowd(server, runs, plan, seed)) for plan in plans]
        finally:
            _stop_fits(home)
            stop_daemon(home)


def _make_projects(home: Workspace, seed: int) -> list[RunRow]:
    """Make two projects whose items and workers have the same names, with two results each."""
    finished = []
    for name, items, classes in (("First", 400, 3), ("Second", 700, 4)):
        crowd = simulate(
            items=items, workers=40, classes=classes, labels_per_item=4, features=0, seed=seed
        )
        dataset = home.add_data(home.create_project(name).id, crowd.data, name=f"{name}.csv")
        for method in ("mv", "ds"):
            queued = home.queue(dataset.id, method)
            home.save_result(queued.id, fit(crowd.data, method))
            finished.append(home.run(queued.id))
    return finished


def _stop_fits(home: Workspace) -> None:
    """Stop what runs, and wait until it has."""
    until = time.monotonic() + STOP_SECONDS
    while active := [row for p in home.projects() for row in home.runs(p.id) if row.active]:
        if time.monotonic() > until:
            raise AssertionError(f"{active[0].label} does not stop")
        for row in active:
            home.cancel(row.id)
        time.sleep(0.2)


async def _crowd(server: Server, runs: Sequence[RunRow], plan: Plan, seed: int) -> Row:
    """Measure a session alone, then many at once; fits begin and end meanwhile."""
    expected = {run.id: Expected.from_run(server.home, run) for run in runs}
    cookie, draw = server.cookie, random.Random(seed)
    ended = asyncio.Event()
    feeder = asyncio.create_task(_keep_fitting(server.home, runs, ended))
    alone = await _sit_down(
        server, cookie, expected, replace(plan, n_visits=plan.n_visits_alone), draw.random()
    )
    crowd = await asyncio.gather(
        *(_sit_down(server, cookie, expected, plan, draw.random()) for _ in range(plan.n_sessions))
    )
    ended.set()
    await feeder
    seconds = [click for session in crowd for click in session.seconds]
    problems = [problem for session in (alone, *crowd) for problem in session.problems]
    times = f"a click takes {_quantiles(seconds)}; alone {_quantiles(alone.seconds)}"
    return Row(
        name=f"sessions: {plan.n_sessions} on two projects",
        tried=len(seconds) + len(alone.seconds),
        failed=len(problems),
        worst=f"{problems[0]}; {times}" if problems else times,
    )


def _quantiles(seconds: Sequence[float]) -> str:
    if not seconds:
        return "unknown"
    return f"{np.median(seconds):.2f} s (p95 {np.quantile(seconds, 0.95):.2f} s)"


async def _keep_fitting(home: Workspace, runs: Sequence[RunRow], ended: asyncio.Event) -> None:
    """Keep a long and a short fit in each project's queue, so that runs work, begin and end."""
    while not ended.is_set():
        for run in runs[::2]:
            active = {row.method for row in home.runs(run.project_id) if row.active}
            if "ds" not in active:
                home.queue(run.dataset_id, "ds", params=LONG_FIT)
            if "mv" not in active:
                home.queue(run.dataset_id, "mv")
        await asyncio.sleep(2)


async def _sit_down(
    server: Server,
    cookie: str,
    expected: dict[str, Expected],
    plan: Plan,
    seed: float,
) -> Session:
    """Open the dashboard and visit some pages, each with a search; return what was seen."""
    draw = random.Random(seed)
    session = Session(draw=draw, think_seconds=plan.think_seconds)
    try:
        async with connect(
            f"ws://{server.host}/_stcore/stream",
            additional_headers={"Cookie": cookie},
            origin=Origin(server.origin),
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
            open_timeout=MAX_CLICK_SECONDS,
        ) as socket:
            session.socket = socket
            await session.think()
            for _ in range(plan.n_visits):
                run = expected[draw.choice(list(expected))]
                await session.visit(run, draw.choice(list(PAGES)), str(draw.randrange(10)))
    except Exception as error:
        session.problems.append(f"{type(error).__name__}: {error}")
    return session


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What pages must show of a run, read from its files."""

    run: RunRow
    metrics: dict[str, dict[str, str]]  # by page
    tables: dict[str, pd.DataFrame]  # by page

    @classmethod
    def from_run(cls, home: Workspace, run: RunRow) -> Expected:
        """Read a run's tables, without the dashboard."""
        truths, workers = home.truths(run.id), home.workers(run.id)
        result = home.load_result(run.id)
        alpha = agreement(result.data).alpha
        assert alpha is not None
        compared = workers["n_compared"].to_numpy()
        n_right = np.nansum(workers["accuracy"].to_numpy() * compared)
        score = result.score()
        assert score is not None
        return cls(
            run=run,
            metrics={
                "truths": {
                    "Items": count(len(truths)),
                    "Mean confidence": percent(truths["confidence"].mean()),
                    "Tied": count(truths["tied"].sum()),
                    "Accuracy vs. gold": percent(score.accuracy),
                },
                "workers": {
                    "Workers": count(len(workers)),
                    "Labels right": percent(n_right / compared.sum()),
                    "Agreement (alpha)": f"{alpha:.2f}",
                },
            },
            tables={"truths": truths, "workers": workers},
        )

    def rows(self, page: str, text: str) -> set[tuple[str, str]]:
        """Return the rows that a search on a page must leave, by name and what is said of it."""
        name, table = PAGES[page], self.tables[page]
        says = "truth" if page == "truths" else "n_labels"
        kept = table[table[name].str.contains(text, regex=False)]
        return set(zip(kept[name].astype(str), kept[says].astype(str), strict=True))


@dataclass
class Screen:
    """What a session is shown: the elements of one run of a page."""

    metrics: dict[str, str] = field(default_factory=dict)
    tables: list[pd.DataFrame] = field(default_factory=list)
    search: str = ""  # the id of the search box
    errors: list[str] = field(default_factory=list)

    def clear(self) -> None:
        """Forget what an earlier run of the page has shown."""
        self.metrics, self.tables, self.search, self.errors = {}, [], "", []

    def add(self, element: Any) -> None:
        """Take in an element, as far as it is compared."""
        kind = element.WhichOneof("type")
        if kind == "metric":
            self.metrics[element.metric.label] = element.metric.body
        elif kind == "dataframe":
            with pa.ipc.open_stream(element.dataframe.arrow_data.data) as stream:
                self.tables.append(stream.read_pandas())
        elif kind == "text_input" and element.text_input.label == "Search":
            self.search = element.text_input.id
        elif kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")

    def rows(self, page: str) -> set[tuple[str, str]]:
        """Return what the page's first table says of each item or worker."""
        if not self.tables:
            return set()
        says = "truth" if page == "truths" else "n_labels"
        table = self.tables[0]
        return set(zip(table[PAGES[page]].astype(str), table[says].astype(str), strict=True))


@dataclass
class Session:
    """One person's browser: what it has open, and how long clicks took."""

    draw: random.Random
    think_seconds: float
    socket: ClientConnection = field(init=False)
    seconds: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)  # a page's hash by its name
    page: str = ""
    query: str = ""
    timers: dict[str, float] = field(default_factory=dict)  # seconds by fragment

    async def visit(self, expected: Expected, page: str, text: str) -> None:
        """Open a page of a run, search on it, and compare what it shows both times."""
        self.page = page
        self.query = f"project={expected.run.project_id}&run={expected.run.id}"

        def shows_metrics(screen: Screen) -> bool:
            return expected.metrics[page].items() <= screen.metrics.items()

        def shows_rows(screen: Screen) -> bool:
            return screen.rows(page) == expected.rows(page, text)

        screen = await self._click({}, shows_metrics)
        self._judge(screen, shows_metrics(screen), f"{expected.run.label}: {screen.metrics}")
        await self.think()
        screen = await self._click({screen.search: text}, shows_rows)
        self._judge(screen, shows_rows(screen), f"{expected.run.label}: search for {text}")
        await self.think()

    async def think(self) -> None:
        """Look at the page for a while; fragments with a timer draw themselves anew meanwhile."""
        until = time.monotonic() + self.draw.uniform(0, 2 * self.think_seconds)
        due = {fragment: time.monotonic() + every for fragment, every in self.timers.items()}
        while (now := time.monotonic()) < until:
            fragment = min(due, key=lambda name: due[name], default=None)
            if fragment is None or due[fragment] > until:
                await asyncio.sleep(until - now)
                break
            await asyncio.sleep(max(0.0, due[fragment] - now))
            await self._send({}, fragment=fragment)
            await self._receive(Screen(), MAX_CLICK_SECONDS)
            due = {name: time.monotonic() + every for name, every in self.timers.items()}

    async def _click(self, texts: dict[str, str], is_right: Any) -> Screen:
        """Do something and wait until the page has been drawn; take the time that it took."""
        began = time.monotonic()
        await self._send(texts)
        screen = Screen()
        await self._receive(screen, MAX_CLICK_SECONDS)
        self.seconds.append(time.monotonic() - began)
        while not screen.errors and not is_right(screen):
            redrawn = Screen()  # a run that ended has the whole page drawn once more
            try:
                await self._receive(redrawn, GRACE_SECONDS)
            except TimeoutError:
                break
            screen = redrawn
        return screen

    def _judge(self, screen: Screen, is_right: bool, facts: str) -> None:
        if screen.errors:
            self.problems.append(screen.errors[0])
        elif not is_right:
            self.problems.append(f"wrong numbers for {facts}")

    async def _send(self, texts: dict[str, str], fragment: str = "") -> None:
        """Ask for a run of the page, with the contents of some text boxes."""
        message = BackMsg()
        request = message.rerun_script
        request.query_string = self.query
        request.page_script_hash = self.pages.get(self.page, "")
        request.page_name = "" if self.pages else self.page
        request.fragment_id = fragment
        request.is_auto_rerun = bool(fragment)
        for widget, text in texts.items():
            state = request.widget_states.widgets.add()
            state.id, state.string_value = widget, text
        await self.socket.send(message.SerializeToString())

    async def _receive(self, screen: Screen, seconds: float) -> None:
        """Take in what the server sends until a run of the page, or of a fragment, is over."""
        async with asyncio.timeout(seconds):
            while True:
                message = ForwardMsg()
                content = await self.socket.recv()
                message.ParseFromString(content if isinstance(content, bytes) else b"")
                kind = message.WhichOneof("type")
                if kind == "new_session" and not message.metadata.run.fragment_ids:
                    screen.clear()
                    self.timers.clear()
                elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                    screen.add(message.delta.new_element)
                elif kind == "auto_rerun":
                    self.timers[message.auto_rerun.fragment_id] = message.auto_rerun.interval
                elif kind == "navigation":
                    pages = message.navigation.app_pages
                    self.pages = {page.url_pathname: page.page_script_hash for page in pages}
                elif kind == "page_info_changed":
                    self.query = message.page_info_changed.query_string
                elif kind == "script_finished" and message.script_finished in (DONE, FRAGMENT_DONE):
                    return
