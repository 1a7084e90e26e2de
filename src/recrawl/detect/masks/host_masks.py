"""Masks for all pages of a host, from masks that several of its pages share.

A mask that three pages have learned, each from double fetches of its own, is for a place that all
pages have. That pages change alike would prove nothing: whole sections are edited alike.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from recrawl.detect.masks.masks import MOST_MASKS, Masks

if TYPE_CHECKING:
    from recrawl.detect.masks.masks import Mask

_ENOUGH_PAGES = 3
_MOST_PLACES = 1000


class HostMasks:
    """Masks that pages of one host have learned; most places take a few bytes each.

    Examples:
        >>> from recrawl.detect.masks.masks import learn_masks
        >>> host = HostMasks()
        >>> for page in range(3):
        ...     masks = learn_masks((f"Page {page}", "12:00 UTC"), (f"Page {page}", "12:01 UTC"))
        ...     host.learn(str(page), masks)
        >>> [mask.place.template.pieces for mask in host.shared().masks]
        [('', ' UTC')]
    """

    def __init__(self) -> None:
        self._pages: dict[tuple[str, ...], set[int]] = {}
        self._masks: dict[tuple[str, ...], Mask] = {}

    def learn(self, page: str, masks: Masks) -> None:
        """Count the masks that a page has learned from double fetches.

        Args:
            page: Its address.
            masks: All its masks.
        """
        for mask in masks.masks:
            self._note(page, mask, mask.place.name)

    def shared(self) -> Masks:
        """Masks that enough pages share."""
        found = {
            mask.place.name: mask
            for name, mask in self._masks.items()
            if len(self._pages[name]) >= _ENOUGH_PAGES
        }
        return Masks(tuple(found.values())[:MOST_MASKS])

    def _note(self, page: str, mask: Mask, name: tuple[str, ...]) -> None:
        pages = self._pages.setdefault(name, set())
        if len(pages) < _ENOUGH_PAGES:
            pages.add(xxh3_64_intdigest(page.encode(errors="surrogatepass")))
        self._masks[name] = mask
        if len(self._pages) > _MOST_PLACES:  # the oldest that few pages have
            few = (name for name, seen in self._pages.items() if len(seen) < _ENOUGH_PAGES)
            oldest = next(few, next(iter(self._pages)))
            del self._pages[oldest], self._masks[oldest]
