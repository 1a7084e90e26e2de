"""Blocks of what is text and no HTML: plain text, Markdown, JSON, XML and others.

Plain text and Markdown stay as they are, parted at empty lines; what else there is becomes one
block of code. JSON has one line per value, however it was formatted.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.detect.text.lines import raw_lines
from recrawl.extract.nodes import Code, Verbatim
from recrawl.extract.noise import lines_without_noise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.detect.masks.masks import Masks
    from recrawl.extract.nodes import Node

_MARKDOWN = frozenset({"text/markdown", "text/x-markdown"})
_PROSE = frozenset({"", "text/plain", *_MARKDOWN})
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LANGUAGES = ("json", "xml", "javascript", "yaml", "csv")
_DEEPEST = 20  # steps of indentation
_MOST_BLOCKS = 100_000  # what comes after them is one more
_MOST_VALUES = 500_000  # of JSON; with more it stays as it is


def text_blocks(text: str, mime: str, masks: Masks) -> list[Node]:
    r"""Blocks of a text.

    Args:
        text: The text.
        mime: Its media type; empty where it has none.
        masks: Masks of the page.

    Examples:
        >>> from recrawl.detect.masks.masks import NO_MASKS
        >>> text_blocks("# Tea\n\n5 *euros*", "text/markdown", NO_MASKS)
        [Verbatim(text='# Tea', level=1), Verbatim(text='5 *euros*', level=0)]
        >>> text_blocks('{"a":[1]}', "application/json", NO_MASKS)
        [Code(code='{\n  "a":[\n    1\n  ]\n}', language='json')]
    """
    few = sum(map(text.count, "[]{},")) <= _MOST_VALUES
    lines = lines_without_noise(raw_lines(text) if few else text.splitlines(), masks)
    if mime in _PROSE and not _is_json(lines):
        return [*_parted(lines, headings=mime in _MARKDOWN)]
    language = next((name for name in _LANGUAGES if mime.endswith(name)), "")
    if _is_json(lines):
        language, lines = "json", _indented(lines)
    code = "\n".join(lines).strip("\n")
    return [Code(code, language)] if code.strip() else []


def _is_json(lines: Sequence[str]) -> bool:
    first = next((line.strip() for line in lines if line.strip()), "")
    return first in ("{", "[", "{}", "[]")


def _parted(lines: Sequence[str], *, headings: bool) -> Iterator[Verbatim]:
    """Paragraphs between empty lines; of Markdown, headings and code in fences by themselves."""
    some: list[str] = []
    fence, blocks = "", 0
    for line in lines:
        opened = _FENCE.match(line) if headings else None
        heading = _HEADING.match(line) if headings and not fence else None
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1].startswith(fence):
            fence = ""
        if blocks == _MOST_BLOCKS:
            some.append(line.rstrip())
            continue
        if (heading or (not line.strip() and not fence)) and some:
            yield Verbatim("\n".join(some))
            blocks += 1
            some = []
        if heading:
            yield Verbatim(line.strip(), len(heading[1]))
        elif line.strip() or fence:
            some.append(line.rstrip())
    if some:
        yield Verbatim("\n".join(some))


def _indented(lines: Sequence[str]) -> list[str]:
    """Lines of JSON, each as deep as it is nested."""
    found = []
    depth = 0
    for line in filter(None, map(str.strip, lines)):
        depth -= line[:1] in ("]", "}") and depth > 0
        found.append("  " * min(depth, _DEEPEST) + line)
        depth += line[-1:] in ("[", "{")
    return found
