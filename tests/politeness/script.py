"""What is played: how hosts answer, and what happens when.

All times are seconds after the script's start.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROBOTS = "/robots.txt"
MOVED_ROBOTS = "/robots-of/"  # where redirects of a robots.txt lead: scheme and host follow


@dataclass(frozen=True, slots=True)
class Rules:
    """A robots.txt.

    Args:
        disallow: Prefix of the paths that are forbidden; empty for none.
        delay: Crawl-delay in seconds; None for none.
    """

    disallow: str = ""
    delay: float | None = None

    @property
    def text(self) -> str:
        """The file."""
        lines = ["User-agent: *", f"Disallow: {self.disallow}"]
        if self.delay is not None:
            lines.append(f"Crawl-delay: {self.delay:g}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a host answers once.

    Args:
        status: HTTP status.
        seconds: From the request to the end of the answer.
        waited: Seconds until it begins: how busy the host is.
        hold: Seconds for which we keep the request back before it is sent.
        retry_after: Seconds of a Retry-After; None for none.
        dated: Whether it is written as a date.
        target: Where a redirect leads.
        rules: Of a robots.txt.
        text: Of a page.
        problem: What goes wrong instead: "stale", "dropped" or "overloaded".
    """

    status: int = 200
    seconds: float = 0.25
    waited: float = 0.0
    hold: float = 0.0
    retry_after: float | None = None
    dated: bool = False
    target: str = ""
    rules: Rules | None = None
    text: str = "<p>a page</p>"
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Network:
    """How all hosts answer.

    Args:
        answers: By address, one after the other; the last is given from then on. Where there are
            none, there is no robots.txt, and there is a page.
        connections: How many requests may be under way at once; more wait.
    """

    answers: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    connections: int = 100


@dataclass(frozen=True, slots=True)
class Get:
    """A page is asked for.

    Args:
        at: When.
        address: Its address.
        patience: Seconds to wait for a slot at most.
        leased: Whether its slot is had from the host table at first, as an agenda's lease has it.
        limited: Whether it counts among requests that are bounded.
    """

    at: float
    address: str
    patience: float = 300.0
    leased: bool = False
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Restart:
    """The crawl ends, and another begins on what the first has written.

    Args:
        at: When it ends.
        pause: Seconds until the next begins.
        step: Seconds by which the system's clock is set in between.
    """

    at: float
    pause: float = 0.0
    step: float = 0.0


@dataclass(frozen=True, slots=True)
class ClockStep:
    """The system's clock is set.

    Args:
        at: When.
        step: By how many seconds.
    """

    at: float
    step: float


@dataclass(frozen=True, slots=True)
class ClientScript:
    """Requests through a polite client.

    Args:
        network: How hosts answer.
        steps: What happens, in any order.
        delay: Seconds between two requests to a host.
        together: Requests to a host at a time.
        limit: How many limited requests may be under way.
        ahead: Seconds by which the system's clock is wrong at first.
    """

    network: Network
    steps: tuple[Get | Restart | ClockStep, ...]
    delay: float = 1.0
    together: int = 1
    limit: int = 1
    ahead: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of several on a store.

    Args:
        seconds: How long it goes on.
        killed: Whether nothing is saved at its end.
        pause: Seconds until the next begins.
        step: Seconds by which the system's clock is set in between.
        steps: The same, at instants while it goes on.
    """

    seconds: float
    killed: bool = False
    pause: float = 0.0
    step: float = 0.0
    steps: tuple[ClockStep, ...] = ()


@dataclass(frozen=True, slots=True)
class CrawlScript:
    """Crawls one after the other, on one store.

    Args:
        network: How hosts answer.
        pages: Pages that are visited again and again, and the seconds in between.
        sites: Sites in which pages are looked for.
        runs: The crawls.
        delay: Seconds between two requests to a host.
        together: Requests to a host at a time.
    """

    network: Network
    pages: Mapping[str, float]
    sites: tuple[str, ...]
    runs: tuple[Run, ...]
    delay: float = 1.0
    together: int = 1


@dataclass(frozen=True, slots=True)
class DueScript:
    """Visits by somebody else's crawler, to which a scheduler says what is due.

    Args:
        pages: How many pages of one host there are.
        visits: Seconds that visits take, one after the other and over again.
        seconds: How long it goes on.
        every: Seconds after which the scheduler is opened anew, what is under way given up.
        delay: Seconds between two requests to a host.
        together: Requests to a host at a time.
    """

    pages: int
    visits: tuple[float, ...]
    seconds: float
    every: float = inf
    delay: float = 1.0
    together: int = 1
