"""Whether a page changed between two versions, and which share of its words.

The caller compares bytes first: equal bytes need no reading. Where bytes differ, the lines of both
versions are masked and their signatures compared; only where these differ, too, are words counted.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from xxhash import xxh3_64_digest

from recrawl.detect.diff.share import word_change
from recrawl.detect.masks.masks import NO_MASKS, apply_masks
from recrawl.detect.simhash import estimated_share, simhash
from recrawl.detect.text.lines import lines, text_lines
from recrawl.parse.documents import document_kind
from recrawl.parse.encodings import decoded, decoded_page
from recrawl.parse.headers import content_type as media_type
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.detect.masks.masks import Masks

    # Makes HTML of a PDF or Office document; None where that cannot be done.
    Convert = Callable[[bytes], str | None]

PAGES = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = ("json", "xml", "javascript", "yaml", "csv", "x-www-form-urlencoded")
_SAMPLE = 20_000  # bytes by which text is told from what is none
_MOST_UNREADABLE = 0.05  # of their letters
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffd]")


@dataclass(frozen=True, slots=True)
class OldVersion:
    """The version that a page is compared with, as far as it is kept.

    Args:
        lines: Its lines, before masks; None where the version itself is not kept.
        signature: Signature of its lines after the masks of that time.
        simhash: Simhash of these lines; None where it is unknown.
    """

    lines: Sequence[str] | None
    signature: bytes
    simhash: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """How a page compares with its old version.

    Args:
        outcome: First, cosmetic or changed; cosmetic where nothing differs that counts.
        share: Share of the words that differ; nan where that is unknown.
        gist: Kind of the change, one of `recrawl.detect.diff.gist.GISTS`; empty if unknown.
    """

    outcome: VisitOutcome
    share: float
    gist: str = ""


class BodyText(NamedTuple):
    """Text of a body.

    Attributes:
        text: The text.
        html: Whether it is HTML.
        document: Whether it was made of a PDF or Office document.
        utf8: Whether the body is the text in plain UTF-8.
    """

    text: str
    html: bool
    document: bool = False
    utf8: bool = False


def not_converted(_: bytes) -> None:
    """Leave documents unread: for readers that nobody has given a way to read them."""


def read_body(body: bytes, content_type: str, convert: Convert = not_converted) -> BodyText | None:
    """Text of a body; None of what is no text.

    Args:
        body: What was fetched.
        content_type: The `Content-Type` header; empty where it is not known.
        convert: Makes HTML of PDF and Office documents, which are told by their bytes.

    Examples:
        >>> read_body(b"<p>a", "text/html").html, read_body(b"<p>a", "").html
        (True, True)
        >>> read_body(b"a", "text/plain"), read_body(b"GIF89a", "image/gif")
        (BodyText(text='a', html=False, document=False, utf8=True), None)
        >>> read_body(b"%PDF-1.7 ...", "application/pdf", lambda _: "<p>Tea").text
        '<p>Tea'
    """
    if document_kind(body):
        made = convert(body)
        return None if made is None else BodyText(made, html=True, document=True)
    mime = media_type(content_type)[0]
    if mime and not (mime in PAGES or mime.startswith("text/") or mime.endswith(_TEXTS)):
        return None
    if not mime and not is_text(body):
        return None
    text, utf8 = decoded_page(body, content_type)
    return BodyText(text, mime in PAGES or (not mime and text.lstrip()[:1] == "<"), utf8=utf8)


def is_text(body: bytes) -> bool:
    """Whether a body is text, by its beginning: stores do not keep what a host called it.

    >>> is_text("<p>Käse".encode()), is_text(bytes(range(32)))
    (True, False)
    """
    text = decoded(body[:_SAMPLE])
    return len(_UNREADABLE.findall(text)) <= _MOST_UNREADABLE * len(text)


def read_lines(
    text: str, *, html: bool, watch: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Lines of a page as a reader sees them.

    Args:
        text: The page.
        html: Whether it is HTML; other text is split into lines as it is.
        watch: CSS selectors of the only parts that count; none for the whole page.
        ignore: CSS selectors of parts that do not count.

    Examples:
        >>> read_lines("<p>a<p>b", html=True), read_lines("<p>", html=False)
        (('a', 'b'), ('<p>',))
    """
    return lines(text, watch=watch, ignore=ignore) if html else text_lines(text)


def signature(lines: Sequence[str]) -> bytes:
    """64-bit hash of lines.

    >>> signature(("a", "b")) == signature(("a", "c"))
    False
    """
    return xxh3_64_digest("\n".join(lines).encode(errors="surrogatepass"))


def compare(
    old: OldVersion | None,
    new: Sequence[str],
    masks: Masks = NO_MASKS,
    *,
    least_change: float = 0.0,
) -> Change:
    """Compare a page with its old version.

    Args:
        old: The old version; None for the first visit.
        new: Lines of the page now.
        masks: Places that do not count.
        least_change: Share of the words that must differ for a change to count.

    Examples:
        >>> old = OldVersion(("Tea", "5 euros"), signature(("Tea", "5 euros")))
        >>> compare(old, ("Tea", "6 euros"))
        Change(outcome=<VisitOutcome.CHANGED: 3>, share=0.3333333333333333, gist='figures')
        >>> compare(old, ("Tea", "6 euros"), least_change=0.5).outcome.label
        'cosmetic'
    """
    if old is not None and old.lines is not None:
        old = replace(old, lines=apply_masks(old.lines, masks))
    return compare_masked(old, apply_masks(new, masks), least_change=least_change)


def compare_masked(
    old: OldVersion | None,
    now: Sequence[str],
    *,
    signed: bytes | None = None,
    least_change: float = 0.0,
) -> Change:
    """Compare a page with its old version, of which masks have been applied to both.

    Args:
        old: The old version; None for the first visit.
        now: Lines of the page now.
        signed: Their signature; None where it is not known yet.
        least_change: Share of the words that must differ for a change to count.
    """
    if old is None:
        return Change(VisitOutcome.FIRST, nan)
    if (signature(now) if signed is None else signed) == old.signature:
        return Change(VisitOutcome.COSMETIC, 0.0)
    gist = ""
    if old.lines is not None:
        share, gist = word_change(old.lines, now)
    elif old.simhash is not None:
        share = estimated_share(old.simhash, simhash(now))
    else:
        share = nan
    cosmetic = share == 0.0 or share < least_change
    return Change(VisitOutcome.COSMETIC if cosmetic else VisitOutcome.CHANGED, share, gist)
