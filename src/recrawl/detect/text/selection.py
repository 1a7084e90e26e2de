"""Parts of an HTML page that CSS selectors watch or ignore.

Selectors need a tree. A page with so many tags, or nested so deep, that its tree would take long is
taken whole instead: no page can keep a crawl busy.

Pure.
"""

from __future__ import annotations

import re

from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped] # ships no types

from recrawl.detect.text.markup import TAG_BEGUN, attribute_count

# Within these a tree takes at most about half a second, whatever the tags are.
_MOST_TAGS = 100_000
_MOST_COUNTED = 5_000  # where a selector counts siblings, for each of them anew
_COUNTING = ":nth-"
_DEEPEST = 250
# A paragraph opens all formatting again that is open before it, each time as an element more.
_MOST_FORMATTED = 200_000
# Each attribute of a tag is compared with all before it.
_MOST_ATTRIBUTES = 300
_MOST_TIMES = 4  # that parts within each other may repeat a page
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
# Elements that are never closed, or that the next of their kind closes.
_FLAT = frozenset(
    (
        *("area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link"),
        *("meta", "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr"),
        *("track", "wbr"),
    )
)
_FORMATTING = frozenset(
    (
        *("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong"),
        *("tt", "u"),
    )
)


def select_parts(page: str, watch: tuple[str, ...], ignore: tuple[str, ...]) -> list[str]:
    """HTML of the parts of a page that count; the whole page where there are no selectors.

    >>> select_parts("<p>a<b>b</b></p><p>c", ("p",), ("b",))
    ['<p>a</p>', '<p>c</p>']
    """
    if not (watch or ignore) or is_too_complex(page, (*watch, *ignore)):
        return [page]
    tree = HTMLTree.parse(page.encode(errors="replace").decode())
    for selector in ignore:
        # From the last to the first: what is within another goes before it, not with it.
        for node in reversed(tree.document.query_selector_all(selector)):
            node.decompose()
    if not watch:
        return [tree.document.html]
    parts, room = [], _MOST_TIMES * len(page)
    for selector in watch:
        for node in tree.document.query_selector_all(selector):
            parts.append(node.html)
            room -= len(parts[-1])
            if room < 0:
                return [page]
    return parts


def is_too_complex(page: str, selectors: tuple[str, ...] = ()) -> bool:
    """Whether the tree of a page might take long, by bounds on its size found in one pass.

    Args:
        page: The page.
        selectors: CSS selectors that would be applied.
    """
    tags = page.count("<")
    counting = any(_COUNTING in selector.lower() for selector in selectors)
    if tags > (_MOST_COUNTED if counting else _MOST_TAGS):
        return True
    for attributes in TAG_BEGUN.findall(page):
        if len(attributes) > _MOST_ATTRIBUTES and attribute_count(attributes) > _MOST_ATTRIBUTES:
            return True
    opened: dict[str, int] = {}
    depth = deepest = formatting = most_formatting = 0
    for end, written in _TAG.findall(page):
        name = written.lower()
        if name in _FLAT:
            continue
        step = -1 if end else 1
        before = opened.get(name, 0)
        if before + step < 0:
            continue  # the end of nothing
        opened[name] = before + step
        depth += step
        deepest = max(deepest, depth)
        if name in _FORMATTING:
            formatting += step
            most_formatting = max(most_formatting, formatting)
    return deepest > _DEEPEST or tags * most_formatting > _MOST_FORMATTED
