"""Main content of a page: its tree without navigation, banners, side bars and hidden parts.

What goes is told by structure: the element (`nav`), its role, its name (`class` and `id`), and how
much of its text is links. An element that holds the main heading or the `main` element of the page
never goes, whatever it is called. No sentence is weighed by itself, and no part is compared with
the rest of the page: an edited sentence stays where it was, and so does all around it.

Sizes are measured once, as running totals in the order of the page: the size of an element is the
difference between its end and its start. Time is linear in the number of elements.

Pure.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from operator import sub
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree  # type: ignore[import-untyped]  # ships no types

if TYPE_CHECKING:
    from recrawl.extract.tree import Element

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# Nobody sees what is in them.
_UNSEEN = frozenset(
    (
        *("script", "style", "noscript", "template", "iframe", "frame", "object", "embed", "svg"),
        *("canvas", "audio", "video", "map", "head", "noembed", "noframes", "link", "meta", "base"),
    )
)
# Seen, and never content.
_CONTROLS = frozenset(
    ("input", "select", "textarea", "datalist", "button", "progress", "meter", "nav")
)
_ROLES = frozenset(
    (
        *("navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog"),
        *("alertdialog", "directory", "doc-toc"),
    )
)
_HIDDEN_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE
)
# Names count for elements that hold others: a word may well be set in a span called "menu".
_NAMED = frozenset(
    (
        *("div", "section", "aside", "header", "footer", "ul", "ol", "dl", "td", "p", "form"),
        *("li", "center", "fieldset", "details"),
    )
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_OUTSIDE = frozenset(
    (
        *("footer", "masthead", "cookie", "cookies", "consent", "gdpr", "onetrust", "skiplink"),
        *("newsletter", "advert", "advertisement", "adsense", "sponsored", "popup", "lightbox"),
        *("breadcrumb", "breadcrumbs", "pagination", "paginator", "sphinxsidebar", "linenos"),
        *("navbar", "navheader", "navfooter", "navlinks", "docnav", "topnav", "sidenav"),
    )
)
# Outside where some of it is links: a word of prose may have the same name.
_LINKED = frozenset(
    (
        *(
            "nav",
            "navigation",
            "menu",
            "menus",
            "menubar",
            "submenu",
            "dropdown",
            "topbar",
            "bottombar",
        ),
        *("crumbs", "sidebar", "sidebars", "pager", "skip", "share", "sharing", "social"),
        *("subscribe", "ads", "promo", "modal", "overlay", "toolbar", "login", "signin", "signup"),
    )
)
_HEADERS = frozenset(
    (
        *("header", "siteheader", "pageheader", "site header", "page header", "global header"),
        *("main header", "top header"),
    )
)
# Outside where most of it is links.
_LISTS = frozenset(
    (
        *("related", "recommended", "trending", "path", "up", "top", "prev", "previous", "next"),
        *("banner", "links", "tags", "widget", "quicklinks"),
    )
)
# Outside where most of it is links, some of them to places within the page.
_CONTENTS = frozenset({"toc", "contents", "quickview", "localtoc", "outline"})
# Outside where it has links to the page in other languages.
_LANGUAGES = frozenset({"lang", "langs", "language", "languages", "toplang", "bottomlang"})
_SOME, _MOSTLY, _NEARLY_ALL = 0.2, 0.6, 0.9
_FEW_LINKS = 3
_PERMALINKS = frozenset({"¶", "#", "§", "🔗", "link", "permalink", "[link]", "[edit]", "edit", ""})
_LONGEST_NAME = 1_000
_INSIDE = frozenset({"main", "article", "section"})
# Elements that are judged even if they have no attributes.
_JUDGED = (
    _UNSEEN | _CONTROLS | _INSIDE | {"a", "header", "footer", "aside", "dialog", "ul", "ol", "dl"}
)


class _Name(Enum):
    """What the name of an element says."""

    NOTHING = 0
    OUTSIDE = 1
    LINKED = 2
    HEADER = 3
    CONTENTS = 4
    LANGUAGES = 5
    LISTS = 6


class _Size(NamedTuple):
    """What stands before a place of a page, or within an element."""

    letters: int
    linked: int  # letters within links
    links: int
    inward: int  # links to places within the page
    alternates: int  # links to the page in other languages
    titles: int  # main headings, and `main` itself


class _Part(NamedTuple):
    """An element, how many elements begin before its end, and its size."""

    element: Element
    end: int
    size: _Size


def main_content(tree: Element, address: str) -> Element:
    """The element that holds the main content; what is not content is emptied in it.

    Args:
        tree: Root of the page's tree, which is changed.
        address: Address of the page.

    Examples:
        >>> page = "<nav>Home</nav><div class=toc><a href=/>Up</a></div><h1>Tea</h1><p>5 euros"
        >>> "".join(main_content(etree.HTML(page), "https://example.org/").itertext())
        'UpTea5 euros'
    """
    body = tree.find("body")
    root = _chosen(tree if body is None else body)
    # Once the last element of an address without a name: nothing leads there by name.
    own = address.partition("#")[0].rpartition("/")[2]
    until = 0  # how many elements begin before the end of the last one that went
    inside: list[int] = [] if root.tag not in _INSIDE else [1 << 62]
    for index, part in enumerate(_measured(root, own)):
        if index < until or index == 0:
            continue
        while inside and index >= inside[-1]:
            inside.pop()
        if _is_outside(part.element, part.size, inside=bool(inside)):
            empty(part.element)
            until = part.end
        elif part.element.tag in _INSIDE:
            inside.append(part.end)
    return root


def drop_unseen(tree: Element) -> None:
    """Empty what nobody sees: scripts, styles, frames.

    >>> tree = etree.HTML("a<script>b</script>c")
    >>> drop_unseen(tree)
    >>> "".join(tree.itertext())
    'ac'
    """
    for element in list(tree.iter(*_UNSEEN)):
        empty(element)


def empty(element: Element) -> None:
    """Take out of an element all that is in it; what follows it stays."""
    element.clear(keep_tail=True)


def _chosen(body: Element) -> Element:
    """The only `main` of a page, or its only article with the main heading; else all of it."""
    mains = list(body.iter("main")) or body.xpath(".//*[@role='main']")
    articles = [] if mains else list(body.iter("article"))
    if len(mains or articles) != 1:
        return body
    (chosen,) = mains or articles
    title = next(body.iter("h1"), None)
    if next(chosen.iter("h1"), None) is None:
        if articles or next(chosen.iter("p", "li", "td", "dd", "pre"), None) is None:
            return body
        if title is not None:  # it stands before the rest, and belongs to it
            title.tail, chosen.text = chosen.text, None
            chosen.insert(0, title)
    return chosen


def _measured(root: Element, own: str) -> list[_Part]:
    """Elements that may be judged, in the order of the page, each with its size."""
    parts: list[_Part] = []
    places: list[int] = []  # of open elements; -1 for those that are not judged
    total = [0] * len(_Size._fields)
    in_link = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "start":
            judged = tag in _JUDGED or element is root or bool(element.attrib)
            places.append(len(parts) if judged else -1)
            if judged:
                parts.append(_Part(element, 0, _Size(*total)))
            if tag in ("a", "h1", "main"):
                in_link += tag == "a"
                _count(element, tag, own, total)
            text = element.text
        else:
            in_link -= tag == "a"
            place = places.pop()
            if place >= 0:
                size = _Size(*map(sub, total, parts[place].size))
                parts[place] = _Part(element, len(parts), size)
            text = element.tail
        if text and not text.isspace():
            total[0] += len(text)
            if in_link:
                total[1] += len(text)
    return parts


def _count(element: Element, tag: str, own: str, total: list[int]) -> None:
    """Count a link, or a main heading or element."""
    if tag != "a":
        total[5] += 1
        return
    href = element.get("href")
    if href is not None:
        total[2] += 1
        total[3] += "#" in href and _is_inward(href, own)
        total[4] += element.get("hreflang") is not None


def _is_inward(href: str, own: str) -> bool:
    """Whether a link leads to a place within its page."""
    path = href.partition("#")[0]
    return not path or path.rpartition("/")[2] == own != ""


def _is_outside(  # noqa: PLR0911 - one per sign
    element: Element, size: _Size, *, inside: bool
) -> bool:
    """Whether an element is not content."""
    tag = element.tag
    if tag in _UNSEEN or (tag in _CONTROLS and not _in_heading(element)):
        return True
    attributes = element.attrib
    if (attributes or tag == "dialog") and _is_hidden(tag, attributes):
        return True
    if tag == "a":
        return _is_permalink(element)
    if size.titles:
        return False
    if tag in ("header", "footer", "aside") and not inside:
        return True
    if attributes.get("role") in _ROLES:
        return True
    return tag in _NAMED and (_is_contents(tag, size) or _is_named(attributes, size, inside=inside))


def _is_named(attributes: Element, size: _Size, *, inside: bool) -> bool:
    """Whether an element is called something that is not content, and looks like it."""
    names = f"{attributes.get('class', '')} {attributes.get('id', '')}"
    if len(names) > _LONGEST_NAME:
        return False
    linked = size.linked / max(size.letters, 1)
    match _name(names):
        case _Name.LINKED:
            return linked >= _SOME or not size.letters
        case _Name.CONTENTS:
            return size.inward > 0 and linked >= _MOSTLY
        case _Name.LISTS:
            return linked >= _MOSTLY or not size.letters
        case _Name.LANGUAGES:
            return size.alternates > 0
        case name:
            return name is _Name.OUTSIDE or (name is _Name.HEADER and not inside)


def _is_contents(tag: str, size: _Size) -> bool:
    """Whether a list is a table of contents of the page itself, whatever it is called."""
    return (
        tag in ("ul", "ol", "dl")
        and size.inward >= _FEW_LINKS
        and size.inward == size.links
        and size.linked >= _NEARLY_ALL * size.letters
    )


@lru_cache(4096)  # a page has few names, and has them again and again
def _name(names: str) -> _Name:
    """What the names of an element say, the strongest first."""
    tokens = [" ".join(_WORD.findall(token)).lower() for token in names.split()]
    words = {word for token in tokens for word in token.split()}
    for known, found in (
        (_OUTSIDE, _Name.OUTSIDE),
        (_LINKED, _Name.LINKED),
        (_CONTENTS, _Name.CONTENTS),
        (_LANGUAGES, _Name.LANGUAGES),
        (_LISTS, _Name.LISTS),
    ):
        if not words.isdisjoint(known):
            return found
    return _Name.NOTHING if _HEADERS.isdisjoint(tokens) else _Name.HEADER


def _is_hidden(tag: str, attributes: Element) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    if style and _HIDDEN_STYLE.search(style[:_LONGEST_NAME]):
        return True
    return tag == "dialog" and "open" not in attributes


def _in_heading(element: Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag in HEADINGS


def _is_permalink(element: Element) -> bool:
    """Whether a link is a sign beside a heading that leads to the heading itself."""
    if "#" not in (element.get("href") or "") or len(element):
        return False
    return (element.text or "").strip().lower() in _PERMALINKS
