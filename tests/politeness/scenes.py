"""Scripts by hand: for each way in which a host may be asked early, one that would show it.

Pure.
"""

from __future__ import annotations

from math import inf

from tests.politeness.script import (
    MOVED_ROBOTS,
    Answer,
    ClientScript,
    ClockStep,
    CrawlScript,
    DueScript,
    Get,
    Network,
    Restart,
    Rules,
    Run,
)

A, A_TLS, B, S = "http://a.org", "https://a.org", "http://b.org", "http://s.org"
_DAY = 86_400.0
_SLOW = (Answer(seconds=3.0),)


def _robots(*files: Answer | Rules, of: str = A) -> dict[str, tuple[Answer, ...]]:
    answers = [each if isinstance(each, Answer) else Answer(rules=each) for each in files]
    return {f"{of}/robots.txt": tuple(answers)}


def _pages(*answers: Answer, count: int = 4, of: str = A) -> dict[str, tuple[Answer, ...]]:
    return {f"{of}/{number}": answers for number in range(count)}


def _gets(count: int = 4, at: float = 0.0, of: str = A, **more: object) -> tuple[Get, ...]:
    return tuple(Get(at, f"{of}/{number}", **more) for number in range(count))  # type: ignore[arg-type]


_CLIENTS = {
    "slow answers": ClientScript(Network(_pages(*_SLOW)), _gets(patience=inf)),
    "slow leases": ClientScript(Network(_pages(*_SLOW)), _gets(leased=True, patience=inf)),
    "several together": ClientScript(
        Network(_pages(*_SLOW, count=6)), _gets(6, patience=inf), together=2
    ),
    "one waits for a connection": ClientScript(
        # The first holds its slot back until just before the next one's.
        Network(_robots(Rules()) | {f"{A}/0": (Answer(hold=0.9),)}),
        (Get(0.0, f"{A}/9"), *_gets(3, at=10.0)),
        together=3,
    ),
    "many wait for a limit": ClientScript(
        # The first two end at the same instant.
        Network(
            _robots(Rules()) | _pages(Answer(seconds=7.0)) | {f"{A}/1": (Answer(seconds=6.0),)}
        ),
        (Get(0.0, f"{A}/9"), *_gets(at=20.0, limited=True, patience=inf)),
        together=4,
        limit=2,
    ),
    "left alone while others wait": ClientScript(
        Network(_robots(Rules()) | {f"{A}/0": (Answer(429, seconds=0.5, retry_after=200.0),)}),
        (Get(0.0, f"{A}/9"), *_gets(3, at=10.0)),
        together=3,
    ),
    "two say how long": ClientScript(
        Network(
            {
                f"{A}/0": (Answer(429, seconds=3.0, retry_after=500.0),),
                f"{A}/1": (Answer(503, seconds=3.0, retry_after=2.0),),
            }
        ),
        (Get(0.0, f"{A}/9"), *_gets(2, at=10.0), Get(20.0, f"{A}/2", patience=inf)),
        together=3,
    ),
    "429 without a time": ClientScript(
        Network({f"{A}/0": (Answer(429),)}), (Get(0.0, f"{A}/0"), Get(60.0, f"{A}/1"))
    ),
    "Retry-After by date": ClientScript(
        Network({f"{A}/0": (Answer(503, retry_after=900.0, dated=True),)}),
        (Get(0.0, f"{A}/0"), Get(60.0, f"{A}/1")),
        ahead=3_000.0,
    ),
    "left alone across a restart": ClientScript(
        Network({f"{A}/0": (Answer(503, retry_after=900.0),)}),
        (Get(0.0, f"{A}/0"), Restart(30.0), Get(40.0, f"{A}/1")),
    ),
    "restart at once": ClientScript(
        Network(), (*_gets(2), Restart(5.0), *_gets(2, at=5.0), Get(5.0, f"{B}/0")), delay=10.0
    ),
    "the clock is set ahead": ClientScript(
        Network(),
        (*_gets(1), ClockStep(65.0, 50.0), Get(70.0, f"{A}/1"), ClockStep(75.0, -50.0)),
        delay=30.0,
    ),
    "Crawl-delay": ClientScript(Network(_robots(Rules(delay=20.0))), _gets(3, at=50.0)),
    "a short Crawl-delay": ClientScript(Network(_robots(Rules(delay=0.1))), _gets(3), delay=5.0),
    "two origins of a host": ClientScript(
        Network(_robots(Rules(delay=60.0)) | _robots(Rules(delay=2.0), of=A_TLS)),
        (Get(0.0, f"{A}/1"), Get(200.0, f"{A_TLS}/1"), Get(400.0, f"{A}/2"), Get(400.0, f"{A}/3")),
    ),
    "Crawl-delay across a restart": ClientScript(
        Network(_robots(Rules(delay=60.0))), (Get(0.0, f"{A}/1"), Restart(5.0), *_gets(2, at=5.0))
    ),
    "Crawl-delay of a host in trouble": ClientScript(
        Network(_robots(Rules(delay=200.0), Answer(500), Rules())),
        (
            Get(0.0, f"{A}/1"),
            Get(_DAY + 100.0, f"{A}/1"),
            Restart(_DAY + 100.0 + 3_690.0),
            Get(_DAY + 100.0 + 3_690.0, f"{A}/1"),
        ),
    ),
    "a reset on a kept connection": ClientScript(
        Network({f"{A}/0": (Answer(seconds=3.0, problem="stale"), Answer())}), _gets(1)
    ),
    "redirects on a host": ClientScript(
        Network({f"{A}/0": (Answer(302, seconds=3.0, target=f"{A}/1"),)}), _gets(1)
    ),
    "redirects to another host": ClientScript(
        Network(
            _pages(Answer(302, target=f"{S}/1"))
            | _robots(Rules(delay=30.0), of=S)
            | {f"{S}/1": _SLOW}
        ),
        _gets(3),
    ),
    "a redirect to what is forbidden": ClientScript(
        Network({f"{A}/0": (Answer(302, target=f"{S}/x"),)} | _robots(Rules("/x"), of=S)), _gets(1)
    ),
    "forbidden": ClientScript(Network(_robots(Rules("/1"))), _gets(2)),
    "robots.txt expires": ClientScript(
        Network(_robots(Rules())), (Get(0.0, f"{A}/1"), Get(_DAY + 5.0, f"{A}/1"))
    ),
    "robots.txt expires after a restart": ClientScript(
        Network(_robots(Rules())),
        (Get(0.0, f"{A}/1"), Restart(0.9 * _DAY), Get(_DAY, f"{A}/1"), Get(_DAY + 9.0, f"{A}/1")),
    ),
    "robots.txt expires meanwhile": ClientScript(
        Network(_robots(Rules(), Rules("/1")) | {f"{A}/1": (Answer(hold=100.0),)}),
        (Get(0.0, f"{A}/0"), Get(_DAY - 50.0, f"{A}/1")),
    ),
    "robots.txt expires before a repeat": ClientScript(
        Network(
            _robots(Rules(delay=400.0)) | {f"{A}/1": (Answer(), Answer(problem="stale"), Answer())}
        ),
        (Get(0.0, f"{A}/1"), Get(_DAY - 100.0, f"{A}/1", patience=inf)),
    ),
    "robots.txt is elsewhere": ClientScript(
        Network(
            _robots(Answer(302, target=f"{S}{MOVED_ROBOTS}http/a.org"))
            | {f"{S}{MOVED_ROBOTS}http/a.org": (Answer(seconds=3.0, rules=Rules("/x", 9.0)),)}
        ),
        (*_gets(2), Get(0.0, f"{A}/x"), *_gets(2, of=S)),
    ),
    "a robots.txt elsewhere cannot be had in time": ClientScript(
        # Whoever asks for it waits two minutes for a slot there, and gives up.
        Network(
            _robots(Answer(302, seconds=3.0, target=f"{A}{MOVED_ROBOTS}http/b.org"), of=B)
            | {f"{A}{MOVED_ROBOTS}http/b.org": (Answer(rules=Rules()),)}
            | {f"{A}/0": (Answer(seconds=500.0),)}
        ),
        (*_gets(1), *_gets(3, at=5.0, of=B), Get(129.0, "https://b.org/1")),
    ),
    "many wait for a robots.txt": ClientScript(
        Network(_robots(Answer(seconds=3.0, rules=Rules())) | _pages(*_SLOW)),
        _gets(patience=inf),
        together=3,
    ),
    "many wait for a robots.txt in trouble": ClientScript(
        Network(_robots(Answer(500, seconds=3.0), Rules()) | _pages(*_SLOW)),
        (*_gets(2), *_gets(at=4_000.0)),
        together=2,
    ),
}

_CRAWLS = {
    "a crawl": CrawlScript(
        Network(_robots(Rules("/3")) | _pages(Answer(seconds=2.5))),
        {f"{A}/{number}": 4.0 for number in range(4)},
        (),
        (Run(40.0),),
    ),
    "a crawl goes on": CrawlScript(
        Network(_robots(Rules(delay=15.0)) | _pages(Answer(seconds=0.25))),
        {f"{A}/1": 5.0, f"{B}/1": 5.0},
        (),
        (Run(20.0, killed=True), Run(20.0), Run(20.0)),
        delay=8.0,
    ),
    "a crawl that is told to wait goes on": CrawlScript(
        Network({f"{A}/1": (Answer(503, retry_after=500.0),)}),
        {f"{A}/1": 5.0, f"{A}/2": 5.0},
        (f"{A}/",),
        (Run(20.0, killed=True), Run(20.0, step=-3_000.0), Run(60.0)),
    ),
}

_DUES = {
    "due": DueScript(pages=6, visits=(3.0, 0.25, 5.0), seconds=60.0),
    "several due together": DueScript(pages=6, visits=(3.0, 5.0), seconds=60.0, together=2),
    "due after restarts": DueScript(pages=6, visits=(0.25,), seconds=60.0, every=7.0, delay=5.0),
}

SCENES: dict[str, ClientScript | CrawlScript | DueScript] = {**_CLIENTS, **_CRAWLS, **_DUES}
