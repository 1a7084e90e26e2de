"""Scripts at random: hosts that answer, redirect, fail, ask for pauses; restarts and clock steps.

Instants and durations are few, so that they meet: what is sent when a robots.txt expires, when a
delay has just passed, or when a Retry-After ends.

Pure.
"""

from __future__ import annotations

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

ORIGINS = ("http://a.org", "https://a.org", "http://b.org", "http://s.org")
PATHS = ("/1", "/2", "/x/3")
PAGES = tuple(origin + path for origin in ORIGINS for path in PATHS)

_seconds = st.sampled_from([0.0, 0.25, 0.25, 0.25, 2.5, 40.0])
_holds = st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.0, 0.75, 3.0, 400.0, 90_000.0])
_waits = st.sampled_from([None, 0.0, 2.0, 30.0, 2_000.0, 100_000.0])
_busy = st.builds(
    Answer,
    status=st.sampled_from([429, 503]),
    seconds=_seconds,
    hold=_holds,
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
_redirects = st.builds(
    Answer,
    status=st.sampled_from([301, 302, 307]),
    seconds=_seconds,
    target=st.sampled_from(PAGES),
)
_pages = st.one_of(_plain, _plain, _plain, _redirects, _redirects, _busy, _troubles, _missing)
_files = st.builds(
    Answer,
    seconds=_seconds,
    hold=_holds,
    rules=st.builds(
        Rules,
        disallow=st.sampled_from(["", "", "/x", "/"]),
        delay=st.sampled_from([None, None, 0.5, 5.0, 60.0, 400.0]),
    ),
)
_broken = st.builds(Answer, status=st.just(500), seconds=_seconds)


def _robots_of(origin: str) -> st.SearchStrategy[Answer]:
    moved = MOVED_ROBOTS + origin.replace("://", "/")
    moves = st.sampled_from([Answer(302, target=to + moved) for to in ORIGINS])
    return st.one_of(_files, _files, _files, _missing, moves, _busy, _troubles, _broken)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Hosts that answer in all kinds of ways."""
    answers: dict[str, tuple[Answer, ...]] = {}
    for origin in ORIGINS:
        robots = draw(st.lists(_robots_of(origin), max_size=3))
        if robots:
            answers[origin + ROBOTS] = tuple(robots)
        if any(MOVED_ROBOTS in each.target for each in robots):
            moved = draw(st.lists(_files | _broken | _missing, min_size=1, max_size=2))
            for to in ORIGINS:
                answers[to + MOVED_ROBOTS + origin.replace("://", "/")] = tuple(moved)
    for page in draw(st.lists(st.sampled_from(PAGES), unique=True, max_size=5)):
        answers[page] = tuple(draw(st.lists(_pages, min_size=1, max_size=3)))
    return Network(answers, draw(st.sampled_from([1, 2, 100])))


_instants = st.builds(
    float.__add__,
    st.sampled_from([0.0, 0.0, 0.0, 1.0, 5.0, 60.0, 2_000.0, 86_300.0, 86_400.0, 180_000.0]),
    st.sampled_from([0.0, 0.0, 0.25, 1.0, 1.5, 30.0]),
)
_steps = st.sampled_from([-100_000.0, -3_000.0, -30.0, 0.0, 0.0, 30.0, 3_000.0, 100_000.0])
_gets = st.builds(
    Get,
    at=_instants,
    address=st.sampled_from(PAGES[:6] + PAGES),
    patience=st.sampled_from([0.0, 300.0, 300.0, float("inf")]),
    leased=st.booleans(),
    limited=st.booleans(),
)
_restarts = st.builds(
    Restart, at=_instants, pause=st.sampled_from([0.0, 0.0, 0.5, 3_000.0]), step=_steps
)
_clock_steps = st.builds(ClockStep, at=_instants, step=_steps)

client_scripts = st.builds(
    ClientScript,
    network=networks(),
    steps=st.builds(
        lambda *parts: tuple(step for part in parts for step in part),
        st.lists(_gets, min_size=2, max_size=9),
        st.lists(_restarts, max_size=2),
        st.lists(_clock_steps, max_size=2),
    ),
    delay=st.sampled_from([0.0, 1.0, 1.0, 10.0]),
    together=st.sampled_from([1, 1, 2, 3]),
    limit=st.sampled_from([1, 2]),
    ahead=_steps,
)

_runs = st.builds(
    Run,
    seconds=st.sampled_from([2.0, 20.0, 300.0, 4_000.0, 90_000.0]),
    killed=st.booleans(),
    pause=st.sampled_from([0.0, 0.0, 0.5, 3_000.0]),
    step=_steps,
    steps=st.lists(_clock_steps, max_size=1).map(tuple),
)

crawl_scripts = st.builds(
    CrawlScript,
    network=networks(),
    pages=st.dictionaries(
        st.sampled_from([page for page in PAGES if "s.org" not in page]),
        st.sampled_from([1.0, 30.0, 600.0, 40_000.0]),
        min_size=1,
        max_size=5,
    ),
    sites=st.sampled_from([(), ("http://a.org/",), ("http://b.org/", "https://a.org/")]),
    runs=st.lists(_runs, min_size=1, max_size=3).map(tuple),
    delay=st.sampled_from([1.0, 1.0, 10.0]),
    together=st.sampled_from([1, 1, 2, 3]),
)
