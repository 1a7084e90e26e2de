"""`recrawl crawl` in a process of its own, forked from one that has loaded everything.

It is the command as installed, but for what the soak holds in its hand: the clock, which runs fast
and may have been set wrong before the process began; names of hosts, which resolve to loopback or
not at all; limits of a request, short enough for a host that hangs not to last for ever. Python
tells a hook of every connection before it is made, and the hook forbids and writes down all that
do not lead to a host of the soak.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import recrawl.adapters.warc.recorder
import recrawl.clock
import recrawl.crawl.running  # what the command would load when it runs
import recrawl.fetch.http.client
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.cli.main import main
from recrawl.fetch.fetcher import RequestLimits
from recrawl.units import SECONDS_A_DAY

LIMITS = RequestLimits(connect_seconds=5.0, idle_seconds=5.0, total_seconds=10.0)
_WARC_BYTES = 2_000_000  # so that files are followed by others
_NAMES_SECONDS = 5

_look_up = socket.getaddrinfo


class SteadyClock(recrawl.clock.ScaledClock):
    """A scaled clock in the place of the real one; nobody sets the system's clock."""

    def stepped(self) -> float:
        """Seconds by which the system's clock was set: none."""
        return 0.0


class Names:
    """Names of hosts, as the soak has them.

    Args:
        control: What the soak says.
    """

    def __init__(self, control: dict[str, Any]) -> None:
        self._control = control
        self._here = set(control["names"].values())
        self._strays = Path(control["strays"])

    def resolve(self, host: str, *more: Any, **named: Any) -> Any:
        """In place of `socket.getaddrinfo`: no name is ever asked of anybody else."""
        at = time.monotonic() - self._control["began"]
        failing = any(
            name == host and start <= at < end for name, start, end in self._control["dns"]
        )
        if failing or host not in self._control["names"]:
            raise socket.gaierror(
                socket.EAI_AGAIN if failing else socket.EAI_NONAME, "no such host"
            )
        return _look_up(self._control["names"][host], *more, **named)

    def keep_in(self, event: str, values: tuple[Any, ...]) -> None:
        """Forbid what leads to no host of the soak."""
        leads = event == "socket.connect" and isinstance(values[1], tuple)
        leads |= event == "socket.getaddrinfo"
        where = str(values[1][0] if event == "socket.connect" else values[0]) if leads else ""
        if leads and where not in self._here:
            with self._strays.open("a") as file:
                file.write(f"{event} {where}\n")
            raise PermissionError(f"{event} to {where} must lead to a host of the soak")


def run(control: dict[str, Any], arguments: list[str], errors: str) -> None:
    """Run the command with what the soak has in its hand; what it says goes to a file."""
    os.dup2(os.open(errors, os.O_WRONLY | os.O_APPEND), 2)
    sys.argv = ["recrawl", *arguments]
    names = Names(control)
    sys.addaudithook(names.keep_in)
    socket.getaddrinfo = names.resolve  # type: ignore[assignment]

    def clock() -> SteadyClock:
        """As `RealClock` does, reads the time once, and goes on steadily from there."""
        passed = (time.monotonic() - control["began"]) / control["seconds_a_day"]
        wrong = control["step"] / SECONDS_A_DAY
        start = control["day"] + passed + wrong
        return SteadyClock(control["seconds_a_day"], start)

    recrawl.clock.RealClock = clock  # type: ignore[misc, assignment]
    client: Any = recrawl.fetch.http.client
    client.RequestLimits = lambda: LIMITS
    client._NAMES_SECONDS = _NAMES_SECONDS
    defaults: Any = WarcFolder.__init__.__kwdefaults__
    defaults["largest_bytes"] = _WARC_BYTES
    main()
