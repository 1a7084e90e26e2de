"""A body in, its content out.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree  # type: ignore[import-untyped]  # ships no types

from recrawl.detect.change import read_body
from recrawl.detect.masks.masks import NO_MASKS
from recrawl.detect.verdict import Criteria
from recrawl.extract.content import Content, ContentBlock
from recrawl.extract.main_content import main_content
from recrawl.extract.nodes import Verbatim
from recrawl.extract.tree import read_tree
from recrawl.extract.tree_blocks import tree_blocks

if TYPE_CHECKING:
    from recrawl.detect.masks.masks import Masks

_ALL = Criteria()


def read_content(
    body: bytes,
    content_type: str,
    address: str,
    *,
    masks: Masks = NO_MASKS,
    criteria: Criteria = _ALL,
) -> Content | None:
    """Content of a body; None of what is no text.

    Args:
        body: What was fetched.
        content_type: The `Content-Type` header; empty where there was none.
        address: Canonical address of the page.
        masks: Places of the page that differ by themselves; they are left out.
        criteria: Selectors of the parts that count; the rest is left out.

    Examples:
        >>> page = b"<title>Shop</title><nav>Home</nav><h1>Tea</h1><p>Only <b>5</b> euros"
        >>> content = read_content(page, "text/html", "https://example.org/tea")
        >>> content.title, content.markdown
        ('Shop', '# Tea\\n\\nOnly **5** euros')
    """
    read = read_body(body, content_type)
    if read is None:
        return None
    text, html = read
    if not html:
        return Content(address, "", (ContentBlock(Verbatim(text)),), "text")
    tree = read_tree(text)
    if tree is None:
        return Content(address, "", ())
    title = " ".join("".join(tree.xpath("string(.//title)")).split())
    blocks = tree_blocks(main_content(tree, address), address)
    return Content(address, title, tuple(map(ContentBlock, blocks)))
