"""Scripts at random: hosts that answer, redirect, fail, ask for pauses; restarts and clock steps.

Instants and durations are few, so that they meet: what is sent when a robots.txt expires, when a
delay has just passed, or when a Retry-After ends.

Pure.
"""

from __future__ import annotations

from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.politeness.script import (
    MOVED_ROBOTS,
    ROBOTS,
    Answer,
    ClientScript,
    ClockStep,
    CrawlScript,
    Get,
    Network,
    Restart,
    Rules,
    Run,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

ORIGINS = ("http://a.org", "https://a.org", "http://b.org", "http://s.org")
PATHS = ("/1", "/2", "/3", "/4", "/x/5")
PAGES = tuple(origin + path for origin in ORIGINS for path in PATHS)

_seconds = st.sampled_from([0.0, 0.25, 0.25, 2.5, 7.0, 40.0])
_holds = st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.75, 3.0, 60.0, 400.0])
_waits = st.sampled_from([None, 2.0, 30.0, 2_000.0, 100_000.0])
_busy = st.builds(
    Answer,
    status=st.sampled_from([429, 503]),
    seconds=_seconds,
    retry_after=_waits,
    dated=st.booleans(),
)
_troubles = st.builds(
    Answer, seconds=_seconds, problem=st.sampled_from(["stale", "dropped", "overloaded"])
)
_plain = st.builds(
    Answer, seconds=_seconds, waited=st.sampled_from([0.0, 0.0, 0.0, 2.0]), hold=_holds
)
_missing = st.builds(Answer, status=st.just(404), seconds=_seconds)
_files = st.builds(
    Answer,
    seconds=_seconds,
    rules=st.builds(
        Rules,
        disallow=st.sampled_from(["", "", "/x", "/"]),
        delay=st.sampled_from([None, None, 0.5, 5.0, 60.0, 400.0]),
    ),
)
_broken = st.builds(Answer, status=st.just(500), seconds=_seconds)


def _redirects(origins: Sequence[str]) -> st.SearchStrategy[Answer]:
    return st.builds(
        Answer,
        status=st.sampled_from([301, 302, 307]),
        seconds=_seconds,
        target=st.sampled_from([origin + path for origin in origins for path in PATHS]),
    )


def _robots_of(origin: str) -> st.SearchStrategy[Answer]:
    moved = MOVED_ROBOTS + origin.replace("://", "/")
    moves = st.sampled_from([Answer(302, target=to + moved) for to in ORIGINS])
    return st.one_of(_files, _files, _files, _missing, moves, _busy, _troubles, _broken)


@st.composite
def networks(draw: st.DrawFn, origins: Sequence[str]) -> Network:
    """Hosts that answer in all kinds of ways."""
    answers: dict[str, tuple[Answer, ...]] = {}
    redirects = _redirects(origins)
    pages = st.one_of(_plain, _plain, redirects, _busy, _troubles, _missing)
    for origin in origins:
        robots = draw(st.lists(_robots_of(origin), max_size=3))
        if robots:
            answers[origin + ROBOTS] = tuple(robots)
        if any(MOVED_ROBOTS in each.target for each in robots):
            moved = draw(st.lists(_files | _broken | _missing, min_size=1, max_size=2))
            for to in ORIGINS:
                answers[to + MOVED_ROBOTS + origin.replace("://", "/")] = tuple(moved)
        # Slow ones by themselves, so that many are under way.
        usual = draw(st.sampled_from([0.25, 2.5, 7.0]))
        for path in PATHS:
            some = draw(st.lists(pages, max_size=2))
            answers[origin + path] = (*some, Answer(seconds=usual))
    return Network(answers, draw(st.sampled_from([1, 2, 100, 100])))


_instants = st.builds(
    float.__add__,
    st.sampled_from([0.0, 0.0, 0.0, 5.0, 60.0, 700.0, 4_000.0, 86_300.0, 86_400.0, 150_000.0]),
    st.sampled_from([0.0, 0.0, 0.25, 1.0, 1.5, 30.0]),
)
_steps = st.sampled_from([-100_000.0, -3_000.0, -30.0, 0.0, 0.0, 30.0, 3_000.0, 100_000.0])
_restarts = st.builds(
    Restart, at=_instants, pause=st.sampled_from([0.0, 0.0, 0.5, 3_000.0]), step=_steps
)
_clock_steps = st.builds(ClockStep, at=_instants, step=_steps)


@st.composite
def _bursts(draw: st.DrawFn, origins: Sequence[str]) -> list[Get]:
    """Several pages of an origin at once."""
    at, origin = draw(_instants), draw(st.sampled_from(origins))
    patience = draw(st.sampled_from([0.0, 300.0, inf, inf]))
    leased, limited = draw(st.booleans()), draw(st.booleans())
    paths = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=5, unique=True))
    return [Get(at, origin + path, patience, leased, limited) for path in paths]


_focus = st.lists(st.sampled_from(ORIGINS), min_size=1, max_size=3, unique=True)


@st.composite
def client_scripts(draw: st.DrawFn) -> ClientScript:
    """Requests to few hosts, many of them at a time."""
    origins = draw(_focus)
    bursts = draw(st.lists(_bursts(origins), min_size=2, max_size=5))
    restarts = draw(st.lists(_restarts, max_size=2))
    return ClientScript(
        network=draw(networks(origins)),
        steps=(*chain.from_iterable(bursts), *restarts, *draw(st.lists(_clock_steps, max_size=2))),
        delay=draw(st.sampled_from([1.0, 1.0, 10.0])),
        together=draw(st.sampled_from([1, 1, 2, 3])),
        limit=draw(st.sampled_from([1, 2])),
        ahead=draw(_steps),
    )


_runs = st.builds(
    Run,
    seconds=st.sampled_from([2.0, 20.0, 300.0, 4_000.0, 90_000.0]),
    killed=st.booleans(),
    pause=st.sampled_from([0.0, 0.0, 0.5, 3_000.0]),
    step=_steps,
    steps=st.lists(_clock_steps, max_size=1).map(tuple),
)


@st.composite
def crawl_scripts(draw: st.DrawFn) -> CrawlScript:
    """Crawls of few hosts, of which one is none of the settings'."""
    network = draw(networks(ORIGINS))
    return CrawlScript(
        network=network,
        pages=draw(
            st.dictionaries(
                st.sampled_from([page for page in PAGES if "s.org" not in page]),
                st.sampled_from([1.0, 30.0, 600.0, 40_000.0]),
                min_size=1,
                max_size=6,
            )
        ),
        sites=draw(st.sampled_from([(), ("http://a.org/",), ("http://b.org/", "https://a.org/")])),
        runs=tuple(draw(st.lists(_runs, min_size=1, max_size=3))),
        delay=draw(st.sampled_from([1.0, 1.0, 10.0])),
        together=draw(st.sampled_from([1, 1, 2, 3])),
    )
