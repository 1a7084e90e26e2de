"""What our policy makes of what hosts announce: two streams of changes, and doubt.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.recrawl.announced import Streams
from recrawl.policies.recrawl.memories import chance_of
from recrawl.policies.recrawl.state import clocks_of_pages, read_clocks

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.recrawl.state import RecrawlState

_AT_ONCE = 1e-9
_AT_A_TIME = 4096  # pages whose bins are worked on together


def streams_of(
    state: RecrawlState, rows: Ints, now: Floats, elapsed: Floats, changed: Bools
) -> Streams:
    """What gaps that end now tell of announced and unannounced changes."""
    if not state.announced.any:
        return Streams.one(elapsed)
    silent = np.minimum(_silent(state, rows, now), elapsed)
    return state.announced.streams(rows, silent, elapsed - silent, changed)


def _silent(state: RecrawlState, rows: Ints, now: float | Floats) -> Floats:
    """Days on the clock from the last visit until the host was last asked what changed."""
    leaf, last = state.sections.leaf[rows], state.last[rows]
    asked = np.minimum(np.maximum(state.announced.asked[rows], last), np.maximum(now, last))
    return np.maximum(state.clocks.elapsed(leaf, last, asked), 0.0)


def learn_announced(state: RecrawlState, rows: Ints, named: Floats, now: float) -> None:
    """Learn what was announced, and of other pages that nothing was.

    Args:
        state: What is known.
        rows: The pages.
        named: Chance that each page which was announced has changed; 0 where it was not.
        now: When the host was asked.
    """
    since = np.maximum(state.last[rows], state.announced.asked[rows])
    later = now > since
    rows, named, since = rows[later], named[later], since[later]
    for start in range(0, len(rows), _AT_A_TIME):
        some = slice(start, start + _AT_A_TIME)
        _learn_some(state, rows[some], named[some], since[some], now)
    if state.announced.recall[rows].any():
        read_clocks(state, state.sections.upwards(state.sections.leaf[rows]))


def _learn_some(state: RecrawlState, rows: Ints, named: Floats, since: Floats, now: float) -> None:
    announced, leaf, until = state.announced, state.sections.leaf[rows], np.full(len(rows), now)
    days = np.maximum(state.clocks.elapsed(leaf, since, until), 0.0)
    first = announced.count[rows] == 0  # of what comes after an announcement pages learn nothing
    state.memories.stayed(
        rows, announced.unlearned(rows)
    )  # of before: the host may be believed by now
    believed = announced.recall[rows] > 0
    if believed.any():
        span = since[believed], until[believed]
        _learn_clocks(state, rows[believed], named[believed], span)
    announced.silent[rows] += np.where(first & (named == 0), days, 0.0)
    announced.span[rows] = np.where(first & (named > 0), days, announced.span[rows])
    state.memories.stayed(rows, announced.unlearned(rows))


def _learn_clocks(
    state: RecrawlState, rows: Ints, named: Floats, span: tuple[Floats, Floats]
) -> None:
    """Let the clocks, and those who forecast by them, learn from announcements."""
    clocks, leaf, recall = state.clocks, state.sections.leaf[rows], state.announced.recall[rows]
    states = state.memories.states(rows, state.relatives.prior(state.sections, rows))
    days = np.maximum(clocks.elapsed(leaf, *span), 0.0)
    expected = state.memories.chance(rows, states, recall * days)[1]
    _learn_forecasts(state, rows, states, span, named)
    overlap = clocks.overlaps(*span)
    spread = overlap / np.maximum(overlap.sum(axis=1), _AT_ONCE)[:, None]
    weighted = overlap * clocks.pace(leaf)
    weighted /= np.maximum(weighted.sum(axis=1), _AT_ONCE)[:, None]
    counts = np.array([weighted * named[:, None], spread * expected[:, None]])
    clocks.learn(state.sections, leaf, counts)


def _learn_forecasts(
    state: RecrawlState,
    rows: Ints,
    states: tuple[Floats, Floats],
    span: tuple[Floats, Floats],
    named: Floats,
) -> None:
    """Compare what was forecast of announcements with those that came."""
    leaf = state.sections.leaf[rows]
    forecast, place = clocks_of_pages(state, rows)
    elapsed = state.clocks.elapsed(place, *span, forecast)
    days = np.maximum(elapsed, 0.0) * state.announced.recall[rows]
    shape, exposure = (part[:, None] for part in states)
    share = state.memories.share.take(rows, axis=1)[:, None]
    state.forecast_bias.learn_announced(
        leaf, named, lambda factor: chance_of((shape, exposure), share, factor * days)[1]
    )


def effective_elapsed(
    state: RecrawlState,
    rows: Ints,
    states: tuple[Floats, Floats],
    elapsed: Floats,
    now: float | Floats,
) -> Floats:
    """Days on the clock that leave as much doubt without announcements as there is with them.

    Args:
        state: What is known.
        rows: The pages.
        states: Shape and exposure of each, one row per memory.
        elapsed: Days on the clock since the last visit to each.
        now: The instant.
    """
    if not state.announced.any:
        return elapsed
    # Forecasts have another clock: what counts is the share of the time.
    last = state.last[rows]
    whole = state.clocks.elapsed(state.sections.leaf[rows], last, now)
    share = np.minimum(_silent(state, rows, now) / np.maximum(whole, _AT_ONCE), 1.0)
    silent = share * elapsed
    return state.announced.effective(rows, states, silent, elapsed - silent)
