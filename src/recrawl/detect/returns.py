"""Pages that are again what they were before: one of two texts by chance, or an edit undone.

A button that says one thing to half of its visitors and another to the rest is the same in both of
two fetches half of the time, so it may pass for a change more than once. Then the page changes back
to a text that it had before, which edited pages seldom do. That proves nothing, for what was sold
out may be on sale again; but it is worth a second look.

Pure.
"""

from __future__ import annotations

from collections import OrderedDict

_MOST_PAGES = 20_000
_MOST_TEXTS = 8  # of a page: three places with two texts each make as many


class Returns:
    """Texts that pages lately changed from; memory is bounded.

    Examples:
        >>> returns = Returns()
        >>> [returns.seen(1, text, copy) for text, copy in [(b"B", b"A"), (b"A", b"B")]]
        [False, True]
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[int, OrderedDict[bytes, None]] = OrderedDict()

    def seen(self, page: int, text: bytes, copy: bytes) -> bool:
        """Whether a page lately changed from the text that it now changes to.

        To be asked only for an answer whose text differs from the copy's.

        Args:
            page: The page.
            text: Signature of the text of the answer.
            copy: Signature of the text of the copy.
        """
        texts = self._pages.setdefault(page, OrderedDict())
        self._pages.move_to_end(page)
        if len(self._pages) > _MOST_PAGES:
            self._pages.popitem(last=False)
        texts[copy] = None
        texts.move_to_end(copy)
        if len(texts) > _MOST_TEXTS:
            texts.popitem(last=False)
        return text in texts
