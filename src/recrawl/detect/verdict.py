"""Verdict on a response: whether its page changed, is gone, or nothing can be said.

Only a whole response with status 200 or 304 says anything of content. Errors, walls and empty
bodies are not changes. Reading costs most, so it is done in steps, each only where the one before
has not settled it:

1. `verdict_unread`: by status, and by whether the bytes are those of the copy;
2. `read_response` of `reading`: what a reader sees, and whether it is a wall;
3. `verdict_by_signature`: whether that is what the copy was signed by;
4. `verdict_by_content`: whether it differs from the copy, and by how much, from the version that is
   kept.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, nan
from typing import TYPE_CHECKING

from xxhash import xxh3_64_digest

from recrawl.detect.change import (
    OldVersion,
    compare_masked,
)
from recrawl.detect.masks.masks import NO_MASKS, blank_masked, is_displaced
from recrawl.detect.reading import has_kept_lines, reading_of
from recrawl.detect.simhash import simhash
from recrawl.entries.entries import Copy
from recrawl.entries.records import VersionLines
from recrawl.parse.dates import http_date
from recrawl.parse.headers import is_same_tag, validators
from recrawl.parse.robots_tags import NO_TAGS
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import NO_TAG, VisitOutcome

if TYPE_CHECKING:
    from recrawl.detect.masks.blanking import BlankedLines
    from recrawl.detect.masks.masks import Masks
    from recrawl.detect.reading import Criteria, MaskedPage, ReadPage
    from recrawl.parse.messages import Response
    from recrawl.parse.robots_tags import RobotsTags

_OK, _NOT_MODIFIED = 200, 304
_GONE = frozenset({404, 410})
# A page dated this short before its response was dated by its response: it is made anew every time.
_MADE_JUST_NOW_SECONDS = 2.0
_SHORT_GAP_SECONDS = 10 * _MADE_JUST_NOW_SECONDS  # in which one change in ten is as young
_NO_PAGE = "soft-404"  # a wall that says that there is no such page
_NO_TEXT = "empty"


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What is known of a page before a visit.

    Args:
        copy: What is known of the copy; None where there is none.
        masks: Bits of the page that differ by themselves.
        before: Epoch seconds of the visit before; None where there was none.
        dates: Whether its host's dates are worth anything.
        keeps: Whether versions are kept: where not, a copy needs something to be compared by.
    """

    copy: Copy | None = None
    masks: Masks = NO_MASKS
    before: float | None = None
    dates: bool = True
    keeps: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a visit found.

    Args:
        outcome: In one word.
        share: Share of the words that differ; nan where nothing was compared.
        copy: What is known of the copy from now on; None where that is what was known before.
        age: Days from the last change to the visit; nan where that is unknown.
        body: Bytes worth keeping as a version; None where there are none.
        lines: What a reader sees of them; None where that is not worth keeping.
        wall: What stood in place of the page, if anything did.
        displaced: Whether a change took the place of a mask away, or edited a line beside it.
        gist: Kind of a change, one of `recrawl.detect.diff.gist.GISTS`; empty if unknown.
    """

    outcome: VisitOutcome
    share: float = nan
    copy: Copy | None = None
    age: float = nan
    body: bytes | None = None
    wall: str = ""
    displaced: bool = False
    gist: str = ""
    lines: VersionLines | None = None


def verdict_unread(address: str, response: Response, copy: Copy | None) -> Verdict | None:
    """What a response says without being read; None where it must be read.

    Args:
        address: Address of the page.
        response: The response, after all redirects.
        copy: What is known of the copy; None where there is none.
    """
    if not response.ok:
        return Verdict(VisitOutcome.FAILED)
    if response.status in _GONE:
        return Verdict(VisitOutcome.GONE)
    if response.status == _NOT_MODIFIED and copy is not None:
        return Verdict(VisitOutcome.NOT_MODIFIED, copy=_renewed(copy, response))
    if response.status != _OK or not response.body:
        return Verdict(VisitOutcome.FAILED)
    if copy is not None and xxh3_64_digest(response.body) == copy.bytes_signature:
        found = _copy(address, response, copy.text_signature, copy.simhash, shell=copy.shell)
        return Verdict(VisitOutcome.SAME, 0.0, None if found == copy else found)
    return None


def verdict_by_signature(
    address: str, response: Response, now: ReadPage, known: PageFacts
) -> Verdict | None:
    """What a response says that reads as the copy did; None where it does not.

    Args:
        address: Address of the page.
        response: The response, after all redirects.
        now: What a reader sees of it.
        known: What is known of the page.
    """
    copy = known.copy
    masked = None if copy is None or now.wall else now.masked(known.masks)
    if copy is None or masked is None or masked.signature != copy.text_signature:
        return None
    found = _copy(address, response, copy.text_signature, copy.simhash, shell=now.shell)
    return Verdict(VisitOutcome.COSMETIC, 0.0, None if found == copy else found)


def verdict_by_content(  # noqa: PLR0913 - a page now, a page before, and what is known of both
    address: str,
    response: Response,
    now: ReadPage,
    known: PageFacts,
    criteria: Criteria,
    *,
    old: ReadPage | None,
    at: float,
) -> Verdict:
    """What a response that was read says of its page.

    Args:
        address: Address of the page.
        response: The response, after all redirects.
        now: What a reader sees of it.
        known: What is known of the page.
        criteria: What counts as a change.
        old: What a reader saw of the version that is kept; None where none is.
        at: Epoch seconds of this visit.
    """
    copy = known.copy
    if now.wall and not _was_so(now, old, copy):
        gone = now.wall == _NO_PAGE
        return Verdict(VisitOutcome.GONE if gone else VisitOutcome.WALLED, wall=now.wall)
    masked = now.masked(known.masks)
    if masked is None or now.lines is None:
        found = _copy(address, response, None, None)
        outcome = VisitOutcome.FIRST if copy is None else VisitOutcome.CHANGED
        return _changed(outcome, nan if copy is None else 1.0, found, known, response, at)
    blanked = masked.blanked
    was = blank_masked(old.lines, known.masks) if old and old.lines is not None else None
    what = compare_masked(
        _before(copy, was),
        blanked.lines,
        signed=masked.signature,
        least_change=criteria.least_change,
    )
    if what.outcome is not VisitOutcome.COSMETIC:
        found = _copy(address, response, *_compared_by(masked, known), shell=now.shell)
        lines = None
        if has_kept_lines(response.body):
            cuts = now.cuts.written if now.cuts else ""
            reading = reading_of(response, criteria)
            lines = VersionLines(reading, now.lines, cuts, response.body)
        moved = was is not None and is_displaced(was, blanked)
        changed = _changed(what.outcome, what.share, found, known, response, at)
        return replace(changed, displaced=moved, gist=what.gist, lines=lines)
    assert copy is not None  # noqa: S101 - without one it is the first
    by = copy.text_signature, copy.simhash
    if not what.share:
        by = _compared_by(masked, known)
    # Small differences must not add up unseen: the next visit is compared with the same version.
    found = _copy(address, response, *by, shell=now.shell)
    return Verdict(VisitOutcome.COSMETIC, what.share, None if found == copy else found)


def with_robots_tags(verdict: Verdict, tags: RobotsTags, known: Copy | None, at: float) -> Verdict:
    """A verdict whose copy says what the page asks of crawlers; one without content as it is.

    Args:
        verdict: The verdict.
        tags: What the response asks.
        known: What was known of the copy; None where there is none.
        at: Epoch seconds of this visit.
    """
    copy = verdict.copy or known
    if copy is None or not (verdict.outcome.compared or verdict.outcome is VisitOutcome.FIRST):
        return verdict
    if tags == NO_TAGS and _asks_nothing(copy):  # as nearly all
        return replace(verdict, copy=None) if verdict.copy and copy == known else verdict
    after = tags.unavailable_after
    marked = replace(
        copy,
        robots=tags.at(at),
        unavailable_after_seconds=int(after) if isfinite(after) else None,
    )
    return replace(verdict, copy=None if marked == known else marked)


def _asks_nothing(copy: Copy) -> bool:
    return copy.robots == NO_TAG and copy.unavailable_after_seconds is None


def _before(copy: Copy | None, was: BlankedLines | None) -> OldVersion | None:
    if copy is None:
        return None
    return OldVersion(was.lines if was else None, copy.text_signature or b"", copy.simhash)


def _compared_by(masked: MaskedPage, known: PageFacts) -> tuple[bytes, int | None]:
    """Signature and, where no version is kept to compare with, simhash of masked lines."""
    return masked.signature, None if known.keeps else simhash(masked.blanked.lines)


def dated_by_response(response: Response, at: float) -> bool:
    """Whether a page is dated by the moment at which it was sent."""
    return _age_of_date(response, at) < _MADE_JUST_NOW_SECONDS


def _age_of_date(response: Response, at: float) -> float:
    """Seconds from a page's date to the moment at which it was sent, by its host's own clock."""
    sent = http_date(response.headers.get("date", ""))
    return (at if sent is None else sent) - validators(response.headers).modified


def is_date_right(
    response: Response, copy: Copy, before: float, at: float, *, changed: bool
) -> bool | None:
    """Whether a page's date is that of its last change; None where that cannot be told.

    Of a page that did not change, a date that has moved, or is later than the visit before, is
    wrong. A change is rightly dated in its gap. That it is dated by its response is wrong after a
    long gap; after a short one a change is as young as a date that is made up.

    Args:
        response: What a visit found.
        copy: What is known of the copy.
        before: Epoch seconds of the visit before.
        at: Epoch seconds of this visit.
        changed: Whether the page changed in between.
    """
    modified, age, gap = (
        validators(response.headers).modified,
        _age_of_date(response, at),
        at - before,
    )
    if not changed:
        if copy.modified_seconds is None:
            moved = age < gap - _MADE_JUST_NOW_SECONDS
        else:
            moved = int(modified) != copy.modified_seconds
        return False if moved else None
    if age < _MADE_JUST_NOW_SECONDS:
        return False if gap > _SHORT_GAP_SECONDS else None
    return before <= modified + 1 <= at + 1


def with_lasting_validators(verdict: Verdict, response: Response, at: float) -> Verdict:
    """A verdict whose copy has no validator that a change a moment later would share.

    Last-Modified has whole seconds: a page that changes twice in one of them has the same date for
    two versions, and a host that calls the second "not modified" is honest (RFC 9110, 8.8.2.2).
    An ETag that is made of this date, as that of nginx, is no finer.

    Args:
        verdict: What a visit found.
        response: What it found that in.
        at: Epoch seconds of the visit.
    """
    copy = verdict.copy
    if copy is None or copy.modified_seconds is None or not dated_by_response(response, at):
        return verdict
    etag = copy.etag or ""
    lasting = None if f"{copy.modified_seconds:x}" in etag else copy.etag
    return replace(verdict, copy=replace(copy, etag=lasting, modified_seconds=None))


def _was_so(now: ReadPage, old: ReadPage | None, copy: Copy | None) -> bool:
    """Whether a page that seems to be a wall seemed so before: then it is what it looks like."""
    if copy is None:
        return now.wall == _NO_TEXT  # a page of images, or one that a browser would fill
    if old is None:
        return False
    return not old.lines if now.wall == _NO_TEXT else old.lines == now.lines


def _changed(
    outcome: VisitOutcome, share: float, copy: Copy, known: PageFacts, response: Response, at: float
) -> Verdict:
    age = nan
    if known.dates and not dated_by_response(response, at):
        age = _age(copy, -inf if outcome is VisitOutcome.FIRST else known.before, at)
    return Verdict(outcome, share, copy, age, response.body)


def _copy(
    address: str,
    response: Response,
    text: bytes | None,
    simhash: int | None,
    *,
    shell: bool = False,
) -> Copy:
    """A copy with the validators of a response; none where they are another address's.

    A host that is asked "modified since?" of another page than the copy is of may well say no.
    """
    content = xxh3_64_digest(response.body)
    if response.address != address:
        return Copy(content, text, simhash=simhash, shell=shell)
    known = validators(response.headers)
    modified = int(known.modified) if isfinite(known.modified) else None
    return Copy(content, text, known.etag or None, modified, simhash, shell=shell)


def _renewed(known: Copy, response: Response) -> Copy | None:
    """The copy with the validators that came with "not modified", where they are others."""
    new = validators(response.headers)
    modified = int(new.modified) if isfinite(new.modified) else known.modified_seconds
    etag = known.etag
    if new.etag and not (etag and is_same_tag(new.etag, etag)):
        etag = new.etag
    if etag == known.etag and modified == known.modified_seconds and _asks_nothing(known):
        return None
    signatures = known.bytes_signature, known.text_signature
    return Copy(*signatures, etag, modified, known.simhash, shell=known.shell)


def _age(copy: Copy, before: float | None, at: float) -> float:
    """Days since the change, where the host's date lies where the change must lie."""
    modified = copy.modified_seconds
    if modified is None or before is None or not before <= modified + 1 <= at + 1:
        return nan
    return max(at - modified, 0.0) / SECONDS_A_DAY
