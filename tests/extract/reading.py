"""Content of bodies that are text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.detect.masks.masks import NO_MASKS
from recrawl.detect.reading import Criteria
from recrawl.extract import read_content

if TYPE_CHECKING:
    from recrawl.detect.masks.masks import Masks
    from recrawl.extract import Content

ADDRESS = "https://example.org/shop/tea.html"


def content_of(
    body: bytes | str,
    kind: str = "text/html",
    address: str = ADDRESS,
    *,
    masks: Masks = NO_MASKS,
    criteria: Criteria | None = None,
) -> Content:
    """Content of a body."""
    body = body.encode() if isinstance(body, str) else body
    content = read_content(body, kind, address, masks=masks, criteria=criteria or Criteria())
    assert content is not None
    return content
