"""Blocks of a tree of HTML, in one walk without recursion.

Text goes to the innermost open *frame*: the page, a quotation, an item of a list, a cell. An
element that begins or ends a block ends the paragraph that is being gathered there. Lists,
quotations and definitions that hold headings are layout, as are tables that hold headings or
tables: their parts are blocks of the page itself. So are lists nested deeper than `DEEPEST`.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from lxml import etree  # type: ignore[import-untyped]  # ships no types

from recrawl.detect.text.link_targets import link_target
from recrawl.extract.main_content import HEADINGS
from recrawl.extract.nodes import (
    BREAK,
    CODE,
    DEEPEST,
    EMPHASIS,
    PLAIN,
    STRONG,
    Code,
    Definition,
    Heading,
    List,
    Paragraph,
    Quotation,
    Span,
)
from recrawl.extract.tables import TableRows
from recrawl.parse.addresses import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recrawl.extract.nodes import Node, Spans
    from recrawl.extract.tree import Element

_HEADINGS = {tag: level for level, tag in enumerate(HEADINGS, start=1)}
_STYLES = {
    **dict.fromkeys(("b", "strong"), STRONG),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), EMPHASIS),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), CODE),
}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_CELLS = frozenset({"td", "th"})
_INLINE = frozenset(
    (
        *("abbr", "acronym", "bdi", "bdo", "big", "button", "data", "del", "font", "ins", "label"),
        *("mark", "nobr", "output", "picture", "rp", "rt", "ruby", "s", "small", "source", "span"),
        *("strike", "sub", "sup", "time", "u", "wbr", "math", "mfrac", "mi", "mn", "mo"),
        *("mover", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtext"),
        *("munder", "munderover", "semantics"),
    )
)
# Set on elements that hold headings or tables while their blocks are made.
_HAS_HEADING, _HAS_TABLE = "recrawl-has-heading", "recrawl-has-table"
_UNSEEN = re.compile("[\0\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-(?:source-)?|brush:\s?|sourceCode\s)"
    r"([A-Za-z][A-Za-z0-9+#_.]{0,19})(?=[\s;]|$)"
)
_NO_LANGUAGES = frozenset({"default", "none", "notranslate", "text", "plaintext", "plain"})
_FAR = 2  # elements around code that may name its language
_LONGEST_CLASS = 1_000
_MOST_NUMBER = 1_000_000_000


def tree_blocks(root: Element, base: str) -> list[Node]:
    """Blocks of an element.

    Args:
        root: The element; what is not content is gone from it.
        base: Address that its links are relative to.

    Examples:
        >>> tree_blocks(etree.HTML("<h2>a</h2><p>b"), "https://example.org/")[1]
        Paragraph(spans=(Span(text='b', style=0, link=''),))
    """
    _mark(root, _HEADINGS, _HAS_HEADING)
    _mark(root, ("table",), _HAS_TABLE)
    builder = _Builder(base)
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if builder.start(element):
                walk.skip_subtree()
        else:
            builder.end()
            if element is not root and element.tail:
                builder.add(element.tail)
    return builder.done()


def _mark(root: Element, tags: Iterable[str], name: str) -> None:
    """Set an attribute on all elements that hold others of these tags, each once."""
    for inner in root.iter(*tags):
        for outer in inner.iterancestors():
            if outer.get(name):
                break
            outer.set(name, "1")


@dataclass(slots=True)
class _Frame:
    """A place that blocks go to.

    Args:
        nodes: Blocks of it so far.
        spans: The paragraph that is being gathered.
        items: Items of a list, if it is one.
        groups: Terms and their meanings, if it is a list of definitions.
        table: Rows, if it is a table.
    """

    nodes: list[Node] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    items: list[tuple[Node, ...]] | None = None
    groups: list[tuple[list[Spans], list[list[Node]]]] | None = None
    table: TableRows | None = None


class _Builder:
    """Frames that are open, and how text is set now."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._frames = [_Frame()]
        self._closers: list[Callable[[], None]] = []  # of all open elements
        self._styles = [PLAIN]
        self._links = [""]
        self._known: dict[str, str] = {}
        self._nested = 0  # lists, definitions and quotations that are open
        self._inline = 0  # headings, terms and cells that are open: no blocks within

    def start(self, element: Element) -> bool:
        """Open an element; returns whether all that is in it was read."""
        tag = element.tag
        if tag == "pre":
            self._add_code(element)
            self._closers.append(_nothing)
            return True
        self._closers.append(self._open(element, tag))
        if element.text:
            self.add(element.text)
        return False

    def end(self) -> None:
        """Close the innermost open element."""
        self._closers.pop()()

    def add(self, text: str) -> None:
        """Add text as it stands in the page."""
        if not text.isascii() or "\0" in text:
            text = _UNSEEN.sub("", text)
        words = text.split()
        spans = self._frames[-1].spans
        if text[:1].isspace() and spans and spans[-1].text[-1] not in " \n":
            words.insert(0, "")
        if not words:
            return
        if text[-1].isspace() and words != [""]:
            words.append("")
        text = " ".join(words) or " "
        spans.append(Span(text, self._styles[-1], self._links[-1]))

    def done(self) -> list[Node]:
        """All blocks."""
        self._flush()
        return self._frames[0].nodes

    def _open(  # noqa: PLR0911 - one per kind of element
        self, element: Element, tag: str
    ) -> Callable[[], None]:
        """Begin an element that is not code; returns what ends it."""
        if tag == "a":
            self._links.append(self._link(element.get("href") or "") or self._links[-1])
            return self._end_link
        if tag in _STYLES:
            self._styles.append(self._styles[-1] | _STYLES[tag])
            return self._end_style
        if tag in _INLINE:
            return _nothing
        match tag:
            case "br":
                self._break()
                return _nothing
            case "img":
                self.add(f" {element.get('alt') or ''} ")
                return _nothing
            case "q":
                self.add("“")
                return lambda: self.add("”")
        if self._inline:
            self.add(" ")
            return lambda: self.add(" ")
        self._flush()
        return self._open_block(element, tag)

    def _open_block(  # noqa: PLR0911 - one per kind of element
        self, element: Element, tag: str
    ) -> Callable[[], None]:
        """Begin an element that is a block; returns what ends it."""
        frame = self._frames[-1]
        if tag in _HEADINGS:
            level = _HEADINGS[tag]
            return self._open_line(lambda spans: self._place(Heading(level, spans)))
        if frame.table is not None and tag in ("tr", "td", "th"):
            return self._open_part_of_table(element, tag, frame.table)
        if frame.groups is not None and tag in ("dt", "dd"):
            return self._open_part_of_definitions(tag, frame.groups)
        if tag == "li" and frame.items is not None:
            self._frames.append(_Frame())
            return self._end_item
        if element.get(_HAS_HEADING) is None and self._nested < DEEPEST:
            if tag in _LISTS:
                self._push(_Frame(items=[]))
                first = _number(element.get("start"), 1) if tag == "ol" else None
                return lambda: self._end_list(first)
            if tag == "blockquote":
                self._push(_Frame())
                return self._end_quotation
            if tag == "dl":
                self._push(_Frame(groups=[]))
                return self._end_definitions
            if tag == "table" and element.get(_HAS_TABLE) is None and _is_data(element):
                self._frames.append(_Frame(table=TableRows()))
                return self._end_table
        return self._flush

    def _push(self, frame: _Frame) -> None:
        self._frames.append(frame)
        self._nested += 1

    def _pop(self) -> _Frame:
        self._flush()
        self._nested -= 1
        return self._frames.pop()

    def _open_line(self, place: Callable[[Spans], None]) -> Callable[[], None]:
        """Gather all text of an element into one line."""
        self._frames.append(_Frame())
        self._inline += 1

        def close() -> None:
            self._inline -= 1
            place(_tidy(self._frames.pop().spans))

        return close

    def _open_part_of_table(
        self,
        element: Element,
        tag: str,
        table: TableRows,
    ) -> Callable[[], None]:
        if tag == "tr":
            parent = element.getparent()
            table.open_row(head=parent is not None and parent.tag == "thead")
            return self._flush
        columns, rows = (_number(element.get(name), 1) for name in ("colspan", "rowspan"))
        return self._open_line(
            lambda spans: table.add(spans, columns=columns, rows=rows, head=tag == "th")
        )

    def _open_part_of_definitions(
        self, tag: str, groups: list[tuple[list[Spans], list[list[Node]]]]
    ) -> Callable[[], None]:
        if not groups or (tag == "dt" and groups[-1][1]):
            groups.append(([], []))
        if tag == "dt":
            return self._open_line(groups[-1][0].append)
        self._frames.append(_Frame())

        def close() -> None:
            self._flush()
            groups[-1][1].append(self._frames.pop().nodes)

        return close

    def _end_link(self) -> None:
        self._links.pop()

    def _end_style(self) -> None:
        self._styles.pop()

    def _end_item(self) -> None:
        self._flush()
        nodes = self._frames.pop().nodes
        if nodes and self._frames[-1].items is not None:
            self._frames[-1].items.append(tuple(nodes))

    def _end_list(self, first: int | None) -> None:
        items = self._pop().items
        if items:
            self._place(List(tuple(items), first))

    def _end_quotation(self) -> None:
        nodes = self._pop().nodes
        if nodes:
            self._place(Quotation(tuple(nodes)))

    def _end_definitions(self) -> None:
        for written, meanings in self._pop().groups or ():
            terms = [spans for spans in written if spans]
            found = [nodes for nodes in meanings if nodes]
            lines = [
                nodes[0].spans
                for nodes in found
                if len(nodes) == 1 and isinstance(nodes[0], Paragraph)
            ]
            if terms and lines and len(lines) == len(found):
                self._place(Definition(tuple(terms), tuple(lines)))
                continue
            for node in (*map(Paragraph, terms), *(node for nodes in found for node in nodes)):
                self._place(node)

    def _end_table(self) -> None:
        self._flush()
        table = self._frames.pop().table
        found = table.done() if table else None
        if found:
            self._place(found)

    def _place(self, node: Node) -> None:
        """Put a block where it belongs: text between the parts of a list or table beside them."""
        if isinstance(node, Heading | Paragraph) and not node.spans:
            return
        for frame in reversed(self._frames):
            if frame.items is not None:
                frame.items.append((node,))
                return
            if frame.groups is not None:
                if not frame.groups:
                    frame.groups.append(([], []))
                frame.groups[-1][1].append([node])
                return
            if frame.table is None:
                frame.nodes.append(node)
                return

    def _flush(self) -> None:
        """End the paragraph."""
        if self._inline:
            return
        frame = self._frames[-1]
        if frame.spans:
            spans, frame.spans = _tidy(frame.spans), []
            if spans:
                self._place(Paragraph(spans))

    def _break(self) -> None:
        spans = self._frames[-1].spans
        if self._inline:
            self.add(" ")
        elif spans and spans[-1] == BREAK:
            self._flush()  # two of them part paragraphs
        elif spans:
            spans.append(BREAK)

    def _link(self, written: str) -> str:
        found = self._known.get(written)
        if found is None:
            target = link_target(written)
            found = (canonical(target, self._base) if target else None) or ""
            self._known[written] = found
        return found

    def _add_code(self, element: Element) -> None:
        for line in element.iter("br"):
            line.text = "\n"
        code = "".join(element.itertext()).replace("\r\n", "\n").replace("\r", "\n")
        code = _UNSEEN.sub("", code).removeprefix("\n").rstrip()
        if self._inline:
            self._styles.append(self._styles[-1] | CODE)
            self.add(code)
            self._styles.pop()
        elif code:
            self._flush()
            self._place(Code(code, _language(element)))


def _nothing() -> None:
    pass


def _tidy(spans: list[Span]) -> Spans:
    """Spans without space at their ends, neighbours of one kind joined."""
    while spans and not spans[-1].text.strip():
        spans.pop()
    if not spans:
        return ()
    spans[-1] = spans[-1]._replace(text=spans[-1].text.rstrip())
    found: list[Span] = []
    pieces: list[str] = []
    for span in spans:
        if found and span != BREAK and found[-1] != BREAK and found[-1][1:] == span[1:]:
            pieces.append(span.text)
            continue
        if pieces:
            found[-1] = found[-1]._replace(text="".join([found[-1].text, *pieces]))
            pieces = []
        found.append(span)
    if pieces:
        found[-1] = found[-1]._replace(text="".join([found[-1].text, *pieces]))
    return tuple(found)


def _is_data(table: Element) -> bool:
    """Whether a table has rows to compare; one row alone is layout."""
    if table.get("role") in ("presentation", "none"):
        return False
    rows = table.iter("tr")
    return next(rows, None) is not None and next(rows, None) is not None


def _language(element: Element) -> str:
    """Name of the language of code by the classes of its elements; empty if they say nothing."""
    for each in (element, *element[:1], *islice(element.iterancestors(), _FAR)):
        found = _LANGUAGE.search((each.get("class") or "")[:_LONGEST_CLASS])
        if found and found[1].lower() not in _NO_LANGUAGES:
            return found[1].lower()
    return ""


def _number(text: str | None, default: int) -> int:
    """Number of an attribute."""
    text = (text or "").strip()
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(_MOST_NUMBER)):
        return default
    return min(int(text), _MOST_NUMBER - 1_000_000)
