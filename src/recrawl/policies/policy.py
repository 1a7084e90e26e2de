"""What every policy offers: when pages are due, from what visits have shown so far.

A policy is a frozen value of parameters. What it has learned is its *state*: plain arrays, a row
a page in the order in which pages were found. Methods may change the arrays of the state they
are given; they return the state to go on with.

A *priced* policy says what a visit is worth now, and a page is due when its value reaches the
price. A *fixed* one ignores the price and says when a page is due; the most overdue go first.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.policies.pages import Outcomes, Pages

State = TypeVar("State")


class Policy(Protocol[State]):
    """Decides when pages are due."""

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> State:
        """State of a crawl that begins now with these pages.

        `gap` is the mean number of days between visits to a page: pages / visits a day.
        """
        ...

    def found(self, state: State, pages: Pages) -> State:
        """State with more pages, in rows after those known so far."""
        ...

    def with_mean_gap(self, state: State, gap: float) -> State:
        """State of a crawl whose budget or number of pages has moved, and with them the gap."""
        ...

    def seen(self, state: State, rows: Ints, now: Instants, outcomes: Outcomes) -> State:
        """State after visits to some pages, each page at most once; `now` is an instant a row."""
        ...

    def due(self, state: State, rows: Ints, price: float) -> Instants:
        """When each page is due; NaT where it never is."""
        ...


@runtime_checkable
class Priced(Policy[State], Protocol[State]):
    """Decides by what a visit is worth."""

    def value(self, state: State, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now, per unit of cost."""
        ...


@runtime_checkable
class Listening(Priced[State], Protocol[State]):
    """Takes announcements of changes into account, from sitemaps and feeds."""

    def announced(
        self,
        state: State,
        rows: Ints,
        named: Floats,
        reliability: tuple[Floats, Floats],
        now: np.datetime64,
    ) -> State:
        """State after a host has said which of its pages have changed.

        Args:
            state: What was known before.
            rows: Pages that the host would name if they had changed.
            named: Chance that each page which it names has changed; 0 where it does not name it.
            reliability: For each page the chance that its host names it when it changes (recall),
                and the false alarms a day.
            now: When it was asked.
        """
        ...

    def hinted(self, state: State, rows: Ints, right: Floats) -> State:
        """State after hints that pages have changed, each right with some chance."""
        ...

    def unannounced_changes(self, state: State, rows: Ints) -> Floats:
        """Changes that visits would have met unannounced if the host announced none."""
        ...


@runtime_checkable
class Rated(Policy[State], Protocol[State]):
    """Knows how often pages change."""

    def rate_since_visit(self, state: State, row: int, now: float) -> float:
        """Changes a day that are expected of a page from its last visit to now.

        The state stays as it is. Asked for at every change that a crawl finds.

        Args:
            state: What is known.
            row: The page.
            now: The instant, in days after 1970.
        """
        ...


@runtime_checkable
class Checkpointed(Policy[State], Protocol[State]):
    """Can be saved and taken up again: what a live crawl needs."""

    def dump(self, state: State) -> dict[str, Any]:
        """Arrays and plain values by name, to be saved."""
        ...

    def load(self, parts: Mapping[str, Any], addresses: Callable[[], Sequence[str]]) -> State:
        """State from what was saved.

        Args:
            parts: What `dump` gave.
            addresses: Gives the addresses of all pages, in the order of their rows.
        """
        ...

    def check(self, parts: Mapping[str, Any], pages: int) -> None:
        """Raise `LookupError` or `ValueError` unless `load` can go on from these parts."""
        ...


@runtime_checkable
class EveryStep(Priced[State], Protocol[State]):
    """Is asked at every step of a run, not once a tick: what it knows is new at every moment."""

    every_step: bool
