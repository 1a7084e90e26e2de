"""Texts that pages lately had, by signature: two signs that a change is none.

A host that answers everything with one text ("try again later") has changed none of its pages,
whatever the language: see `SharedTexts`. A page that changes back to a text that it had before may
show one of two texts at random: see `RevertedTexts`.

Pure.
"""

from __future__ import annotations

from collections import OrderedDict

_MOST_HOSTS = 1000
_MOST_TEXTS_OF_HOST = 20
_MOST_PAGES = 20_000
_MOST_TEXTS_OF_PAGE = 8  # three places with two texts each make as many


class SharedTexts:
    """Texts that several pages of a host lately changed to; memory is bounded.

    Pages whose copies were the same before are one page with two addresses, and may well change
    together: only pages that had texts of their own count.

    Examples:
        >>> shared = SharedTexts()
        >>> shared.seen("a.example", "/1", b"wall", b"one")
        False
        >>> shared.seen("a.example", "/2", b"wall", b"two")
        True
        >>> [shared.seen("b.example", page, b"news", b"same before") for page in ("/1", "/2")]
        [False, False]
    """

    def __init__(self) -> None:
        # By host and text: the page that had it first, and the text of its copy.
        self._hosts: OrderedDict[str, OrderedDict[bytes, tuple[str, bytes | None]]] = OrderedDict()

    def seen(self, host: str, page: str, text: bytes, copy: bytes | None) -> bool:
        """Whether another page of the host lately changed to this text from a text of its own.

        To be called only for a response whose text differs from the copy's.

        Args:
            host: The host.
            page: Address of the page.
            text: Signature of the text of the response.
            copy: Signature of the text of the copy; None where there is none.
        """
        texts = self._hosts.setdefault(host, OrderedDict())
        self._hosts.move_to_end(host)
        if len(self._hosts) > _MOST_HOSTS:
            self._hosts.popitem(last=False)
        if text not in texts:
            texts[text] = (page, copy)
            if len(texts) > _MOST_TEXTS_OF_HOST:
                texts.popitem(last=False)
            return False
        texts.move_to_end(text)
        other, others_copy = texts[text]
        return other != page and others_copy is not None and others_copy != copy


class RevertedTexts:
    """Texts that each page lately changed from; memory is bounded.

    A button with one of two labels at random is the same in half of all double fetches, so it may
    pass for a change more than once. Edited pages seldom go back to an old text. That proves
    nothing, for what was sold out may be on sale again, but it is worth a second request.

    Examples:
        >>> reverted = RevertedTexts()
        >>> [reverted.seen(1, text, copy) for text, copy in [(b"B", b"A"), (b"A", b"B")]]
        [False, True]
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[int, OrderedDict[bytes, None]] = OrderedDict()

    def seen(self, page: int, text: bytes, copy: bytes) -> bool:
        """Whether a page lately changed from the text that it now changes to.

        To be called only for a response whose text differs from the copy's.

        Args:
            page: The page.
            text: Signature of the text of the response.
            copy: Signature of the text of the copy.
        """
        texts = self._pages.setdefault(page, OrderedDict())
        self._pages.move_to_end(page)
        if len(self._pages) > _MOST_PAGES:
            self._pages.popitem(last=False)
        texts[copy] = None
        texts.move_to_end(copy)
        if len(texts) > _MOST_TEXTS_OF_PAGE:
            texts.popitem(last=False)
        return text in texts
