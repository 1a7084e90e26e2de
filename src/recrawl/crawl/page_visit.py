"""What a visit to a page is made of: the page that is leased for it, and what came of it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from recrawl.visits.status import Audit, RobotsTag, VisitOutcome

if TYPE_CHECKING:
    from recrawl.detect.masks.masks import Masks
    from recrawl.detect.reading import ReadPage
    from recrawl.detect.verdict import Verdict
    from recrawl.entries.entries import Copy
    from recrawl.entries.filtering import DuplicateOf
    from recrawl.entries.manifests import Manifest
    from recrawl.frontier.agenda import Lease
    from recrawl.parse.messages import Response
    from recrawl.settings.rules import Rule


class LeasedPage(NamedTuple):
    """A page that is to be visited.

    Attributes:
        lease: Permission to visit it now.
        address: Its address.
        copy: Facts about the copy; None where there is none.
        masks: What is known to differ by itself on it.
        rule: What is asked for it.
    """

    lease: Lease
    address: str
    copy: Copy | None
    masks: Masks
    rule: Rule


@dataclass(slots=True)
class PageVisit:
    """One visit to a page, from its response to the store; completed on the way.

    Args:
        page: Number of the page.
        address: Its address.
        at: When it was made, in days after 1970.
        response: The response, or the last of them.
        verdict: What it says of the page.
        audit: What a second request was made for.
        masks: What differs by itself on the page; None where nothing new is known.
        false_changes: Chance that a change is reported of the unchanged page.
        manifest: Chunks of a new copy; None where they are not to be written down.
        original: The page that this one is a copy of, if it is one.
        number: Its number in the store; 0 until it is on disk.
        read: What a reader sees of the response, until the visit is judged for good; None where
            the response was not read.
    """

    page: int
    address: str
    at: float
    response: Response
    verdict: Verdict
    audit: Audit = Audit.NONE
    masks: Masks | None = None
    false_changes: float = 0.0
    manifest: Manifest | None = None
    original: DuplicateOf | None = None
    number: int = 0
    read: ReadPage | None = None

    @property
    def outcome(self) -> VisitOutcome:
        """What it found."""
        return self.verdict.outcome

    @property
    def follows_links(self) -> bool:
        """Whether it brought new content whose links may be followed."""
        verdict = self.verdict
        copy = verdict.copy if verdict.body is not None else None
        return copy is not None and RobotsTag.NOFOLLOW not in copy.robots

    @property
    def moved_to(self) -> str:
        """Where the page is now, if it has moved for good; empty if not."""
        return self.response.target if self.verdict.outcome is VisitOutcome.MOVED else ""
