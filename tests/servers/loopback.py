"""Servers on addresses of the loopback range, answered by one function.

Touches: loopback, threads.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that was killed."""


@contextmanager
def servers(
    hosts: Iterable[str], answer: Callable[[BaseHTTPRequestHandler], None]
) -> Iterator[list[str]]:
    """One server for each host, at a port of its own; gives their origins."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5

        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    origins = []
    with ExitStack() as stack:
        for host in hosts:
            server = _Server((host, 0), Handler)
            stack.callback(server.server_close)
            thread = threading.Thread(target=server.serve_forever, args=(0.02,))
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            origins.append(f"http://{host}:{server.server_port}")
        yield origins
