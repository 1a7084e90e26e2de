"""What our policy makes of what hosts announce: two streams of changes, and doubt.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.announced import Streams
from recrawl.policies.recrawl_state import read_clocks

if TYPE_CHECKING:
    from recrawl.policies.recrawl_state import RecrawlState
    from recrawl.visits.arrays import Bools, Floats, Ints

_AT_ONCE = 1e-9
_AT_A_TIME = 4096  # pages whose bins are worked on together


def streams_of(
    state: RecrawlState, rows: Ints, now: Floats, elapsed: Floats, changed: Bools
) -> Streams:
    """What gaps that end now tell of announced and unannounced changes."""
    if not state.announced.any:
        return Streams.one(elapsed)
    silent = np.minimum(_silent(state, rows, now), elapsed)
    last = np.maximum(state.last[rows], state.announced.learnt[rows])
    unlearnt = np.minimum(_silent(state, rows, now, last), silent)
    return state.announced.streams(rows, silent, elapsed - silent, unlearnt, changed)


def _silent(
    state: RecrawlState, rows: Ints, now: float | Floats, since: Floats | None = None
) -> Floats:
    """Days on the clock from the last visit until the host was last asked what changed."""
    leaf, last = state.sections.leaf[rows], state.last[rows] if since is None else since
    asked = np.clip(state.announced.asked[rows], last, np.maximum(now, last))
    return np.maximum(state.clocks.elapsed(leaf, last, asked), 0.0)


def learn_heard(state: RecrawlState, rows: Ints, count: Floats, now: float) -> None:
    """Learn what was announced, and of other pages that nothing was."""
    told = state.announced
    since = np.maximum(state.last[rows], told.asked[rows])
    heard = (told.recall[rows] > 0) & (now > since)
    rows, count, since = rows[heard], count[heard], since[heard]
    quiet = (count == 0) & (told.count[rows] == 0)
    for start in range(0, len(rows), _AT_A_TIME):
        some, when = rows[start : start + _AT_A_TIME], since[start : start + _AT_A_TIME]
        news, calm = count[start : start + _AT_A_TIME] > 0, quiet[start : start + _AT_A_TIME]
        leaf, until = state.sections.leaf[some], np.full(len(some), now)
        clock = np.maximum(state.clocks.elapsed(leaf, when, until), 0.0)
        days = clock * told.recall[some]
        prior = state.relatives.prior(state.sections, some)
        states = state.memories.states(some, prior)
        expected = state.memories.chance(some, states, days)[1]
        overlap = state.clocks.overlaps(when, until)
        spread = overlap / np.maximum(overlap.sum(axis=1), _AT_ONCE)[:, None]
        paced = overlap * state.clocks.pace[leaf]
        paced /= np.maximum(paced.sum(axis=1), _AT_ONCE)[:, None]
        state.clocks.learn(state.sections, leaf, paced * news[:, None], spread * expected[:, None])
        state.memories.stayed(some[calm], days[calm])
    if len(rows):
        read_clocks(state, state.sections.levels)


def in_doubt(
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
        states: Shape and exposure of each, a row a memory.
        elapsed: Days on the clock since the last visit to each.
        now: The instant.
    """
    if not state.announced.any:
        return elapsed
    # Forecasts have another clock: what counts is the share of the time.
    last = state.last[rows]
    whole = state.clocks.elapsed(state.sections.leaf[rows], last, np.broadcast_to(now, last.shape))
    share = np.minimum(_silent(state, rows, now) / np.maximum(whole, _AT_ONCE), 1.0)
    silent = share * elapsed
    return state.announced.effective(rows, states, silent, elapsed - silent)
