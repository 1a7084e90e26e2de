"""Receivers of webhooks on loopback, which check signatures with somebody else's library."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64encode
from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from standardwebhooks.webhooks import Webhook as Verifier

from recrawl.clock import ScaledClock
from recrawl.entries.deliveries import DestinationsNamed
from recrawl.fetch.fetcher import RequestLimits
from recrawl.publish.tasks import Hooks, at_work, open_deliveries
from recrawl.publish.webhooks.delivery import WebhookTarget
from recrawl.publish.webhooks.signing import SigningKey
from recrawl.settings.settings import read_settings
from recrawl.settings.webhook_keys import Webhook
from recrawl.store import open_for_writing, open_store
from recrawl.store.writer import Writer
from recrawl.units import SECONDS_A_DAY
from tests.crawl.crawls import START
from tests.publish.fed import SETTINGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

KEY = bytes(range(32))
TEXT = "whsec_" + b64encode(KEY).decode()
LIMITS = RequestLimits(
    connect_seconds=10.0, idle_seconds=0.5, total_seconds=10.0, raw_bytes=1 << 16
)


class Receivers:
    """What several receivers were sent, each at a path of its own.

    Args:
        answers: By path: the status to answer an attempt with, from the number of the event, and
            how often it was tried before. 0 hangs, -1 hangs up.
    """

    def __init__(self, answers: dict[str, Callable[[int, int], int]]) -> None:
        self.answers = answers
        self.tried: Counter[tuple[str, str]] = Counter()
        self.taken: dict[str, list[dict[str, Any]]] = {path: [] for path in answers}
        self.wrong: list[str] = []
        self.pages: Callable[[str], tuple[int, bytes]] = lambda _: (404, b"")
        self.reply = b""
        self.port = 0
        self.ended = threading.Event()

    def target(self, path: str, **more: Any) -> WebhookTarget:
        """A receiver, as a crawl knows it."""
        address = f"http://127.0.0.1:{self.port}{path}"
        webhook = Webhook(address, "env:UNUSED", name=path, **{"local": True} | more)
        return WebhookTarget(webhook, SigningKey(KEY))

    def ids(self, path: str) -> list[str]:
        """Ids of the events that a receiver took, in order."""
        return [event["id"] for event in self.taken[path]]

    def mirror(self, path: str) -> dict[int, str]:
        """Pages and their versions, as a receiver that heeds every event has them."""
        found: dict[int, str] = {}
        for event in self.taken[path]:
            if event["type"].endswith(("removed", "moved")):
                found.pop(event["data"]["page"], None)
            else:
                found[event["data"]["page"]] = event["data"]["version"]
        return found

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        """Take an attempt, and tell how to answer it."""
        if path not in self.answers:
            self.wrong.append(path)
            return 404
        try:
            Verifier(TEXT).verify(body, headers)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a signature
            self.wrong.append(repr(error))
            return 400
        event = json.loads(body)
        if headers["webhook-id"] != event["id"] or event["id"] != event["data"]["cursor"]:
            self.wrong.append(f"{headers['webhook-id']} for {event['id']}")
        tried = self.tried[path, event["id"]]
        self.tried[path, event["id"]] += 1
        answer = self.answers[path](int(event["id"].rpartition("-")[2]), tried)
        if answer // 100 == 2 or answer == -1:  # taken, though nobody hears of it
            self.taken[path].append(event)
        return answer


@contextmanager
def receiving(answers: dict[str, Callable[[int, int], int]]) -> Iterator[Receivers]:
    """Receivers at work in threads."""
    receivers = Receivers(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            status, body = receivers.pages(self.path)
            self._answer(status, body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            named = {name.lower(): value for name, value in self.headers.items()}
            status = receivers.take(self.path, named, body)
            if status <= 0:
                if not status:
                    receivers.ended.wait(30)
                self.close_connection = True
                return
            self._answer(status, receivers.reply)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            if status // 100 == 3:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A crawl that was killed hangs up in the middle of anything."""

    server = Server(("127.0.0.1", 0), Handler)
    receivers.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receivers
    finally:
        receivers.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def fast(seconds_a_day: float = 0.2) -> ScaledClock:
    """A clock on which three days of attempts take a moment."""
    return ScaledClock(seconds_a_day, START + time.monotonic() / SECONDS_A_DAY)


@asynccontextmanager
async def delivering(
    path: Path, *targets: WebhookTarget, clock: Any = None, said: Any = bool, by_hand: bool = False
) -> AsyncIterator[None]:
    """Deliver from a store beside the block, and what is left after it."""
    hooks, clock = Hooks(targets, LIMITS), clock or fast()
    settings = read_settings(SETTINGS)
    with open_for_writing(path) as store, open_store(path) as reader:
        store.write([DestinationsNamed([each.webhook.key for each in targets])])
        writer = Writer(store, longest_wait_seconds=0.005)
        try:
            async with (
                open_deliveries(hooks, reader, settings, writer.put, clock, said) as deliveries,
                at_work(deliveries, said, by_hand=by_hand) as wake,
            ):
                writer.on_commit = wake
                yield
        finally:
            await writer.close()
