r"""Blocks of a page as Markdown: CommonMark, with the tables of GitHub.

The same block always gives the same Markdown, whatever stands beside it. Signs that Markdown would
take for its own are escaped, so that a parser finds the text that the page has. Emphasis is left
out where Markdown cannot say it: within words next to punctuation, or right beside other emphasis.

Pure.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from recrawl.extract.nodes import (
    BREAK,
    CODE,
    EMPHASIS,
    STRONG,
    Code,
    DataTable,
    Definition,
    Heading,
    List,
    Paragraph,
    Quotation,
    Verbatim,
)

if TYPE_CHECKING:
    from recrawl.extract.nodes import Node, Span, Spans

# An underscore within a word, and signs that begin nothing, stay as they are. Each begins with a
# letter to look for: that is quick.
_SIGN = re.compile(
    r"\\|`|\*|\[|\]|~|<(?=[A-Za-z/!?])|_(?:(?![^\W_])|(?<![^\W_]_))|&(?=#?[A-Za-z0-9]{1,40};)"
)
# What begins a block at the beginning of a line.
_OPENING = re.compile(r"(?:([+\-=>:|])|(#{1,6})(?=\s|\Z)|([0-9]{1,9})([.)])(?=\s|\Z))")
_TICKS = re.compile(r"`+")
_DESTINATION = re.compile(r"[()\\]")
_REFERENCE = re.compile(r"&(?=#?[A-Za-z0-9]{1,40};)")
_MARKS = {
    STRONG: "**",
    EMPHASIS: "*",
    STRONG | EMPHASIS: "***",
}


def markdown(node: Node) -> str:  # noqa: PLR0911 - one per kind of block
    r"""Markdown of a block.

    >>> from recrawl.extract.nodes import Span
    >>> text = Span("2 * 3_000 "), Span("is", EMPHASIS, "https://example.org/"), Span(" <b>")
    >>> markdown(Paragraph(text))
    '2 \\* 3_000 [*is*](https://example.org/) \\<b>'
    >>> print(markdown(List(((Paragraph(text[:1]),), (Paragraph(text[2:]), Code("x", "c"))))))
    - 2 \* 3_000
    - \<b>
    <BLANKLINE>
      ```c
      x
      ```
    """
    match node:
        case Heading(level, spans):
            written = _inline(spans, breaks=" ")
            return f"{'#' * level} {_closed(written)}".rstrip()
        case Paragraph(spans):
            return _paragraph(spans)
        case Code(code, language):
            return _fenced(code, language)
        case List(items, first):
            return "\n".join(
                _item("- " if first is None else f"{first + index}. ", item)
                for index, item in enumerate(items)
            )
        case Quotation(nodes):
            return _indented(_joined(nodes), "> ", "> ")
        case Definition(terms, meanings):
            named = [_paragraph(spans) for spans in terms]
            return "\n".join([*named, *(_indented(_paragraph(s), ": ", "  ") for s in meanings)])
        case DataTable():
            return _table(node)
        case Verbatim(text):
            return text


def _paragraph(spans: Spans) -> str:
    return "\n".join(map(_opened, _inline(spans, breaks="\\\n").split("\n")))


def _opened(line: str) -> str:
    """A line that begins no other block than a paragraph."""
    found = _OPENING.match(line)
    if found is None:
        return line
    sign, _, number, end = found.groups()
    if number:
        return f"{number}\\{end}{line[found.end() :]}"
    return f"\\{line}" if sign or line[0] == "#" else line


def _closed(line: str) -> str:
    """Text of a heading whose last hashes are text."""
    bare = line.rstrip("#")
    hashes = len(line) - len(bare)
    if not hashes or (bare and not bare[-1].isspace()):
        return line
    return f"{bare}\\{'#' * hashes}"


def _fenced(code: str, language: str) -> str:
    longest = max(map(len, _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _item(marker: str, nodes: tuple[Node, ...]) -> str:
    return _indented(_joined(nodes), marker, " " * len(marker))


def _joined(nodes: tuple[Node, ...]) -> str:
    """Blocks within another: a list follows its paragraph at once, all else after an empty line."""
    parts: list[str] = []
    for index, node in enumerate(nodes):
        if index:
            close = isinstance(node, List) and isinstance(nodes[index - 1], Paragraph)
            # A list that begins with another number than 1 would be part of the paragraph.
            parts.append("\n" if close and getattr(node, "first", None) in (None, 1) else "\n\n")
        parts.append(markdown(node))
    return "".join(parts)


def _indented(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    empty = others.rstrip()
    written = [f"{others}{line}" if line else empty for line in lines[1:]]
    return "\n".join([f"{first}{lines[0]}" if lines[0] else first.rstrip(), *written])


def _table(table: DataTable) -> str:
    width = len(table.header)
    lines = [_row(table.header), f"|{' --- |' * width}"]
    return "\n".join([*lines, *map(_row, table.rows)])


def _row(cells: tuple[Spans, ...]) -> str:
    written = [_inline(cell, breaks=" ").replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(written)} |"


def _inline(spans: Spans, *, breaks: str) -> str:
    """Spans as Markdown, in one line but for breaks."""
    parts: list[str] = []
    groups = [(link, list(group)) for link, group in groupby(spans, key=lambda span: span.link)]
    for index, (link, group) in enumerate(groups):
        before = parts[-1][-1:] if parts else ""
        after = groups[index + 1][1][0].text[:1] if index + 1 < len(groups) else ""
        if not link:
            parts.append(_styled(tuple(group), before, after, breaks))
            continue
        text = _styled(tuple(group), "[", "]", " ")
        bare = text.strip()
        if not bare:
            parts.append(text)
            continue
        lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        if parts and parts[-1].endswith("!"):  # it would be an image
            parts[-1] = f"{parts[-1][:-1]}\\!"
        parts.append(f"{lead}[{bare}]({_destination(link)}){trail}")
    return "".join(parts).strip()


def _destination(link: str) -> str:
    escaped = _REFERENCE.sub("&amp;", link.replace("\\", "%5C"))
    return f"<{escaped}>" if _DESTINATION.search(escaped) else escaped


def _styled(spans: Spans, before: str, after: str, breaks: str) -> str:
    """Spans without links, with marks around them where Markdown can tell what they mean."""
    written = ""
    runs = [
        (style, "".join([span.text for span in group]))
        for style, group in groupby(spans, key=_shown_style)
    ]
    for index, (style, text) in enumerate(runs):
        following = runs[index + 1][1][:1] if index + 1 < len(runs) else after
        if style is None:
            written = written.rstrip() + breaks * (1 if breaks == " " else len(text))
            continue
        lead, bare, trail = _stripped(text)
        last = (written or before)[-1:]
        if not bare:
            written += text
        elif style & CODE:
            written += f"{lead}{_ticked(bare)}{trail}"
        else:
            marks = _MARKS.get(style, "")
            shown = _SIGN.sub(_escaped, bare)
            near = lead or last, trail or following
            if marks and _can_mark(bare, *near):
                shown = f"{marks}{shown}{marks}"
            written += f"{lead}{shown}{trail}"
    return written


def _escaped(sign: re.Match[str]) -> str:
    return f"\\{sign[0]}"  # twice as quick as a template


def _shown_style(span: Span) -> int | None:
    """How a span is shown: code has no other style, and a break none at all."""
    if span == BREAK:
        return None
    return CODE if span.style & CODE else span.style


def _stripped(text: str) -> tuple[str, str, str]:
    bare = text.strip()
    start = text.find(bare) if bare else 0
    return text[:start], bare, text[start + len(bare) :]


def _ticked(code: str) -> str:
    longest = max(map(len, _TICKS.findall(code)), default=0)
    ticks = "`" * (longest + 1)
    room = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{ticks}{room}{code}{room}{ticks}"


def _can_mark(text: str, before: str, after: str) -> bool:
    """Whether marks around a text would be read as such, between these characters."""
    if before in ("*", "\\") or (after and after in "*_"):
        return False
    inside = text[0].isalnum() and text[-1].isalnum()
    apart = not (before and before.isalnum()) and not (after and after.isalnum())
    return inside or apart
