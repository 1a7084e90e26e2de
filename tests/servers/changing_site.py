"""A small site on loopback whose pages a test changes, and that writes down what it was asked.

Touches: the network, on loopback; a thread.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class ChangingSite:
    """Pages by path, and what was asked.

    Attributes:
        address: Where it is, without a slash at its end.
        pages: Body of each page by its path; a path that begins with / is a redirect.
        asked: Path, `If-None-Match` and status of each request, but for robots.txt.
        hold: Paths that are answered only when `let_go` is set.
    """

    address: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str | None, int]] = field(default_factory=list)
    robots: str = ""
    hold: set[str] = field(default_factory=set)
    let_go: threading.Event = field(default_factory=threading.Event)

    def paths(self) -> list[str]:
        """What was asked since this was last called."""
        asked, self.asked = self.asked, []
        return sorted(path for path, _, _ in asked)

    def statuses(self) -> dict[str, int]:
        """The last status of each path that was asked for since this was last called."""
        asked, self.asked = self.asked, []
        return {path: status for path, _, status in asked}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: ClassVar[ChangingSite]

    def do_GET(self) -> None:
        """Answer, with an ETag of what the page is."""
        site, asked = self.site, self.headers.get("If-None-Match")
        if self.path in site.hold:
            site.let_go.wait(60)
        if self.path == "/robots.txt":
            self._send(200 if site.robots else 404, site.robots.encode(), {})
            return
        body = site.pages.get(self.path)
        etag = f'"{sha256((body or "").encode()).hexdigest()[:12]}"'
        if body is None:
            status, content, headers = 404, b"no such page", {}
        elif body.startswith("/"):
            status, content, headers = 301, b"", {"Location": body}
        elif asked == etag:
            status, content, headers = 304, b"", {"ETag": etag}
        else:
            status, content, headers = 200, body.encode(), {"ETag": etag}
        site.asked.append((self.path, asked, status))
        self._send(status, content, headers)

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that was killed."""


@contextmanager
def changing_site(pages: dict[str, str]) -> Iterator[ChangingSite]:
    """A site with these pages."""
    site = ChangingSite(pages=dict(pages))
    handler = type("Handler", (_Handler,), {"site": site, "timeout": 5})
    server = _Server(("127.0.0.1", 0), handler)
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield site
    finally:
        site.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()


def page(title: str, *links: str) -> str:
    """A page of enough words to be read as one, with links."""
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    text = f"All that there is to say about {title} is said here, in a sentence of its own."
    return f"<html><head><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>"
