"""Two fetches of a page right after each other: what differs by itself, and what is left.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.detect.diff.share import share_changed
from recrawl.detect.masks.masks import apply_masks, learn_masks
from recrawl.detect.reading import read_response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.crawl.page_visit import LeasedPage
    from recrawl.detect.change import Convert
    from recrawl.detect.masks.masks import Masks
    from recrawl.detect.reading import ReadPage
    from recrawl.parse.messages import Response


@dataclass(frozen=True, slots=True)
class Pair:
    """What two fetches at once showed.

    Args:
        differed: Whether they differed, though what was known to differ was left out.
        masks: What differs by itself; None where nothing is new.
        left: Share of the words that differ all the same.
    """

    differed: bool
    masks: Masks | None
    left: float


def compared(
    first: Response,
    second: Response,
    page: LeasedPage,
    known: Masks,
    converts: Sequence[Convert],
    read: ReadPage | None = None,
) -> Pair:
    """What two responses of a page show of each other.

    Args:
        first: The response of the visit.
        second: The one right after it.
        page: The page.
        known: What is known to differ by itself.
        converts: Turns the body of each into HTML.
        read: What a reader sees of the first; None to read it.
    """
    if first.body == second.body and not page.masks:
        return Pair(differed=False, masks=None, left=0.0)
    criteria = page.rule.criteria
    if read is None:
        read = read_response(first, criteria, None, converts[0])
    one, two = read.lines, read_response(second, criteria, None, converts[1]).lines
    if one is None or two is None:
        return Pair(differed=True, masks=None, left=1.0)
    masks = learn_masks(one, two, known)
    left = share_changed(apply_masks(one, masks), apply_masks(two, masks))
    differed = apply_masks(one, known) != apply_masks(two, known)
    return Pair(differed=differed, masks=None if masks == page.masks else masks, left=left)
