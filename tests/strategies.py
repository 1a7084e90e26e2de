"""What hypothesis draws: gaps over many orders of magnitude, pages of gaps, histories of pages.

A page is written as a list of `Seen`, one a gap, so that a failing example reads like a log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from recrawl import Histories

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Seen(NamedTuple):
    """What one gap showed; nan is no known age, -1 no known count."""

    gap: float
    changed: bool
    age: float = np.nan
    count: int = -1  # type: ignore[assignment] # hides `tuple.count`, which nobody needs here


Page = list[Seen]


def history_of(*pages: Sequence[tuple[Any, ...]], **columns: Any) -> Histories:
    """Histories of the pages; a column of ages or counts only where one is known."""
    seen = [Seen(*gap) for page in pages for gap in page]
    age = np.array([gap.age for gap in seen], np.float64)
    count = np.array([gap.count for gap in seen], np.int64)
    return Histories(
        gaps=np.array([gap.gap for gap in seen], np.float64),
        changed=np.array([gap.changed for gap in seen], np.bool_),
        offsets=np.cumsum([0, *(len(page) for page in pages)]),
        age=None if np.isnan(age).all() else age,  # type: ignore[arg-type]
        count=None if (count < 0).all() else count,  # type: ignore[arg-type]
        **columns,
    )


def stretched(page: Iterable[Seen], factor: float) -> Page:
    """Return the page as a clock shows it whose days are `factor` times as many."""
    return [gap._replace(gap=gap.gap * factor, age=gap.age * factor) for gap in page]


# A second to thirty years. Plain numbers too: equal gaps take other paths than unequal ones, and
# both ends on one page are the hardest thing for a solver.
days = st.one_of(
    st.floats(-5, 4).map(lambda exponent: float(10**exponent)),
    st.sampled_from([1e-5, 1.0, 7.0, 1e4]),
)


# Not `st.builds(Seen, ...)`: it would draw the fields left out as well.
def unchanged_in(gaps: st.SearchStrategy[float]) -> st.SearchStrategy[Seen]:
    """A gap that shows nothing."""
    return gaps.map(lambda gap: Seen(gap, False))


def hidden_in(gaps: st.SearchStrategy[float]) -> st.SearchStrategy[Seen]:
    """A change at no known time."""
    return gaps.map(lambda gap: Seen(gap, True))


def dated_in(gaps: st.SearchStrategy[float]) -> st.SearchStrategy[Seen]:
    """A change at a known time, often that of the visit itself."""
    shares = st.floats(1e-3, 0.999) | st.just(0.0)
    return st.tuples(gaps, shares).map(lambda drawn: Seen(drawn[0], True, drawn[0] * drawn[1]))


def counted_in(gaps: st.SearchStrategy[float]) -> st.SearchStrategy[Seen]:
    """A source that tells how often."""
    counts = st.integers(0, 20)
    return st.tuples(gaps, counts).map(lambda drawn: Seen(drawn[0], drawn[1] > 0, np.nan, drawn[1]))


def told_in(gaps: st.SearchStrategy[float]) -> st.SearchStrategy[Seen]:
    """Anything but a hidden change."""
    return unchanged_in(gaps) | dated_in(gaps) | counted_in(gaps)


bare_gaps = unchanged_in(days) | hidden_in(days)
all_gaps = told_in(days) | hidden_in(days)

bare_pages = st.lists(bare_gaps, min_size=1, max_size=12)
told_pages = st.lists(told_in(days), min_size=1, max_size=12)
pages = st.lists(all_gaps, min_size=1, max_size=12)

# A crawler's usual gaps: within two orders of magnitude.
even_days = st.floats(0.1, 10)
even_pages = st.lists(told_in(even_days) | hidden_in(even_days), min_size=1, max_size=12)


@st.composite
def histories(draw: st.DrawFn, gaps: st.SearchStrategy[Seen] = all_gaps) -> Histories:
    """Some pages, among them such with one visit and such with none."""
    found = draw(st.lists(st.lists(gaps, max_size=12), max_size=6))
    visited = draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    first = [np.datetime64("2026-01-01" if known else "NaT", "us") for known in visited]
    first_age = draw(st.lists(st.just(np.nan) | days, min_size=len(found), max_size=len(found)))
    return history_of(
        *found,
        first_visit=np.array(first, "datetime64[us]"),
        first_age=np.array(first_age, np.float64),
    )
