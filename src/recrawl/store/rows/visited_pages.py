"""What a store knows of the pages that a transaction has visits to, read for many at once.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.entries import VisitMade
from recrawl.entries.records import digest_of
from recrawl.entries.reports import VisitsReported
from recrawl.store.rows import feed
from recrawl.store.rows.new_versions import NewVersions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.entries.entries import Entry
    from recrawl.store.rows.database import Database
    from recrawl.store.rows.feed import ToldCopy

_FEW = 2  # visits with news; for fewer nothing is read ahead


def has_news(made: VisitMade) -> bool:
    """Whether a visit brought something beside the fact that it was made."""
    return made.event is not None or made.copy is not None or made.body is not None


class VisitedPages:
    """Pages that are visited in a transaction.

    Args:
        connection: Inside of its transaction.
        versions: Versions that it adds.
        crowded: Pages that have more versions than are kept.
    """

    def __init__(self, connection: Database) -> None:
        self._connection = connection
        self._rules: dict[int, int] = {}
        self._told: dict[int, ToldCopy] = {}
        self._digests: dict[int, bytes] = {}  # of bodies, by the identity of their visits
        self.versions = NewVersions(connection)
        self.crowded: set[int] = set()

    def look_ahead(self, entries: Sequence[Entry]) -> None:
        """Read what the visits among entries will ask for."""
        visits = [each for entry in entries for each in _visits_of(entry) if has_news(each)]
        if len(visits) < _FEW:
            return
        pages = {each.page for each in visits}
        self._read(pages)
        self._digests = {id(each): digest_of(each.body) for each in visits if each.body is not None}
        if self._digests:
            self.versions.look_ahead(pages, set(self._digests.values()))

    def rule(self, page: int) -> int:
        """Number of the rule of a page."""
        if page not in self._rules:
            self._read([page])
        if page not in self._rules:
            raise ValueError(f"page {page} is missing")
        return self._rules[page]

    def told(self, page: int) -> ToldCopy:
        """The copy that the last event of a page told of."""
        if page not in self._told:
            self._read([page])
        return self._told.get(page, feed.ToldCopy())

    def tell(self, page: int, copy: ToldCopy) -> None:
        """Note what the last event of a page tells of."""
        self._told[page] = copy

    def keep(self, page: int, at: int, made: VisitMade, most: int | None) -> bytes:
        """Keep the body of a visit as the newest version of its page, and return its digest.

        Args:
            page: The page.
            at: When it was visited, in epoch milliseconds.
            made: The visit.
            most: How many versions of a page are kept; None for all.
        """
        assert made.body is not None  # noqa: S101 - asked before
        digest = self._digests.get(id(made)) or digest_of(made.body)
        count = self.versions.keep(page, at, made.body, digest, made.lines)
        if most is not None and count > most:
            self.crowded.add(page)
        return digest

    def forget(self) -> None:
        """Ask the database anew from now on: what was read may no longer be so."""
        self.versions.forget()
        self._rules.clear()
        self._told.clear()

    def _read(self, pages: Iterable[int]) -> None:
        for page, (rule, copy) in feed.told_copies(self._connection, pages).items():
            self._rules[page] = rule
            self._told.setdefault(page, copy)  # events of this transaction are later


def _visits_of(entry: Entry) -> Sequence[VisitMade]:
    match entry:
        case VisitMade():
            return (entry,)
        case VisitsReported():
            return entry.visits
        case _:
            return ()
