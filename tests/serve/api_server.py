"""A store with some history, and the real server over it on a loopback port."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn

from recrawl.scheduler import Scheduler
from recrawl.serve.app import create_app
from recrawl.serve.running import listen
from recrawl.serve.safety import ServerAccess
from recrawl.serve.source import ServedCrawl
from tests.scheduler.test_scheduler import HandClock

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "test-token-0123456789"  # noqa: S105 - made up
SETTINGS = """agent = "bot (me@example.org)"
budget = "100000/1d"
[[site]]
address = "https://a.org/"
local = true
[[site]]
address = "https://b.org/"
[politeness]
delay = "0.01s"
"""
PAGES = [f"https://{host}.org/s{number % 3}/{number}" for host in "ab" for number in range(6)]
HOSTILE = "<script>alert(1)</script>"


def write_settings(folder: Path, text: str = SETTINGS) -> Path:
    file = folder / "recrawl.toml"
    file.write_text(text)
    return file


def crawl_store(file: Path, rounds: int = 3) -> None:
    """Visit all pages some times, a day apart; every third changes each time."""
    clock = HandClock(time.time() / 86_400 - rounds - 1)
    with Scheduler.open(settings=file, clock=clock) as scheduler:
        scheduler.add(PAGES)
        for each in range(rounds):
            seen: set[str] = set()
            while len(seen) < len(PAGES):
                for page in scheduler.due(5):
                    seen.add(page.address)
                    news = each if int(page.address.rsplit("/", 1)[1]) % 3 == 0 else 0
                    scheduler.seen(page, body=_body(page.address, news))
                clock.at += 0.001
            clock.at += 1.0


def _body(address: str, news: int) -> str:
    return (
        f"<title>{HOSTILE}</title><main><h1>{address}</h1><p>{HOSTILE} news {news} of the day, "
        f"with {7 * news} further words that say something else each time</p></main>"
    )


@dataclass
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)


@dataclass
class Client:
    """Asks a server, with the token unless told otherwise."""

    port: int
    token: str = TOKEN
    app: Any = None

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token and "Authorization" not in given:
            given["Authorization"] = f"Bearer {self.token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, given)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    @contextmanager
    def stream(self, path):
        """Open a stream; gives what its events hold."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            response = connection.getresponse()
            yield (json.loads(line[6:]) for line in response if line.startswith(b"data: "))
        finally:
            connection.close()

    def post(self, path, body=None, **headers):
        return self.ask("POST", path, body, **headers)


@contextmanager
def served(file, owner=None, access=None):
    """The server of a crawl, in a thread of its own; gives a client."""
    app = create_app(ServedCrawl(file), access or ServerAccess.at("127.0.0.1", TOKEN), owner)
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=3)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        client = Client(listener.getsockname()[1])
        client.app = app
        yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
