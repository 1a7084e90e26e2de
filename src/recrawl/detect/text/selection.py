"""Parts of an HTML page that CSS selectors watch or ignore.

Selectors need a tree. A page with so many tags, or nested so deep, that its tree would take long is
taken whole instead: no page can keep a crawl busy.

Pure.
"""

from __future__ import annotations

from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped] # ships no types

from recrawl.detect.text.complexity import is_too_complex

_MOST_TIMES = 4  # that parts within each other may repeat a page


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
