"""What politeness means, from the requests alone: when each was sent, what came back and when.

Nothing of the code that is checked is used here. The first request that is sent too early raises
`Impolite`, which names the rule:

    together    more requests to a host are under way than may be
    delay       too soon after the end of the last answer; where several may be under way, after the
                start of the last request
    start       too soon after the crawl began
    left alone  before a Retry-After has passed, or ten minutes after a 429 without one
    robots      without a robots.txt of the origin that is younger than a day and allows it
    trouble     within an hour after the robots.txt of the origin could not be had

What a host says holds for what is sent later than the answer. What a crawl knew holds for the next
one as far as it was written: by the system's clock as each of them found it at its start, since no
other goes on between two runs.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.politeness.script import MOVED_ROBOTS, ROBOTS, Rules

if TYPE_CHECKING:
    from tests.politeness.script import Answer

_EXACT = 1e-4  # seconds: days after 1970 are kept to a millionth
_DAY, _HOUR, _TEN_MINUTES = 86_400.0, 3_600.0, 600.0
_CLOCKS_DISAGREE = 60.0
_NONE_SUCH = range(400, 500)
_TOO_MANY, _UNAVAILABLE = 429, 503


class Impolite(AssertionError):
    """A request was sent that should not have been.

    Args:
        rule: Which rule it breaks.
        sentence: How.
    """

    def __init__(self, rule: str, sentence: str) -> None:
        super().__init__(f"{rule}: {sentence}")
        self.rule = rule


@dataclass(slots=True)
class Said:
    """Something that holds from an instant on, until something else is said."""

    at: float
    value: float


@dataclass(slots=True)
class _Host:
    under_way: int = 0
    started: float = -inf
    ended: float = -inf
    blocks: list[Said] = field(default_factory=list)
    delays: dict[str, list[Said]] = field(default_factory=dict)  # by origin


@dataclass(slots=True)
class _Origin:
    read_at: float = -inf
    until: float = -inf
    rules: Rules | None = None
    trouble: Said | None = None  # until when it is left alone


class Model:
    """Follows the requests of a crawl.

    Args:
        delay: Seconds between two requests to a host.
        together: Requests to a host at a time.
        ours: Hosts whose robots.txt is written down.
        robots: Whether robots.txt is asked for at all.

    Attributes:
        requests: How many were sent.
    """

    def __init__(
        self, delay: float, together: int, ours: frozenset[str], *, robots: bool = True
    ) -> None:
        self.requests = 0
        self._delay = delay
        self._together = together
        self._ours = ours
        self._robots = robots
        self._began = 0.0
        self._hosts: dict[str, _Host] = {}
        self._origins: dict[str, _Origin] = {}

    # What happens.

    def sent(self, address: str, now: float) -> None:
        """A request is sent."""
        self.requests += 1
        origin, name, path = _parts(address)
        host = self._hosts.setdefault(name, _Host())
        self._check_host(host, address, now)
        known = self._origins.setdefault(origin, _Origin())
        if known.trouble is not None and known.trouble.at < now:
            _check("trouble", address, now, known.trouble.value)
        if self._robots and _robots_of(address) is None:
            self._check_robots(known, address, path, now)
        host.under_way += 1
        host.started = now

    def ended(self, address: str, answer: Answer | None, now: float) -> None:
        """The answer to a request has come to its end; None where nobody waited for it."""
        _, name, _ = _parts(address)
        host = self._hosts[name]
        host.under_way -= 1
        host.ended = now
        if answer is None:
            return
        if not answer.problem and answer.status in (_TOO_MANY, _UNAVAILABLE):
            wait = answer.retry_after
            if wait is None and answer.status == _TOO_MANY:
                wait = _TEN_MINUTES
            if wait is not None:
                host.blocks.append(Said(now, now + wait))
        of = _robots_of(address)
        if of is not None:
            self._read_robots(of, answer, now)

    def restart(self, now: float, *, lost: float, step: float) -> None:
        """A crawl has ended, the system's clock was set, and the next begins.

        Args:
            now: When it begins.
            lost: Instant since which what was said may not be on disk.
            step: Seconds by which the clock is set ahead.
        """
        for name, host in self._hosts.items():
            assert not host.under_way, name
            host.blocks = [
                Said(said.at, said.value - max(step, 0.0)) for said in host.blocks if said.at < lost
            ]
            for origin, said in list(host.delays.items()):
                if name not in self._ours:
                    del host.delays[origin]
                elif said[-1].at >= lost:
                    kept = [each.value for each in said if each.at < lost][-1:] or [0.0]
                    host.delays[origin] = [Said(now, min(*kept, said[-1].value))]
        for origin, known in self._origins.items():
            known.read_at -= step
            if known.trouble is not None:
                known.trouble.value -= max(step, 0.0)
                ours = _parts(origin)[1] in self._ours
                ahead = known.read_at > now  # by this clock it was never read: it is asked again
                if ahead or known.trouble.at >= lost or not ours:
                    known.trouble = None

        self._began = now

    # What must hold.

    def _check_host(self, host: _Host, address: str, now: float) -> None:
        if host.under_way >= self._together:
            raise Impolite("together", f"{address} beside {host.under_way} others")
        delay = self._delay_of(host, now)
        _check("start", address, now, self._began + delay)
        last = host.ended if self._together == 1 else host.started
        _check("delay", address, now, last + delay)
        for said in host.blocks:
            if said.at < now:
                _check("left alone", address, now, said.value)

    def _delay_of(self, host: _Host, now: float) -> float:
        """The longest delay that an origin wants; of what it says at this instant, the shortest."""
        delay = self._delay
        for said in host.delays.values():
            before = [each.value for each in said if each.at < now][-1:] or [0.0]
            delay = max(delay, min(*before, *[each.value for each in said if each.at == now], inf))
        return delay

    @staticmethod
    def _check_robots(known: _Origin, address: str, path: str, now: float) -> None:
        if known.rules is None:
            raise Impolite("robots", f"{address} at {now:.3f} s without a robots.txt")
        until = max(known.until, known.read_at + _DAY)
        if now < known.read_at - _CLOCKS_DISAGREE - _EXACT:
            raise Impolite("robots", f"{address} at {now:.3f} s, by one read later")
        if now >= until + _EXACT:
            raise Impolite("robots", f"{address} at {now:.3f} s, expired at {until:.3f} s")
        if known.rules.disallow and path.startswith(known.rules.disallow):
            raise Impolite("robots", f"{address} is forbidden")

    def _read_robots(self, origin: str, answer: Answer, now: float) -> None:
        """Take in the robots.txt of an origin."""
        if answer.target or answer.problem in ("stale", "overloaded"):
            return  # to be asked for elsewhere, or again
        known = self._origins.setdefault(origin, _Origin())
        missing = answer.status in _NONE_SUCH and answer.status != _TOO_MANY
        if answer.problem or not (answer.rules is not None or missing):
            known.rules, known.read_at = None, now
            known.trouble = Said(now, now + _HOUR)
            return
        rules = answer.rules or _ALL
        known.rules, known.read_at, known.until = rules, now, now + _DAY
        host = self._hosts.setdefault(_parts(origin)[1], _Host())
        host.delays.setdefault(origin, []).append(Said(now, rules.delay or 0.0))


_ALL = Rules()


def _parts(address: str) -> tuple[str, str, str]:
    """Origin, host and path of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}", parts.netloc, parts.path


def _robots_of(address: str) -> str | None:
    """Whose robots.txt is asked for; None where it is a page."""
    origin, _, path = _parts(address)
    if path == ROBOTS:
        return origin
    if path.startswith(MOVED_ROBOTS):
        scheme, _, host = path.removeprefix(MOVED_ROBOTS).partition("/")
        return f"{scheme}://{host}"
    return None


def _check(rule: str, address: str, now: float, earliest: float) -> None:
    if now < earliest - _EXACT:
        raise Impolite(rule, f"{address} at {now:.3f} s, {earliest - now:.3f} s early")
