"""Detector of empty JavaScript shells: pages whose content a browser makes by running scripts.

A crawl that runs no scripts sees a title and an empty element, and would call such a page fresh for
ever. A shell is told by three things together: next to no text, a script, and one of an element
that frameworks fill and that is empty, a `<noscript>` that asks for JavaScript beside next to
nothing else, and nothing at all to see. A short page that says what it has to say has none of them.

Pure.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped] # ships no types

from recrawl.detect.text.complexity import is_too_complex
from recrawl.detect.text.lines import LINK

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_LETTERS = 300  # beside an empty element: a footer, a cookie notice
_MOST_BESIDE_NOSCRIPT = 60  # beside a plea for JavaScript alone, which many a whole page has
_MOST_WITHIN = 25  # of an element that counts as empty: "Loading..."
_LARGEST = 1_000_000  # letters of a page that is looked at
_TARGET = re.compile(rf"{LINK}\S*")
_PLEA = re.compile(r"java\s?script|\bjs\b", re.IGNORECASE)
_LOADED = "script[src], script[type=module]"
_SHOWN = "img, picture, video, audio, iframe, frame, object, embed, svg, canvas, form, [http-equiv]"
# Elements that frameworks fill, by id and by tag.
_MOUNTS = ", ".join(
    (
        *("#root", "#app", "#app-root", "#react-root", "#react-app", "#app-mount", "#main-app"),
        *("#__next", "#__nuxt", "#___gatsby", "#q-app", "#svelte", "#svelte-app", "#vue-app"),
        *("#ember-app", "#ember-root", "#angular-app", "#application", "#mount", "#spa", "#js-app"),
        *(
            "app-root",
            "my-app",
            "app-main",
            "app-shell",
            "flutter-view",
            "[ng-app]",
            "[data-ng-app]",
        ),
        *("[data-reactroot]", "[data-server-rendered]"),
    )
)


def is_shell(page: str, lines: Sequence[str]) -> bool:
    """Whether a page is an empty JavaScript shell.

    Args:
        page: Its source.
        lines: What a reader sees of it, by `recrawl.detect.text.lines.lines`.

    Examples:
        >>> shell = '<title>Shop</title><div id="root"></div><script src="/a.js"></script>'
        >>> is_shell(shell, ("Shop",)), is_shell("<p>Closed.<script></script>", ("Closed.",))
        (True, False)
    """
    letters = _letters(lines)
    if letters > 2 * _MOST_LETTERS or len(page) > _LARGEST or is_too_complex(page):
        return False
    tree = HTMLTree.parse(page.encode(errors="replace").decode())
    document = tree.document
    letters -= len(str(tree.title or "").strip())
    scripts = document.query_selector_all("script")
    if letters > _MOST_LETTERS or not len(scripts):
        return False
    mounts = document.query_selector_all(_MOUNTS)
    if len(mounts):
        return all(len(_words(each)) <= _MOST_WITHIN for each in mounts)
    if letters <= 0 and document.query_selector(_SHOWN) is None:
        imports = any("import(" in each.text for each in scripts)
        return imports or document.query_selector(_LOADED) is not None
    pleas = (each.text for each in document.query_selector_all("noscript"))
    return letters <= _MOST_BESIDE_NOSCRIPT and any(map(_PLEA.search, pleas))


def may_be_shell(lines: Sequence[str]) -> bool:
    """Whether a page may be an empty shell as far as its lines tell.

    >>> may_be_shell(("Loading...",)), may_be_shell(("An essay. " * 70,))
    (True, False)
    """
    return _letters(lines) <= 2 * _MOST_LETTERS


def _letters(lines: Sequence[str]) -> int:
    """Letters of lines without targets of links; where there are many, not all are counted."""
    letters, middle = 0, len(lines) // 2
    for line in chain(lines[middle:], lines[:middle]):  # menus come first, and have few letters
        letters += len(_TARGET.sub("", line).strip() if LINK in line else line.strip())
        if letters > 2 * _MOST_LETTERS:
            break
    return letters


def _words(element: object) -> str:
    return " ".join(str(element.text).split())  # type: ignore[attr-defined] # resiliparse has no types
