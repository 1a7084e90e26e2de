"""Tree of an HTML page, where it can be had in good time.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.detect.text.complexity import is_too_complex

if TYPE_CHECKING:
    from typing import TypeAlias

    Element: TypeAlias = Any  # of lxml, which ships no types


def read_tree(page: str) -> Element | None:
    """Root of a page's tree; None where it is too complex, or nothing is there.

    >>> read_tree("<p>a<!-- b --><p>c").tag, read_tree(" ")
    ('html', None)
    """
    from lxml import etree  # type: ignore[import-untyped]  # slow to load; no types

    if not page.strip() or is_too_complex(page):
        return None
    # All text comes as UTF-8, whatever the page says of itself. The bounds of lxml are wider than
    # ours in depth and narrower in size.
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    return etree.fromstring(page.encode(errors="replace"), parser)
