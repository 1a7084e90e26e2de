"""Crawls of servers on this machine, as people begin and run them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from tests.cli import running
from tests.waiting import ending

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.servers.faults import FaultServer

AGENT = "test-bot (me@example.org)"


def begin_in(folder: Path, delay: str = "0.05s") -> None:
    """A crawl with the settings of `recrawl init`, but for the time between requests to a host."""
    running.run("init", folder, "--agent", AGENT)
    file, usual = folder / "recrawl.toml", 'delay = "1s"'
    text = file.read_text()
    assert text.count(usual) == 1
    file.write_text(text.replace(usual, f'delay = "{delay}"'))


def crawl_in(
    folder: Path, server: FaultServer, *, top: str = "", delay: str = "0.05s", more: str = ""
) -> None:
    """A crawl of a server, begun in a folder.

    Args:
        folder: Where.
        server: What it crawls.
        top: What else the settings say of the whole crawl.
        delay: Time between requests.
        more: What else they say of the site.
    """
    running.run("init", folder, "--agent", AGENT)
    text = (
        f'agent = "{AGENT}"\n{top}\n[politeness]\ndelay = "{delay}"\n'
        f'[[site]]\naddress = "{server.address("/")}"\nlocal = true\n{more}\n'
    )
    (folder / "recrawl.toml").write_text(text)


def start(
    folder: Path, *words: object, **more: Any
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A crawl that goes on in a process of its own, until it is stopped or the block ends."""
    there = {"cwd": folder, "stderr": subprocess.PIPE, "text": True}
    return ending(running.start("crawl", *words, **there, **more))
