"""Whether the tree of a page might take long to build, told in time linear in its length.

Trees are where hostile pages win: deep nesting, formatting that is never closed and opened again in
each paragraph, thousands of attributes. Two looks are taken at a page:

1. All that looks like a tag is counted, in scripts and comments too, and none is taken for closed
   that does not say so. A page that is plain by this count is plain.
2. A page that is not is read as the HTML standard says, as far as that is sure: scripts, styles and
   comments are no tags, `<path/>` within a drawing is closed, and a link closes the link before it.
   Where it is not sure what a parser would make of a page, the page is too complex.

Pure.
"""

from __future__ import annotations

import re

from recrawl.detect.text.markup import ATTRIBUTE_LIST, COMMENT, TAG_BEGUN, attribute_count

# Within these a tree takes at most about half a second, whatever the tags are.
_MOST_TAGS = 100_000
_MOST_COUNTED = 5_000  # where a selector counts siblings, for each of them anew
_COUNTING = ":nth-"
_DEEPEST = 250
# A paragraph opens all formatting again that is open before it, each time as an element more.
_MOST_FORMATTED = 200_000
# Each attribute of a tag is compared with all before it.
_MOST_ATTRIBUTES = 300
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_TOKEN = re.compile(
    rf"""<(?:
        (/?) ([A-Za-z][^ \t\n\f\r/>]*+) ( {ATTRIBUTE_LIST} ) ( [ \t\n\f\r/]*+ ) >?
      | {COMMENT}
      | [!?/] [^>]*+ >?
    )""",
    re.VERBOSE,
)
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
# Of these only the end tag is looked for, but within a drawing or a formula.
_SCRIPTS = frozenset({"script", "style"})
_TEXTS = frozenset(
    {"textarea", "title", "iframe", "noembed", "noframes", "xmp", "plaintext", "desc"}
)
# Elements of drawings that no parser takes for HTML within one.
_DRAWN = frozenset(
    (
        *("a", "animate", "animatetransform", "circle", "clippath", "defs", "ellipse", "g"),
        *("image", "line", "lineargradient", "marker", "mask", "path", "pattern", "polygon"),
        *("polyline", "radialgradient", "rect", "stop", "svg", "symbol", "text", "textpath"),
        *("tspan", "use", "filter", "fegaussianblur", "feoffset", "feblend", "feflood"),
        *("fecolormatrix", "fecomposite", "femerge", "femergenode"),
    )
)


def is_too_complex(page: str, selectors: tuple[str, ...] = ()) -> bool:
    """Whether the tree of a page might take long.

    Args:
        page: The page.
        selectors: CSS selectors that would be applied.

    Examples:
        >>> is_too_complex("<div>" * 300), is_too_complex(f"<script>{'<div>' * 300}</script>")
        (True, False)
    """
    counting = any(_COUNTING in selector.lower() for selector in selectors)
    most = _MOST_COUNTED if counting else _MOST_TAGS
    return not _is_plain(page, most) and not _Reader(page, most).is_plain()


def _is_plain(page: str, most_tags: int) -> bool:
    """Whether a page is plain whatever looks like a tag is one."""
    tags = page.count("<")
    if tags > most_tags or any(map(_has_many, TAG_BEGUN.findall(page))):
        return False
    nesting = _Nesting()
    for end, written in _TAG.findall(page):
        name = written.lower()
        if name not in _FLAT:
            nesting.take(name, -1 if end else 1, most=tags)
    return nesting.is_plain(tags)


def _has_many(attributes: str) -> bool:
    return len(attributes) > _MOST_ATTRIBUTES and attribute_count(attributes) > _MOST_ATTRIBUTES


class _Nesting:
    """How deep elements are nested, and how many that format are open at once."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._depth = self._deepest = self._formatting = self._most_formatting = 0

    def take(self, name: str, step: int, *, most: int) -> None:
        """Open an element (+1) or close one (-1), of which at most so many are open at once."""
        before = self._open.get(name, 0)
        if not 0 <= before + step <= most:
            return  # the end of nothing, or a start that closes the one before it
        self._open[name] = before + step
        self._depth += step
        self._deepest = max(self._deepest, self._depth)
        if name in _FORMATTING:
            self._formatting += step
            self._most_formatting = max(self._most_formatting, self._formatting)

    def is_plain(self, tags: int) -> bool:
        """Whether all of it is within bounds, among so many tags."""
        return self._deepest <= _DEEPEST and tags * self._most_formatting <= _MOST_FORMATTED


class _Reader:
    """Reads a page as parsers do, as far as that is sure."""

    def __init__(self, page: str, most_tags: int) -> None:
        self._page, self._most_tags = page, most_tags
        self._nesting = _Nesting()
        self._tags = self._drawings = 0
        self._selects = False

    def is_plain(self) -> bool:
        """Whether the page is plain; not so where parsers may differ."""
        place: int | None = 0
        while place is not None and (token := _TOKEN.search(self._page, place)) is not None:
            place = self._after(token)
        return place is not None and self._nesting.is_plain(self._tags)

    def _after(self, token: re.Match[str]) -> int | None:
        """Where to read on after a token; None where the page is not plain."""
        end, written, attributes, last = token.groups()
        if written is None:
            # Within a drawing all that follows may be text.
            return None if self._drawings and token[0].startswith("<![") else token.end()
        self._tags += 1
        if self._tags > self._most_tags or _has_many(attributes):
            return None
        name = written.lower()
        if name in _SCRIPTS or name in _TEXTS:
            return token.end() if end else self._after_text(token.end(), name)
        closed = last.endswith("/") and not end
        return token.end() if self._take(name, -1 if end else 1, closed=closed) else None

    def _after_text(self, place: int, name: str) -> int | None:
        """Where the text of an element ends; None where parsers might find tags in it."""
        if name == "style" and self._selects:
            return None  # within a list of choices there are no styles
        end = re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE).search(self._page, place)
        if name in _SCRIPTS and not self._drawings:
            return len(self._page) if end is None else end.start()
        if end is None or self._page.find("<", place, end.start()) >= 0:
            return None
        return end.start()

    def _take(self, name: str, step: int, *, closed: bool) -> bool:
        """Count a tag; returns whether it is sure what parsers make of it."""
        if not self._drawings and name not in ("svg", "math"):
            self._selects = self._selects or name == "select"
            if name not in _FLAT:
                self._nesting.take(name, step, most=1 if name == "a" else self._most_tags)
            return True
        if name not in _DRAWN:
            return False
        if not closed:
            self._nesting.take(f"drawn {name}", step, most=self._most_tags)
            if name == "svg":
                self._drawings = max(self._drawings + step, 0)
        return True
