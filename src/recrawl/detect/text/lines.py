r"""Visible text of an HTML page, one line per block.

The title comes first, then the text in its order. Every tag ends a line unless it is an inline one;
the cells of a row stay together, since a figure says nothing without the name before it. The target
of a link is a word of its line, after a character that no text can have: a link that leads
elsewhere is a change though it reads the same. The alternative text of an image is text.

Left out is what never is content: scripts, styles, comments, hidden fields of forms, variants of
Unicode and white space, session and campaign parameters of links, and relative times ("5 minutes
ago"). Nothing else is: prices, dates and clocks may be what a page is for.

Pure.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from recrawl.detect.text.characters import is_latin, normalize_spaces
from recrawl.detect.text.link_targets import link_target
from recrawl.detect.text.markup import (
    TOKEN,
    TOKEN_PARTS,
    UNSEEN_TOKEN,
    attribute,
    is_closed,
    resolved,
)
from recrawl.detect.text.relative_times import may_have_relative_times, without_relative_times
from recrawl.detect.text.selection import select_parts

# Number of the rules by which a page becomes lines. Lines that were kept under another number are
# read anew, so it must be raised with every change of what is a line.
RULES_OF_TEXT = 1

# Precedes the target of a link. No text has it: HTML has no reference to it, and it is removed from
# pages.
LINK = "\x10"
# Stands for what a mask hides; no text has it either.
GAP = "\x11"

# Separates lines until they are split. Python takes it for white space: one in a page is harmless.
CUT = "\x1e"
# Replaces an inline tag, so that a character reference does not go on behind it.
JOINT = "\x0e"
# Replaces a title, and is removed as others are: the first of them goes to the top.
TITLE_LEFT = JOINT + JOINT
# Follows what replaces a token that may reach farther in another page.
OPEN = GAP
_OPEN_TITLE = TITLE_LEFT + OPEN
_CONTROLS = f"{JOINT}{LINK}{GAP}{CUT}"
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
# Inline, but separated from their neighbours by a space.
_APART = ("input", "mtd", "rp", "rt", "td", "th")
_BLOCKS = (
    *("address", "article", "aside", "blockquote", "body", "br", "center", "dd", "details", "div"),
    *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "head", "header", "hr", "html", "li", "link", "main", "meta", "nav", "ol"),
    *("option", "p", "pre", "section", "select", "summary", "table", "tbody", "thead", "tr", "ul"),
)


class _Left(dict[str | None, str]):
    """What replaces a tag, by its name with the slash of an end tag; unknown tags end a line."""

    def __missing__(self, name: str) -> str:
        return self.get(name.lower(), CUT)


TAG_LEFT = _Left(
    (slash + name, left)
    for names, left in ((_IN_LINE, JOINT), (_APART, " "), (_BLOCKS, CUT))
    for name in names
    for slash in ("", "/")
)
TAG_LEFT[None] = JOINT  # a comment, or an element of which nothing is seen
# Tokens whose replacement is kept: about 10 MB at most.
_MOST_KEPT, _LONGEST_KEPT = 20_000, 200
# Invisible: NUL, soft hyphen, zero-width spaces, joiners, direction marks.
UNSEEN = (
    "\0\xad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067"
    "\u2068\u2069\ufeff"
)
SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
_MOST_MARKS = 32
_LONG_LINE = 2_000
# Combining marks are neither letters, digits nor spaces, and beyond the Latin letters.
_MANY_MARKS = re.compile(r"[^\w\s\0-\u02ff]{64,}")
# So many together are found much faster by looking at each 32nd character only.
_STEP = 32
_MAYBE_MANY_MARKS = re.compile(r"[^\w\s\0-\u02ff]{2}")
_JSON_STARTS = ("{", "[")
_JSON_BREAK = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|([\[{,])|([\]}])', re.DOTALL)


def lines(
    page: str, *, watch: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> tuple[str, ...]:
    r"""Visible lines of an HTML page, white space collapsed, without empty ones.

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
    if not (watch or ignore):
        return _lines(page)
    return tuple(line for part in select_parts(page, watch, ignore) for line in _lines(part))


def text_lines(text: str) -> tuple[str, ...]:
    r"""Lines of a text that is not HTML; of JSON one line per value, however it is formatted.

    >>> text_lines("a  b\n\nc")
    ('a b', 'c')
    >>> text_lines('{"a": 1,"b":["x, y"]}')
    ('{', '"a": 1,', '"b":[', '"x, y"', ']', '}')
    """
    spaced = normalize_spaces(CUT.join(raw_lines(text)), spaces=SPACES, unseen=UNSEEN)
    return tuple(lines_between_cuts(spaced, many_marks=may_have_many_marks(spaced)))


def raw_lines(text: str) -> list[str]:
    """Lines of a text that is not HTML as they stand there; of JSON one line per value.

    >>> raw_lines(" a  b"), raw_lines("[1,2]")
    ([' a  b'], ['[', '1,', '2', ']'])
    """
    if text.lstrip("\ufeff \t\r\n").startswith(_JSON_STARTS):
        text = _JSON_BREAK.sub(_json_break, text)
    return without_controls(text).splitlines()


def _lines(page: str) -> tuple[str, ...]:
    # Nearly all steps are over the whole page: this is what a visit spends its time with.
    tokens = tokens_of(without_controls(page))
    return tuple(tidy(text_of(tokens.written, tokens.left, tokens.title)))


class Tokens(NamedTuple):
    """A page divided into text and tokens.

    Attributes:
        written: Text, token, text, and so on.
        left: What replaces each token.
        titled: Place of the first title among the tokens, closed or not; -1 where there is none.
        title: What it says.
        letters: Letters of the page.
    """

    written: list[str]
    left: list[str]
    titled: int
    title: str
    letters: int


def tokens_of(page: str) -> Tokens:
    """Tokens of a page without controls."""
    written = TOKEN.split(page)
    left = list(map(_TOKEN_LEFT.__getitem__, written[1::2]))
    titled = _first_title(left)
    if titled < 0:
        return Tokens(written, left, -1, "", len(page))
    found = TOKEN_PARTS.match(written[2 * titled + 1])
    return Tokens(written, left, titled, found[1] if found else "", len(page))


def _first_title(left: list[str]) -> int:
    """Place of the first title, closed or not; -1 where there is none."""
    closed = left.index(TITLE_LEFT) if TITLE_LEFT in left else len(left)
    try:
        return left.index(_OPEN_TITLE, 0, closed)
    except ValueError:
        return closed if closed < len(left) else -1


def text_of(written: list[str], left: list[str], title: str) -> str:
    """Text of a page with what replaces its tokens, the title first."""
    parts = written.copy()
    parts[1::2] = left
    text = "".join(parts)
    return f"{title}{CUT}{text}"


class _TokenLeft(dict[str, str]):
    """What replaces a token; as much is kept as pages of a few sites have in common."""

    def __missing__(self, token: str) -> str:
        left = _left_of(token)
        if not is_closed(token):
            left += OPEN
        if len(token) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[token] = left
        return left


_TOKEN_LEFT = _TokenLeft()


def _left_of(token: str) -> str:
    """What replaces a token."""
    if UNSEEN_TOKEN.match(token):
        return JOINT
    found = TOKEN_PARTS.match(token)
    assert found is not None  # noqa: S101 - as such it was found
    title, link, image, name, attributes = found.groups()
    if title:
        return TITLE_LEFT
    if attributes:
        if name.lower() == "a":
            link = attribute(attributes, "href")
        elif name.lower() == "img":
            return f" {attribute(attributes, 'alt')} "
    if link:
        # What was resolved is not to be resolved again.
        return link_word(resolved(link)).replace("&", f"&{JOINT}")
    return f" {image} " if image else TAG_LEFT[name]


def link_word(written: str) -> str:
    r"""What a link adds to its line, by what stands in its `href`.

    >>> link_word("/bags?utm_source=x#top"), link_word("#top")
    (' \x10/bags ', '\x0e')
    """
    found = link_target(written)
    return f" {LINK}{found} " if found else JOINT


def tidy(text: str) -> list[str]:
    """Lines of a text with what replaces tokens: normalized, without empty ones."""
    spaced = spaced_text(text)
    return lines_between_cuts(spaced, many_marks=may_have_many_marks(spaced))


def spaced_text(text: str) -> str:
    """A text with what replaces tokens, its references resolved and white space collapsed."""
    text = resolved(text).replace(OPEN, "").replace(JOINT, "")
    return normalize_spaces(text, spaces=SPACES, unseen=UNSEEN)


def lines_between_cuts(spaced: str, *, many_marks: bool) -> list[str]:
    """Lines of a text in which white space is collapsed, without empty ones.

    Args:
        spaced: The text.
        many_marks: Whether it may have many marks, by `may_have_many_marks`.
    """
    text = _composed(spaced, many_marks=many_marks)
    lines = list(filter(None, _stripped(text)))
    # Most texts have none of what tells relative times, not even in their long lines.
    if not may_have_relative_times(text):
        return lines
    return list(filter(None, without_relative_times(lines)))


def normalized(text: str) -> list[str]:
    r"""Lines of a text between cuts, white space collapsed, characters composed.

    >>> normalized(f" a\n b{CUT}e\u0301")
    ['a b', 'é']
    """
    text = normalize_spaces(text, spaces=SPACES, unseen=UNSEEN)
    return _stripped(_composed(text, many_marks=may_have_many_marks(text)))


def may_have_many_marks(text: str) -> bool:
    r"""Whether many marks may stand together in a text; what they become depends on all its lines.

    >>> may_have_many_marks("\u0301" * 64), may_have_many_marks("e\u0301")
    (True, False)
    """
    # Latin-1 has no marks apart from their letters.
    return not is_latin(text) and _MAYBE_MANY_MARKS.search(text[::_STEP]) is not None


def _stripped(text: str) -> list[str]:
    return list(map(str.strip, text.split(CUT)))


def _composed(text: str, *, many_marks: bool) -> str:
    """Text in Unicode normal form C, with a bound on marks per letter."""
    # Sorting combining marks takes quadratic time in the marks of one letter.
    if many_marks and max(map(len, text.split(CUT))) > _LONG_LINE:
        text = _MANY_MARKS.sub(_fewer, text)
    # Of Latin-1 and of what has nothing to compose the same text is returned at once.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _fewer(marks: re.Match[str]) -> str:
    return marks[0][:_MOST_MARKS]


def without_controls(text: str) -> str:
    """Text without the characters that lines are made with.

    >>> without_controls(f"a{LINK}b")
    'ab'
    """
    for character in _CONTROLS:
        if character in text:  # looking is faster than replacing, and most pages have none
            text = text.replace(character, "")
    return text


def _json_break(found: re.Match[str]) -> str:
    text, opened, closed = found.groups()
    if opened:
        return opened + "\n"
    return text if closed is None else "\n" + closed
