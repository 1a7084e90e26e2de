"""A body in, its content out.

Pure.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from recrawl.detect.change import not_converted, read_body
from recrawl.detect.masks.masks import NO_MASKS, apply_masks
from recrawl.detect.reading import Criteria
from recrawl.detect.text.lines import GAP, LINK, lines
from recrawl.detect.text.selection import select_parts
from recrawl.extract.content import Content, ContentBlock
from recrawl.extract.main_content import drop_unseen, main_content
from recrawl.extract.nodes import Paragraph, Span
from recrawl.extract.noise import ELLIPSIS, take_out_noise
from recrawl.extract.other_text import text_blocks
from recrawl.extract.tree import read_tree
from recrawl.extract.tree_blocks import tree_blocks
from recrawl.parse.addresses import canonical
from recrawl.parse.encodings import decoded
from recrawl.parse.headers import content_type as media_type

if TYPE_CHECKING:
    from recrawl.detect.change import Convert
    from recrawl.detect.masks.masks import Masks
    from recrawl.extract.nodes import Node
    from recrawl.extract.tree import Element

_EVERYTHING = Criteria()
# Of a page that no tree is made of, lines and letters that are read; nobody reads longer ones.
_MOST_LINES = 100_000
_LONGEST_PAGE = 8 << 20
_LONGEST_TITLE = 1_000
_TITLE_WITHIN = 20_000  # letters
_TITLE = re.compile("<title[^<>]*>", re.IGNORECASE)


def read_content(
    body: bytes,
    content_type: str,
    address: str,
    *,
    masks: Masks = NO_MASKS,
    criteria: Criteria = _EVERYTHING,
    convert: Convert = not_converted,
) -> Content | None:
    r"""Content of a body; None of what is no text.

    Args:
        body: What was fetched.
        content_type: The `Content-Type` header; empty where there was none.
        address: Canonical address of the page.
        masks: Places of the page that differ by themselves; they are left out.
        criteria: Selectors of the parts that count; the rest is left out. What is watched is
            content, whatever it looks like.
        convert: Makes HTML of PDF and Office documents.

    Examples:
        >>> page = b"<title>Shop</title><nav>Home</nav><h1>Tea</h1><p>Only <b>5</b> euros"
        >>> content = read_content(page, "text/html", "https://example.org/tea")
        >>> content.title, content.markdown
        ('Shop', '# Tea\n\nOnly **5** euros')
        >>> read_content(b"GIF89a", "image/gif", "https://example.org/dot.gif") is None
        True
    """
    read = read_body(body, content_type, convert)
    if read is None:
        return None
    text = read.text
    if not read.html:
        found = text_blocks(text, media_type(content_type)[0], masks)
        return Content(address, "", tuple(map(ContentBlock, found)), "text")
    content = _read_page(text, address, masks, criteria)
    return content or _read_lines(text, address, masks, criteria)


def title_of(body: bytes) -> str:
    """Title of a stored page as it is written, without reading the rest; empty where it has none.

    >>> title_of(b"<html><title>Tea &amp; more</title><p>Hot"), title_of(b"Tea")
    ('Tea & more', '')
    """
    text = decoded(body)
    begins = _TITLE.search(text, 0, _TITLE_WITHIN)
    ends = -1 if begins is None else text.find("<", begins.end(), begins.end() + _TITLE_WITHIN)
    if begins is None or ends < 0:
        return ""
    return " ".join(unescape(text[begins.end() : ends]).split())[:_LONGEST_TITLE]


def _read_page(page: str, address: str, masks: Masks, criteria: Criteria) -> Content | None:
    """Content by the tree of a page; None where it is too complex."""
    counted = page
    if criteria.watch or criteria.ignore:
        parts = select_parts(page, criteria.watch, criteria.ignore)
        counted = "".join(f"<div>{part}</div>" for part in parts) if criteria.watch else parts[0]
    if not counted.strip():
        return Content(address, "", ())
    tree = read_tree(counted)
    if tree is None:
        return None
    take_out_noise(tree, masks)
    title, base = _title(tree), _base(tree, address)
    found = _blocks(tree, address, base, whole=bool(criteria.watch))
    if not found and not criteria.watch:  # all of it looks like navigation
        tree = read_tree(counted)
        take_out_noise(tree, masks)
        found = _blocks(tree, address, base, whole=True)
    return Content(address, title, tuple(map(ContentBlock, found)))


def _blocks(tree: Element, address: str, base: str, *, whole: bool) -> list[Node]:
    if whole:
        drop_unseen(tree)
        return tree_blocks(tree, base)
    return tree_blocks(main_content(tree, address), base)


def _title(tree: Element) -> str:
    title = next(tree.iter("title"), None)
    words = "" if title is None else " ".join("".join(title.itertext()).split())
    return words[:_LONGEST_TITLE]


def _base(tree: Element, address: str) -> str:
    """Address that links of a page are relative to."""
    base = next(tree.iter("base"), None)
    written = "" if base is None else base.get("href") or ""
    return (canonical(written, address) if written else None) or address


def _read_lines(page: str, address: str, masks: Masks, criteria: Criteria) -> Content:
    """All visible text of a page that is too complex for a tree, one block per line."""
    seen = apply_masks(
        lines(page[:_LONGEST_PAGE], watch=criteria.watch, ignore=criteria.ignore), masks
    )
    shown = (
        " ".join(word for word in line.split(" ") if not word.startswith(LINK))
        for line in islice(seen, _MOST_LINES)
        if line != GAP
    )
    found = [
        ContentBlock(Paragraph((Span(text.replace(GAP, ELLIPSIS)),))) for text in shown if text
    ]
    return Content(address, found[0].text[:_LONGEST_TITLE] if found else "", tuple(found), "lines")
