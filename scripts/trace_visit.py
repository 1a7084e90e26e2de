"""One visit through the files: where it goes, from its lease to its commit.

    .venv/bin/python scripts/trace_visit.py [--all]

A page on a loopback server is copied, then visited again by `recrawl crawl --once` under a
profiler, from the moment at which the agenda is asked for a lease until the visit is on disk and
counted. A *hop* is a hand that the visit passes through: a file of the rooms that carry it (crawl,
scheduler, frontier, state, fetch), where a folder in a room counts once; or a room that decides or
keeps (detect, policies, store). What goes on beside the visit, the line of progress and the search
for new pages, is left out, and so are values and small functions (units, arrays, parse, ...).
`--all` lists every file.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import recrawl

if TYPE_CHECKING:
    from types import FrameType

_PACKAGE = Path(recrawl.__file__).parent
_CARRY = {"crawl", "scheduler", "frontier", "state", "fetch"}
_DECIDE = {"detect", "policies", "store"}
_BESIDE = {"Crawler.figures", "Figures.line", "SiteFinder.find_due", "SiteFinder.keep_finding"}
_BEGINS, _ENDS = "Agenda.take", "Tally.count"
_BUDGET = "1000000/1d"  # so that a page may be visited again at once


class _Page(BaseHTTPRequestHandler):
    """A page that is another at every request; no robots.txt."""

    count = 0

    def do_GET(self) -> None:
        """Answer."""
        _Page.count += 1
        found = self.path == "/"
        body = f"<p>Version {_Page.count} of a page about nothing much.".encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Trace:
    """Functions of the package that one visit enters, in the order of their first calls."""

    def __init__(self) -> None:
        self.entered: dict[tuple[str, str], None] = {}
        self.begun = self.over = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(_PACKAGE)):
            return
        if self.begun and _is_beside(frame):
            return
        self.begun = self.begun or code.co_qualname == _BEGINS
        if self.begun and not self.over and not code.co_name.startswith("<"):
            file = str(Path(code.co_filename).relative_to(_PACKAGE))
            self.entered.setdefault((file, code.co_qualname), None)
            self.over = code.co_qualname == _ENDS

    def files(self) -> list[str]:
        """Files in the order in which they are first entered."""
        return list(dict.fromkeys(file for file, _ in self.entered))

    def hops(self) -> list[str]:
        """Files that carry the visit, and rooms that are asked."""
        found: dict[str, None] = {}
        for file in self.files():
            room, *inside = file.split("/")
            if room in _CARRY:
                found.setdefault(f"{room}/{inside[0]}", None)
            elif room in _DECIDE:
                found.setdefault(room, None)
        return list(found)


def _is_beside(frame: FrameType) -> bool:
    """Whether something that goes on beside the visit has called."""
    caller: FrameType | None = frame
    while caller is not None:
        if caller.f_code.co_qualname in _BESIDE:
            return True
        caller = caller.f_back
    return False


def _run(*arguments: str) -> None:
    """Run a command in this process."""
    from recrawl.cli.main import app

    try:
        app(list(arguments), standalone_mode=False)
    except SystemExit as ended:
        if ended.code:
            raise


def main() -> None:
    """Trace a visit and print its way."""
    parser = argparse.ArgumentParser(description="Trace one visit through the files.")
    parser.add_argument("--all", action="store_true", help="list files of values, too")
    everything = parser.parse_args().all
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        address = f"http://127.0.0.1:{server.server_port}/"
        _run("init", "--agent", "trace (me@example.org)")
        _run("add", address, "--page-only", "--local", "--budget", _BUDGET)
        _run("crawl", "--once")
        trace = _Trace()
        threading.setprofile(trace)
        sys.setprofile(trace)
        _run("crawl", "--once")
        sys.setprofile(None)
        threading.setprofile(None)
    server.shutdown()
    for file in trace.files() if everything else trace.hops():
        print(file)
    files, functions = len(trace.files()), len(trace.entered)
    print(f"{len(trace.hops())} hops; {files} files, {functions} functions in all")


if __name__ == "__main__":
    main()
