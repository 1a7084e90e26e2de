"""Items of a page of a listing in HTML.

The page must be one of which a tree can be made in good time; whoever calls this has looked.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped] # ships no types

from recrawl.parse.addresses import canonical
from recrawl.parse.items.item import (
    LONGEST_KEY,
    LONGEST_VALUE,
    MOST_ITEMS,
    Items,
    clean,
    collect_items,
    split_selector,
)

if TYPE_CHECKING:
    from recrawl.parse.items.item import Layout

_MOST_TIMES = 4  # that items within each other may repeat a page
_ADDRESSES = ("href", "src")


def read_html_items(page: str, layout: Layout, address: str) -> Items:
    """Items of a page in HTML.

    Args:
        page: The page.
        layout: Where items are on it.
        address: Address of the page, for addresses that are written as seen from it.

    Examples:
        >>> from recrawl.parse.items.item import Layout
        >>> layout = Layout("li", key="a@href", attributes={"title": "a"}, following="a.next")
        >>> page = '<li><a href="7">Baker</a><li><a href="8">Cook</a></ul><a class=next href=?p=2>'
        >>> found = read_html_items(page, layout, "https://example.org/jobs/")
        >>> found.objects["https://example.org/jobs/7"]
        {'title': 'Baker'}
        >>> found.following
        '?p=2'
    """
    try:
        tree = HTMLTree.parse(page.encode(errors="replace").decode())
        found = tree.document.query_selector_all(layout.items)
        return _read(page, tree.document, found, layout, address)
    except (ValueError, SystemError) as error:  # what the library says of some selectors
        said = " ".join(str(error).split()) or "it cannot be read"
        return Items(problem=f"items must be found by a CSS selector ({said})")


def _read(page: str, document: Any, found: Any, layout: Layout, address: str) -> Items:  # noqa: ANN401 - nodes without types
    if len(found) > MOST_ITEMS:
        return Items(problem=f"must list at most {MOST_ITEMS:,} items (got {len(found):,})")
    rows, details = [], []
    room = _MOST_TIMES * len(page) + len(found)
    for item in found:
        room -= len(item.html)
        if room < 0:
            return Items(problem="items must not lie within each other")
        key = _value(item, layout.key, address, LONGEST_KEY + 1)
        values = {name: _value(item, part, address) for name, part in layout.attributes.items()}
        rows.append((key if len(key) <= LONGEST_KEY else "", values))
        if layout.detail:
            link = _value(item, layout.detail, address)
            details.append((canonical(link, address) or "") if link else "")
    following = _following(document, layout.following) if layout.following else ""
    return collect_items(rows, following, details)


def _value(item: Any, part: str, address: str, longest: int = LONGEST_VALUE) -> str:  # noqa: ANN401 - a node
    """Text of a part of an item, or one of its attributes; empty where there is none."""
    where, attribute = split_selector(part)
    node = item.query_selector(where) if where else item
    if node is None:
        return ""
    if not attribute:
        return clean(node.text, longest)
    text = clean(node.getattr(attribute) or "", longest)
    if attribute.lower() in _ADDRESSES and text:
        return canonical(text, address) or text
    return text


def _following(document: Any, part: str) -> str:  # noqa: ANN401 - a node
    """Where the next page is said to be, as it is written."""
    where, attribute = split_selector(part)
    node = document.query_selector(where) if where else None
    if node is None:
        return ""
    return clean(node.getattr(attribute or "href") or "")
