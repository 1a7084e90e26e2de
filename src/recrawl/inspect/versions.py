"""Versions of a page that a store keeps, chosen and compared.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from recrawl.detect.change import not_converted, read_body, read_lines
from recrawl.detect.diff.line_diff import line_diff
from recrawl.detect.diff.share import share_changed
from recrawl.detect.masks.json_text import read_masks
from recrawl.detect.masks.masks import NO_MASKS, Masks, apply_masks
from recrawl.errors import NothingToCompare
from recrawl.parse.addresses import host_of
from recrawl.settings.rules import Rule
from recrawl.units import utc_text
from recrawl.visits.status import RobotsTag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.detect.change import Convert
    from recrawl.detect.diff.line_diff import PageDiff
    from recrawl.entries.records import Version
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Side:
    """A version of a page.

    Args:
        at_seconds: When it was first seen.
        size: Its bytes.
    """

    at_seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions of a page and what changed between them.

    Args:
        page: Address of the page.
        old: One version.
        new: The other.
        share: Share of the words that differ.
        diff: The diff.
    """

    page: str
    old: Side
    new: Side
    share: float
    diff: PageDiff


@dataclass(frozen=True, slots=True)
class PageVersions:
    """The versions of a page that are kept, oldest first.

    Args:
        reader: The store.
        address: Address of the page.
        kept: The versions.
        rule: What counts in the page.
        masks: What differs by itself, and does not count.
        convert: Makes HTML of PDF and Office documents.
    """

    reader: ReadStore
    address: str
    kept: Sequence[Version]
    rule: Rule
    masks: Masks
    convert: Convert = not_converted

    @classmethod
    def of(
        cls,
        settings: Settings,
        reader: ReadStore,
        page: int,
        address: str,
        convert: Convert = not_converted,
    ) -> PageVersions:
        """Those that are kept now, seen as the crawl sees them; refused where there is none."""
        kept = reader.versions(page)
        if not kept:
            why = why_no_version(settings, reader, page)
            raise NothingToCompare(f"Nothing to compare: no version of {address} is kept{why}.")
        rule = rule_of(settings, reader, page, address)
        return cls(reader, address, kept, rule, masks_of(reader, page, address), convert)

    def whole(self) -> PageVersions:
        """The same where everything counts."""
        return replace(self, rule=Rule(self.address), masks=NO_MASKS)

    def chosen(self, since: float | None, until: float | None) -> tuple[Version, Version]:
        """Two versions to compare.

        Args:
            since: Epoch seconds at which the older one held; None for the one before the newer.
            until: Epoch seconds at which the newer one held; None for the newest.
        """
        if len(self.kept) == 1:
            message = (
                f"Nothing to compare yet: only one version of {self.address} is kept "
                f"({_when(self.kept[0])})."
            )
            raise NothingToCompare(message)
        newer = self._held_at(inf if until is None else until, "--to")
        older = newer - 1 if since is None else self._held_at(since, "--from")
        if older < 0:
            first = _when(self.kept[0])
            message = f"--to is the first version kept ({first}); there is none before it"
            raise NothingToCompare(message)
        if older >= newer:
            got = f"{_when(self.kept[older])} for both"
            if older > newer:
                got = f"{_when(self.kept[older])} and {_when(self.kept[newer])}"
            message = f"--from must be an older version than --to (got {got}); see --list"
            raise NothingToCompare(message)
        return self.kept[older], self.kept[newer]

    def _held_at(self, seconds: float, name: str) -> int:
        """The newest version that was kept by then; people write whole seconds."""
        rows = [row for row, each in enumerate(self.kept) if int(each.at_seconds) <= seconds]
        if not rows:
            message = (
                f"{name} is before the first version kept, {_when(self.kept[0])} "
                f"(got {utc_text(seconds)} UTC)"
            )
            raise NothingToCompare(message)
        return rows[-1]

    def compared(self, older: Version, newer: Version) -> Comparison:
        """What changed between two versions, as far as it counts."""
        old, new = self.lines(older), self.lines(newer)
        return Comparison(
            page=self.address,
            old=Side(older.at_seconds, older.size),
            new=Side(newer.at_seconds, newer.size),
            share=share_changed(old, new),
            diff=line_diff(old, new),
        )

    def lines(self, version: Version) -> tuple[str, ...]:
        """What a reader sees of a version, as far as it counts."""
        body = self.reader.body(version.digest)
        if body is None:
            message = f"the version of {_when(version)} is no longer kept; see --list"
            raise NothingToCompare(message)
        read = read_body(body, "", self.convert)
        if read is None:
            message = f"cannot compare {self.address}: its version of {_when(version)} is not text"
            raise NothingToCompare(message)
        watch, ignore = self.rule.watch, self.rule.ignore
        found = read_lines(read.text, html=read.html, watch=watch, ignore=ignore)
        return apply_masks(found, self.masks)


def rule_of(settings: Settings | None, reader: ReadStore, page: int, address: str) -> Rule:
    """What counts in a page; all of it where no settings say."""
    rule = None if settings is None else settings.rule_for(address)
    if settings is not None and rule is None and settings.detail_rules:
        numbers = settings.detail_rules
        named = [each for each in reader.listings_of_page(page) if each in numbers]
        rule = settings.rules[numbers[named[0]]] if named else None
    return Rule(address) if rule is None else rule


def masks_of(reader: ReadStore, page: int, address: str) -> Masks:
    """What differs by itself on a page, and on all pages of its host."""
    of_host = read_masks(reader.host_masks().get(host_of(address), ""))
    of_page = read_masks(reader.masks([page])[0])
    return Masks((*of_host.masks, *of_page.masks))


def why_no_version(settings: Settings | None, reader: ReadStore, page: int) -> str:
    """Why no version of a page is kept, to be said after that it is not."""
    (copy,) = reader.copies([page])
    if copy is not None and RobotsTag.NOARCHIVE in copy.robots:
        return ": the page asks for noarchive"
    if settings is not None and not settings.versions:
        return ": the settings say versions = 0"
    return ""


def _when(version: Version) -> str:
    return f"{utc_text(version.at_seconds)} UTC"
