"""Debian's nginx on loopback, with its own folder, as a child of the test.

It is somebody else's server: what it logs is a second opinion on what we sent, and what it answers
is what real hosts do about ETags, conditional requests and compression.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tests.waiting import HANGS_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

_CONFIGURATION = """
daemon off;
master_process off;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 512; }}
http {{
    log_format told '$msec|$connection|$status|$body_bytes_sent|$request|$http_user_agent';
    access_log access.log told;
    {formats}
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    types {{ text/html html; text/plain txt; application/xml xml; }}
    charset utf-8;
    gzip on;
    gzip_min_length 1000;
    gzip_types text/plain application/xml;
    keepalive_requests 100000;
    server {{
        listen 127.0.0.1:{port};
        root pages;
        error_page 404 /missing.html;
        location /moved/ {{ return 301 /index.html; }}
        location /gone/ {{ return 410; }}
        location /busy/ {{ add_header Retry-After 120 always; return 503; }}
        {more}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Logged:
    """One line of the server's log."""

    at: float  # epoch seconds, when the answer was sent
    connection: int
    status: int
    body_bytes: int
    path: str
    agent: str


class Nginx:
    """A running nginx; `missing()` says why there can be none."""

    def __init__(self, folder: Path, *, more: str = "", formats: str = "") -> None:
        self.folder = folder
        self.pages = folder / "pages"
        self.port = _free_port()
        self._more = more
        self._formats = formats
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def missing() -> str:
        return "" if shutil.which("nginx", path=_PATH) else "needs nginx, which is not installed"

    def address(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def write(self, path: str, text: str, *, modified: float | None = None) -> None:
        """Put a page into the folder, dated as told."""
        place = self.pages / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        if modified is not None:
            os.utime(place, (modified, modified))

    def log(self, lines: int = 0) -> list[Logged]:
        """What the server logged, once there are so many lines: it writes after it answers."""
        place, deadline = self.folder / "access.log", time.monotonic() + HANGS_SECONDS
        while True:
            rows = place.read_text().splitlines() if place.exists() else []
            if len(rows) >= lines or time.monotonic() > deadline:
                return [_logged(row) for row in rows]
            time.sleep(0.01)

    def __enter__(self) -> Self:
        self.pages.mkdir(parents=True, exist_ok=True)
        self.write("missing.html", "<p>nothing here</p>")
        configuration = self.folder / "nginx.conf"
        configuration.write_text(
            _CONFIGURATION.format(port=self.port, more=self._more, formats=self._formats)
        )
        program = shutil.which("nginx", path=_PATH)
        assert program is not None
        self._process = subprocess.Popen(
            [program, "-p", str(self.folder), "-c", str(configuration), "-e", "error.log"]
        )
        self._wait()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(HANGS_SECONDS)

    def _wait(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + HANGS_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        errors = self.folder / "error.log"
        raise RuntimeError(f"nginx must start (it said {errors.read_text()[-500:]!r})")


# Debian keeps servers where the path of a plain user does not lead.
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _logged(row: str) -> Logged:
    at, connection, status, size, request, agent = row.split("|", 5)
    path = request.split(" ")[1]
    return Logged(float(at), int(connection), int(status), int(size), path, agent)
