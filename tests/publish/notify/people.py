"""Services on loopback that real apprise sends messages to: HTTP and SMTP."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import EmailMessage

# Stands in every address: no output of ours may show it.
HIDDEN = "hunter2SeCrEt"
PAGES = re.compile(r"^(?:\+ |- )?mark (\d+)", re.MULTILINE)


@dataclass
class Chat:
    """A service that takes messages as JSON.

    Args:
        answer: Status to answer the next message with, by how many came before; 0 hangs.

    Attributes:
        pages: Status, body and tag of the page at a path, by the tag that is known of it.
    """

    answer: Callable[[int], int] = lambda _: 200
    port: int = 0
    tried: int = 0
    messages: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    pages: Callable[[str, str], tuple[int, bytes, str]] = lambda *_: (404, b"", "")
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        """Its address as apprise writes it."""
        return f"json://me:{HIDDEN}@127.0.0.1:{self.port}/{HIDDEN}?cto=30&rto=30"

    @property
    def bodies(self) -> list[str]:
        """What the messages said."""
        return [each["message"] for each in self.messages]


@contextmanager
def chatting(answer: Callable[[int], int] = lambda _: 200) -> Iterator[Chat]:
    """A chat at work in threads."""
    chat = Chat(answer)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            chat.paths.append(self.path)
            self._answer(*chat.pages(self.path, self.headers.get("if-none-match", "")))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = chat.answer(chat.tried)
            chat.tried += 1
            if not status:
                chat.ended.wait(30)
                return
            if status // 100 == 2:
                chat.messages.append(json.loads(body))
            self._answer(status, b"")

        def _answer(self, status: int, body: bytes, tag: str = "") -> None:
            self.send_response(status)
            if tag:
                self.send_header("ETag", tag)
            if status // 100 == 3:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Who sends may be killed in the middle of anything."""

    with _serving(Server(("127.0.0.1", 0), Handler)) as port:
        chat.port = port
        try:
            yield chat
        finally:
            chat.ended.set()


@contextmanager
def mailing(mails: list[EmailMessage]) -> Iterator[str]:
    """A mail server that keeps what it is sent; gives the address of a mailbox."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 ready")
            for line in iter(self.rfile.readline, b""):
                verb = line[:4].upper().strip()
                if verb == b"DATA":
                    self._say("354 go on")
                    lines = list(iter(self.rfile.readline, b".\r\n"))
                    whole = b"".join(each.removeprefix(b".") for each in lines)
                    mails.append(message_from_bytes(whole, policy=policy.default))
                self._say("221 bye" if verb == b"QUIT" else "250 fine")
                if verb == b"QUIT":
                    return

        def _say(self, line: str) -> None:
            self.wfile.write(line.encode() + b"\r\n")

    class Server(ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with _serving(Server(("127.0.0.1", 0), Handler)) as port:
        yield f"mailto://127.0.0.1:{port}?from=crawl@example.org&to=me@example.org&mode=insecure"


@contextmanager
def _serving(server: Any) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
