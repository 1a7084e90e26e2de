"""Main content of a page: its tree without navigation, banners, side bars and hidden parts.

What goes is told by structure: the element (`nav`), its role, its name (`class` and `id`), and how
much of its text is links. An element that holds the page's main heading or its `main` element never
goes, whatever it is called, and names alone take nothing away that is half of the page. No sentence
is weighed by itself: an edited sentence stays where it was.

Sizes are measured once, from the bottom up, as running totals in the order of the page: time is
linear in the number of elements.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # ships no types

# Never content, wherever they stand.
_GONE = frozenset(
    (
        *("script", "style", "noscript", "template", "iframe", "frame", "object", "embed", "svg"),
        *("canvas", "audio", "video", "map", "head", "input", "select", "textarea", "datalist"),
        *("button", "progress", "meter", "nav", "noembed", "noframes", "link", "meta", "base"),
    )
)
_ROLES = frozenset(
    (
        *("navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog"),
        *("alertdialog", "directory", "doc-toc"),
    )
)
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
# Names are told of elements that hold others; a word may well be set in a span called "menu".
_NAMED = frozenset(
    (
        *("div", "section", "aside", "header", "footer", "ul", "ol", "dl", "table", "td", "tr"),
        *("p", "form", "li", "center", "fieldset", "details"),
    )
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_OUTSIDE = frozenset(
    (
        *("nav", "navs", "navbar", "navigation", "navheader", "navfooter", "navlinks", "topnav"),
        *("sidenav", "topbar", "bottombar", "menu", "menus", "menubar", "submenu", "dropdown"),
        *("breadcrumb", "breadcrumbs", "crumbs", "sidebar", "sidebars", "sphinxsidebar", "footer"),
        *("masthead", "pagination", "pager", "paginator", "cookie", "cookies", "consent", "gdpr"),
        *("onetrust", "skiplink", "skip", "sharing", "share", "social", "newsletter", "subscribe"),
        *("advert", "advertisement", "ads", "adsense", "sponsored", "promo", "popup", "modal"),
        *("lightbox", "overlay", "toolbar", "login", "signin", "signup"),
    )
)
_HEADERS = frozenset(
    (
        *("header", "siteheader", "pageheader", "site header", "page header", "global header"),
        *("main header", "top header"),
    )
)
# Outside only where most of it is links.
_LINKS = frozenset(
    (
        *("related", "recommended", "trending", "lang", "langs", "language", "languages"),
        *("toplang", "bottomlang", "path", "up", "top", "prev", "previous", "next", "banner"),
        *("header", "links", "tags", "widget", "aside", "quicklinks", "seealso"),
    )
)
# Outside only where most of it leads to places within the page.
_CONTENTS = frozenset({"toc", "contents", "quickview", "localtoc", "outline", "index", "fancy"})
_MOSTLY = 0.6
_NEARLY_ALL = 0.9
_HALF = 0.5
_FEW_LINKS = 3
_PERMALINKS = frozenset({"¶", "#", "§", "🔗", "link", "permalink", "[link]", "[edit]", "edit", ""})
_LONGEST_NAME = 1_000
_INSIDE = frozenset({"main", "article", "section"})


class _Name(Enum):
    """What the name of an element says."""

    NOTHING = 0
    OUTSIDE = 1
    HEADER = 2
    LINKS = 3
    CONTENTS = 4


@dataclass(slots=True)
class _Totals:
    """Running totals of what stands before a place of a page."""

    letters: int = 0
    linked: int = 0  # letters within links
    inward: int = 0  # letters within links to the page itself
    links: int = 0
    titles: int = 0  # h1, main


def main_content(tree: Any, address: str) -> Any:  # noqa: ANN401 - elements
    """The element that holds the main content; what is not content is emptied in it.

    Args:
        tree: Root of the page's tree, which is changed.
        address: Address of the page.

    Examples:
        >>> page = "<nav>Home</nav><div class=sidebar>More</div><h1>Tea</h1><p>5 euros"
        >>> "".join(main_content(etree.HTML(page), "https://example.org/").itertext())
        'Tea5 euros'
    """
    body = tree.find("body")
    if body is None:
        body = tree
    root = _chosen(body)
    _prune(root, address)
    return root


def drop_unseen(tree: Any) -> None:  # noqa: ANN401 - an element
    """Empty what nobody sees: scripts, styles, fields of forms, hidden elements."""
    for element in [*tree.iter(etree.Element)]:
        if element.tag in _GONE - {"nav", "button"} or _is_hidden(element):
            _empty(element)


def _chosen(body: Any) -> Any:  # noqa: ANN401 - elements
    """The only `main` of a page, or its only article with the main heading; else all of it."""
    mains = [each for each in body.iter("main") if not _is_hidden(each)]
    mains = mains or body.xpath(".//*[@role='main']")
    articles = [] if mains else [each for each in body.iter("article") if not _is_hidden(each)]
    found = mains or [each for each in articles if each.find(".//h1") is not None]
    if len(found) != 1 or len(articles) > 1:
        return body
    chosen = found[0]
    if not "".join(chosen.itertext()).strip():
        return body
    if chosen.find(".//h1") is None:
        title = next(body.iter("h1"), None)
        if title is not None:
            title.tail = None
            chosen.insert(0, title)
            title.tail, chosen.text = chosen.text, None
    return chosen


def _prune(root: Any, address: str) -> None:  # noqa: ANN401 - an element
    own = address.partition("#")[0].rpartition("/")[2]
    elements, before, after = _measured(root, own)
    whole = after[0].letters - before[0].letters
    until = -1  # the end of an element that went, by its place in the walk
    inside: list[int] = []  # ends of open main elements, articles and sections
    for index, (element, end) in enumerate(elements):
        if index < until or index == 0:
            continue
        while inside and index >= inside[-1]:
            inside.pop()
        size = _difference(before[index], after[index])
        if _is_outside(element, size, whole, inside=bool(inside) or root.tag in _INSIDE):
            _empty(element)
            until = end
        elif element.tag in _INSIDE:
            inside.append(end)


def _measured(root: Any, own: str) -> tuple[list[tuple[Any, int]], list[_Totals], list[_Totals]]:  # noqa: ANN401 - elements
    """Elements with the place of their last descendant, and totals at their starts and ends."""
    elements: list[list[Any]] = []
    before: list[_Totals] = []
    after: list[_Totals] = []
    open_places: list[int] = []
    letters = linked = inward = links = titles = 0
    in_link = in_inward = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "start":
            open_places.append(len(elements))
            elements.append([element, 0])
            before.append(_Totals(letters, linked, inward, links, titles))
            after.append(before[-1])
            text = element.text
            if tag == "a":
                href = element.get("href")
                if href is not None:
                    links += 1
                in_link += 1
                in_inward += _is_inward(href or "", own)
            elif tag in ("h1", "main"):
                titles += 1
        else:
            place = open_places.pop()
            elements[place][1] = len(elements)
            after[place] = _Totals(letters, linked, inward, links, titles)
            if tag == "a":
                in_link -= 1
                in_inward -= _is_inward(element.get("href") or "", own)
            text = element.tail
        if text and (event == "start" or element is not root):
            count = len(text) if not text.isspace() else 0
            letters += count
            if in_link:
                linked += count
                if in_inward:
                    inward += count
    return [(element, end) for element, end in elements], before, after


def _difference(before: _Totals, after: _Totals) -> _Totals:
    return _Totals(
        after.letters - before.letters,
        after.linked - before.linked,
        after.inward - before.inward,
        after.links - before.links,
        after.titles - before.titles,
    )


def _is_inward(href: str, own: str) -> bool:
    """Whether a link leads to a place within its page."""
    path, mark, _ = href.partition("#")
    return bool(mark) and (not path or path.rpartition("/")[2] == own != "")


def _is_outside(element: Any, size: _Totals, whole: int, *, inside: bool) -> bool:  # noqa: ANN401, PLR0911 - an element
    """Whether an element is not content."""
    tag = element.tag
    if tag in _GONE:
        return not (tag == "button" and _in_heading(element))
    if _is_hidden(element):
        return True
    if tag == "a":
        return _is_permalink(element)
    if size.titles:
        return False
    if (element.get("role") or "") in _ROLES:
        return True
    if tag in ("header", "footer"):
        return not inside
    if tag == "aside" and not inside:
        return True
    if tag not in _NAMED:
        return False
    if _is_contents(tag, size):
        return True
    return _is_named_outside(element, size, whole, inside=inside)


def _is_named_outside(element: Any, size: _Totals, whole: int, *, inside: bool) -> bool:  # noqa: ANN401 - an element
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    if len(names) == 1 or len(names) > _LONGEST_NAME:
        return False
    mostly_links = size.linked >= _MOSTLY * size.letters
    match _name(names):
        case _Name.OUTSIDE:
            return mostly_links or size.letters < _HALF * whole
        case _Name.HEADER:
            return not inside and (mostly_links or size.letters < _HALF * whole)
        case _Name.LINKS:
            return mostly_links
        case _Name.CONTENTS:
            return size.links > 0 and size.inward >= _HALF * size.letters
    return False


def _is_contents(tag: str, size: _Totals) -> bool:
    """Whether a list is a table of contents of the page itself, whatever it is called."""
    return (
        tag in ("ul", "ol", "dl")
        and size.links >= _FEW_LINKS
        and size.inward >= _NEARLY_ALL * size.letters
    )


@lru_cache(4096)
def _name(names: str) -> _Name:
    """What the names of an element say, the strongest first."""
    tokens = [" ".join(_WORD.findall(token)).lower() for token in names.split()]
    words = {word for token in tokens for word in token.split()}
    if words & _OUTSIDE:
        return _Name.OUTSIDE
    if not _HEADERS.isdisjoint(tokens):
        return _Name.HEADER
    if words & _CONTENTS:
        return _Name.CONTENTS
    if words & _LINKS:
        return _Name.LINKS
    return _Name.NOTHING


def _is_hidden(element: Any) -> bool:  # noqa: ANN401 - an element
    attributes = element.attrib
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    if style and _HIDDEN_STYLE.search(style[:_LONGEST_NAME]):
        return True
    return element.tag == "dialog" and "open" not in attributes


def _in_heading(element: Any) -> bool:  # noqa: ANN401 - an element
    parent = element.getparent()
    return parent is not None and str(parent.tag) in ("h1", "h2", "h3", "h4", "h5", "h6")


def _is_permalink(element: Any) -> bool:  # noqa: ANN401 - an element
    """Whether a link is a sign beside a heading that leads to the heading itself."""
    if "#" not in (element.get("href") or "") or len(element):
        return False
    return (element.text or "").strip().lower() in _PERMALINKS


def _empty(element: Any) -> None:  # noqa: ANN401 - an element
    """Take all that is in an element out of it; what follows it stays."""
    element.clear(keep_tail=True)
