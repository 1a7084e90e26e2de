r"""What a reader sees of a page, a line for each block.

The title comes first, then the text in its order. A line ends wherever a tag stands that is not
within a line; the cells of a row stay together, since a figure says nothing without the name before
it. Where a link leads is a word of its line, behind a sign that no text can have: a link that leads
elsewhere is a change though it reads the same. What an image says in place of itself is text.

What never is content does not count: scripts, styles, comments, forms' hidden fields, spelling of
letters and white space, marks of sessions and campaigns in links, and times told from now ("5
minutes ago"). Nothing else is left out: prices, dates and clocks may be what a page is for.

Pure.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import compress

from recrawl.detect.text.characters import is_latin, normalize_spaces
from recrawl.detect.text.link_targets import link_target
from recrawl.detect.text.markup import (
    ALT,
    ATTRIBUTES,
    HREF,
    MARKUP,
    NAME,
    TITLE,
    TOKEN_PARTS,
    attribute,
    resolved,
)
from recrawl.detect.text.relative_times import without_relative_times
from recrawl.detect.text.selection import select_parts

# Before where a link leads. No text has it: HTML knows no reference to it, and it is taken out of
# what is read.
LINK = "\x10"
# In place of what a mask blanks; no text has it either.
GAP = "\x11"

# Between lines until they are cut. Python takes it for white space: one in a page does no harm.
_CUT = "\x1e"
# Left by a tag within a word: a reference to a letter does not go on behind it.
_JOINT = "\x0e"
_CONTROLS = f"{_JOINT}{LINK}{GAP}{_CUT}"
_IN_LINE = (
    *("abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "code", "data", "del", "dfn"),
    *("em", "font", "i", "ins", "kbd", "label", "mark", "nobr", "output", "picture", "q", "s"),
    *("samp", "small", "source", "span", "strike", "strong", "sub", "sup", "time", "tt", "u"),
    *("var", "wbr"),
    *("a", "img"),  # that lead nowhere and say nothing
    *("math", "mfrac", "mi", "mn", "mo", "mover", "mrow", "mspace", "msqrt", "mstyle", "msub"),
    *("msubsup", "msup", "mtext", "munder", "munderover", "semantics"),
    *("circle", "g", "line", "path", "polygon", "rect", "svg", "use"),
)
# Within a line, but not joined to what is beside them.
_APART = ("input", "mtd", "rp", "rt", "td", "th")
_BLOCKS = (
    *("address", "article", "aside", "blockquote", "body", "br", "center", "dd", "details", "div"),
    *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "head", "header", "hr", "html", "li", "link", "main", "meta", "nav", "ol"),
    *("option", "p", "pre", "section", "select", "summary", "table", "tbody", "thead", "tr", "ul"),
)


class _Left(dict[str | None, str]):
    """What a tag leaves, by its name; a tag that is not here ends a line."""

    def __missing__(self, name: str) -> str:
        return self.get(name.lower(), _CUT)


_LEFT = _Left(
    (slash + name, left)
    for names, left in ((_IN_LINE, _JOINT), (_APART, " "), (_BLOCKS, _CUT))
    for name in names
    for slash in ("", "/")
)
_LEFT[None] = _JOINT  # a comment, or an element of which nothing is seen
# Nobody sees them: the sign 0, soft hyphen, spaces of no width, joiners, marks of direction.
_UNSEEN = (
    "\0\xad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067"
    "\u2068\u2069\ufeff"
)
_SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
_MOST_MARKS = 32
_LONG_LINE = 2_000
# Marks on letters are among what is neither letter, digit nor space, beyond the Latin letters.
_MANY_MARKS = re.compile(r"[^\w\s\0-\u02ff]{64,}")
# So many together are also found, and much faster, where only each 32nd sign is looked at.
_STEP = 32
_MAYBE_MANY_MARKS = re.compile(r"[^\w\s\0-\u02ff]{2}")
_JSON_STARTS = ("{", "[")
_JSON_BREAK = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|([\[{,])|([\]}])', re.DOTALL)


def lines(
    page: str, *, watch: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> tuple[str, ...]:
    r"""Lines of a page in HTML, white space collapsed, none of them empty.

    Args:
        page: The page.
        watch: CSS selectors of the only parts that count; none for the whole page.
        ignore: CSS selectors of parts that do not count.

    Examples:
        >>> page = '''<title>Shop</title><h1>Tea</h1><table><tr><td>Price<td>5&nbsp;&euro;</table>
        ...     <p>T<b>w</b>o <a href="/bags?utm_source=x#top">bags</a><script>1</script>'''
        >>> lines(page)
        ('Shop', 'Tea', 'Price 5 €', 'Two \x10/bags bags')
        >>> lines(page, watch=("h1", "p"), ignore=("b",))
        ('Tea', 'To \x10/bags bags')
    """
    return tuple(line for part in select_parts(page, watch, ignore) for line in _lines(part))


def text_lines(text: str) -> tuple[str, ...]:
    r"""Lines of a text that is no HTML; of JSON, a line for each value, however it is written.

    >>> text_lines("a  b\n\nc")
    ('a b', 'c')
    >>> text_lines('{"a": 1,"b":["x, y"]}')
    ('{', '"a": 1,', '"b":[', '"x, y"', ']', '}')
    """
    if text.lstrip("\ufeff \t\r\n").startswith(_JSON_STARTS):
        text = _JSON_BREAK.sub(_json_break, text)
    return _tidy(_CUT.join(_without(_CONTROLS, text).splitlines()))


def _lines(page: str) -> tuple[str, ...]:
    # Nearly all steps are over the whole page: this is what a visit spends its time with.
    parts = MARKUP.split(_without(_CONTROLS, page))
    names, attributes = parts[NAME::TOKEN_PARTS], parts[ATTRIBUTES::TOKEN_PARTS]
    links, images = parts[HREF::TOKEN_PARTS], parts[ALT::TOKEN_PARTS]
    left = list(map(_LEFT.__getitem__, names))
    every = range(len(left))
    for place in compress(every, attributes):
        name = names[place].lower()
        if name == "a":
            links[place] = attribute(attributes[place], "href")
        elif name == "img":
            left[place] = "  "
            images[place] = attribute(attributes[place], "alt")
    for place in compress(every, images):
        left[place] = f" {images[place]} "
    for place in compress(every, links):
        left[place] = _link(links[place])
    pieces = [""] * (2 * len(left) + 1)
    pieces[::2], pieces[1::2] = parts[::TOKEN_PARTS], left
    title = next(filter(None, parts[TITLE::TOKEN_PARTS]), "")
    return _tidy(resolved(f"{title}{_CUT}{''.join(pieces)}").replace(_JOINT, ""))


def _link(written: str) -> str:
    found = link_target(resolved(written))
    # What was resolved is not to be resolved again.
    return f" {LINK}{found} ".replace("&", f"&{_JOINT}") if found else _JOINT


def _tidy(text: str) -> tuple[str, ...]:
    """Lines of a text in one spelling, without the empty ones."""
    text = _composed(normalize_spaces(text, spaces=_SPACES, unseen=_UNSEEN))
    found = map(str.strip, text.split(_CUT))
    return tuple(filter(None, without_relative_times(list(filter(None, found)))))


def _composed(text: str) -> str:
    """Letters with their marks as one sign each, however they are written."""
    if is_latin(text):  # has no marks apart from their letters
        return text
    # To put marks in order takes the square of how many are on one letter of a line.
    if _MAYBE_MANY_MARKS.search(text[::_STEP]) and max(map(len, text.split(_CUT))) > _LONG_LINE:
        text = _MANY_MARKS.sub(_fewer, text)
    return unicodedata.normalize("NFC", text)


def _fewer(marks: re.Match[str]) -> str:
    return marks[0][:_MOST_MARKS]


def _without(signs: str, text: str) -> str:
    for sign in signs:
        if sign in text:  # looking is faster than replacing, and most pages have none
            text = text.replace(sign, "")
    return text


def _json_break(found: re.Match[str]) -> str:
    text, opened, closed = found.groups()
    if opened:
        return opened + "\n"
    return text if closed is None else "\n" + closed
