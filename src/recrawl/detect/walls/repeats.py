"""One and the same text for pages that are different: a wall, in whatever language.

A host that answers everything with one text ("try again later") has changed none of its pages.
Where an answer differs from the copy of its page, and another page of the host lately changed to
the very same text from a text of its own, neither says anything of its page. Pages whose copies
were the same before are one page under two addresses, and may well change together.

Pure.
"""

from __future__ import annotations

from collections import OrderedDict

_MOST_HOSTS = 1000
_MOST_TEXTS = 20  # of a host


class Repeats:
    """Texts that pages lately changed to, by host; memory is bounded.

    Examples:
        >>> repeats = Repeats()
        >>> repeats.seen("a.example", "/1", b"wall", b"one")
        False
        >>> repeats.seen("a.example", "/2", b"wall", b"two")
        True
        >>> [repeats.seen("b.example", page, b"news", b"same before") for page in ("/1", "/2")]
        [False, False]
    """

    def __init__(self) -> None:
        # By host and text: the page that had it first, and the text of its copy.
        self._hosts: OrderedDict[str, OrderedDict[bytes, tuple[str, bytes | None]]] = OrderedDict()

    def seen(self, host: str, page: str, text: bytes, copy: bytes | None) -> bool:
        """Whether another page of the host lately changed to this text from a text of its own.

        To be asked only for an answer whose text differs from the copy's.

        Args:
            host: The host.
            page: Address of the page.
            text: Signature of the text of the answer.
            copy: Signature of the text of the copy; None where there is none.
        """
        texts = self._hosts.setdefault(host, OrderedDict())
        self._hosts.move_to_end(host)
        if len(self._hosts) > _MOST_HOSTS:
            self._hosts.popitem(last=False)
        if text not in texts:
            texts[text] = (page, copy)
            if len(texts) > _MOST_TEXTS:
                texts.popitem(last=False)
            return False
        texts.move_to_end(text)
        other, others_copy = texts[text]
        return other != page and others_copy is not None and others_copy != copy
