"""What became of a page between two readings: the same, cosmetic, or changed, and how much.

Bytes that are equal need no reading: the caller compares them first. Where they differ, both
readings are masked, and their signatures compared. Only where these differ too are words counted.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from xxhash import xxh3_64_digest

from recrawl.detect.diff.share import share_changed
from recrawl.detect.masks.masks import NO_MASKS, masked
from recrawl.detect.simhash import estimated_share, likeness
from recrawl.detect.text.lines import lines, text_lines
from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.detect.masks.masks import Masks


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of the copy that a page is compared with.

    Args:
        lines: Its lines, without masks; None where they are not at hand.
        signature: Of its lines after the masks of then.
        likeness: Of them; None where it is not known.
    """

    lines: Sequence[str] | None
    signature: bytes
    likeness: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a page.

    Args:
        outcome: First, cosmetic or changed; cosmetic where nothing differs that counts.
        share: Share of the words that differ; nan where that is unknown.
    """

    outcome: Outcome
    share: float


def read(
    text: str, *, html: bool, watch: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """What a reader sees of a page: its lines.

    Args:
        text: The page.
        html: Whether it is HTML; other text counts as it is.
        watch: CSS selectors of the only parts that count; none for the whole page.
        ignore: CSS selectors of parts that do not count.

    Examples:
        >>> read("<p>a<p>b", html=True), read("<p>", html=False)
        (('a', 'b'), ('<p>',))
    """
    return lines(text, watch=watch, ignore=ignore) if html else text_lines(text)


def signature(lines: Sequence[str]) -> bytes:
    """Eight bytes that stand for lines.

    >>> signature(("a", "b")) == signature(("a", "c"))
    False
    """
    return xxh3_64_digest("\n".join(lines).encode(errors="surrogatepass"))


def difference(
    known: Known | None, new: Sequence[str], masks: Masks = NO_MASKS, *, least_change: float = 0.0
) -> Change:
    """What became of a page.

    Args:
        known: What is kept of the copy; None where there is none.
        new: Lines of the page now.
        masks: What does not count.
        least_change: Share of the words that must differ for a change to count.

    Examples:
        >>> known = Known(("Tea", "5 euros"), signature(("Tea", "5 euros")))
        >>> difference(known, ("Tea", "6 euros"))
        Change(outcome=<Outcome.CHANGED: 3>, share=0.3333333333333333)
        >>> difference(known, ("Tea", "6 euros"), least_change=0.5).outcome.label
        'cosmetic'
    """
    if known is None:
        return Change(Outcome.FIRST, nan)
    kept = masked(new, masks)
    if signature(kept) == known.signature:
        return Change(Outcome.COSMETIC, 0.0)
    if known.lines is not None:
        before = masked(known.lines, masks)
        share = share_changed(before, kept)
    elif known.likeness is not None:
        share = estimated_share(known.likeness, likeness(kept))
    else:
        share = nan
    cosmetic = share == 0.0 or share < least_change
    return Change(Outcome.COSMETIC if cosmetic else Outcome.CHANGED, share)
