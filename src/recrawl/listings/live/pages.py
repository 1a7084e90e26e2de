"""Pages of a list, from the answers that came to the objects on them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recrawl.detect.text.complexity import is_too_complex
from recrawl.detect.text.lines import lines
from recrawl.detect.walls.walls import detect_wall
from recrawl.parse.encodings import decoded
from recrawl.parse.items.html import read_html_items
from recrawl.parse.items.item import Items
from recrawl.parse.items.json import looks_like_json, read_json_items

if TYPE_CHECKING:
    from recrawl.parse.items.item import Layout
    from recrawl.parse.messages import Response

_OK = 200
_MOST_NAMELESS = 0.5  # share of items without a key, beyond which the key is taken to be wrong
# Not those that say that a page is missing, or nothing: behind its last page a list may do so.
_WALLS = ("bot", "consent", "error", "login")


@dataclass(slots=True)
class ListingSnapshot:
    """What was read of a list, page by page.

    Attributes:
        objects: Attributes of each object, by its key.
        pages: How many pages were read.
        problem: Why it could not be read whole, in one sentence; empty where it could.
        details: Canonical address of each object's detail page, by its key; empty for one without.
            Nothing where none are wanted.
    """

    objects: dict[str, dict[str, str]] = field(default_factory=dict)
    pages: int = 0
    problem: str = ""
    details: dict[str, str] = field(default_factory=dict)


def read_page(answer: Response, layout: Layout) -> Items:
    """Items of a page, or why they cannot be read.

    Args:
        answer: What came.
        layout: Where items are.

    Examples:
        >>> from recrawl.parse.messages import Response
        >>> from recrawl.parse.items.item import Layout
        >>> page = Response("https://a.org/", 200, body=b'{"jobs": [{"id": 7}, {"id": 8}]}')
        >>> list(read_page(page, Layout("jobs", "id")).objects)
        ['7', '8']
        >>> read_page(page, Layout("jobs", "name")).problem
        "key 'name' not found in 2 of 2 items"
    """
    if not answer.ok:
        return Items(problem=answer.detail or answer.problem)
    if answer.status != _OK:
        return Items(problem=f"expected status 200, got {answer.status}")
    kind = answer.headers.get("content-type", "")
    text = decoded(answer.body, kind)
    if layout.items.strip().startswith("$") or looks_like_json(kind, text):
        items = read_json_items(text, layout, answer.address)
    else:
        items = _read_html(answer, text, layout)
    if items.nameless > _MOST_NAMELESS * items.count:
        missing = f"{items.nameless:,} of {items.count:,} items"
        return Items(problem=f"key {layout.key!r} not found in {missing}")
    return items


def _read_html(answer: Response, text: str, layout: Layout) -> Items:
    if is_too_complex(text, layout.selectors):
        return Items(problem="page is nested too deep, or has too many tags")
    items = read_html_items(text, layout, answer.address)
    if not items.count and not items.problem:
        wall = detect_wall(answer.status, answer.headers, lines(text), text)
        if wall in _WALLS:
            return Items(problem=f"expected the list, got a wall: {wall}")
    return items
