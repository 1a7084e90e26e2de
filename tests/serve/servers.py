"""`recrawl serve` as a process of its own, and a browser that looks at it."""

from __future__ import annotations

import re
import signal
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect, sync_playwright

from tests.browsers import unprivileged_chromium
from tests.preloaded import environment, popen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

_WORKED_OUT = 202  # it is being worked out
_PATIENCE_MS = 120_000  # the machine may be busy
_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


expect.set_options(timeout=_PATIENCE_MS)


@contextmanager
def served(file: Path, *words: str) -> Iterator[str]:
    """Serve a crawl, and yield its address; it is ended as Ctrl-C would end it."""
    words = ("serve", "-c", str(file), "--port", "0", *words)
    process = popen(words, env=environment(), gives_way=False, stdout=PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"http://\S+", line)
        assert found, line
        yield found[0].rstrip("/")
    finally:
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(_PATIENCE_MS / 1000)  # what is being worked out is finished first
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
    assert code == 0, code


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium, of an unprivileged user."""
    with unprivileged_chromium() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=folder / "chromium", args=_FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


def get(address: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of what a server answers, once it does."""
    deadline = time.monotonic() + _PATIENCE_MS / 1000
    while True:
        found = _get(address)
        if found[0] != _WORKED_OUT or time.monotonic() > deadline:
            return found
        time.sleep(0.2)


def _get(address: str) -> tuple[int, dict[str, str], str]:
    try:
        with urllib.request.urlopen(address, timeout=60) as response:  # noqa: S310 - our own server
            return response.status, dict(response.headers), response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read().decode()


@dataclass(eq=False)
class Window:
    """A window of a browser.

    Attributes:
        context: What it keeps: storage, colours.
        page: What it shows.
        wrong: Errors and warnings on the console, and requests that left the server.
    """

    context: BrowserContext
    page: Page
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, chromium: Browser, **options: Any) -> Window:
        """Open a window; options are those of a browser's context."""
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(_PATIENCE_MS)
        window = cls(context, context.new_page())
        page = window.page
        page.on("console", window._said)
        page.on("pageerror", lambda error: window.wrong.append(f"error: {error}"))
        page.on("request", window._asked)
        return window

    def show(self, address: str) -> Page:
        """Go to a page, and wait until all of it is there."""
        self.page.goto(address, wait_until="load")
        expect(self.page.locator("h1")).not_to_have_text("One moment")
        for chart in self.page.locator("[data-chart]").all():
            expect(chart).to_have_attribute("data-drawn", "yes")
        for part in self.page.locator("[data-part]").all():
            expect(part).to_have_attribute("data-loaded", "yes")
        return self.page

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:")):
            self.wrong.append(f"request to {request.url}")
