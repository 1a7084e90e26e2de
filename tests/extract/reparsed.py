"""Markdown read by a parser of others, and the text that it must find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree  # type: ignore[import-untyped] # ships no types
from markdown_it import MarkdownIt

from recrawl.extract.nodes import (
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
    from recrawl.extract.nodes import Node

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def squeezed(text: str) -> str:
    """Text without white space."""
    return "".join(text.split())


def reparsed(markdown: str) -> str:
    """Text that a parser of Markdown finds, without white space."""
    html = PARSER.render(markdown)
    if not html.strip():
        return ""
    tree = etree.HTML(html.encode(), etree.HTMLParser(encoding="utf-8", huge_tree=True))
    return squeezed("".join(tree.itertext()))


def bare(node: Node) -> str:
    """All letters of a block, without signs of lists and tables, and without white space."""
    match node:
        case Heading(_, spans) | Paragraph(spans):
            return squeezed("".join(span.text for span in spans))
        case Code(text) | Verbatim(text):
            return squeezed(text)
        case List(items):
            return "".join(bare(each) for item in items for each in item)
        case Quotation(nodes):
            return "".join(map(bare, nodes))
        case Definition(terms, meanings):
            lines = [*map(Paragraph, terms)]
            return "".join(map(bare, lines)) + "".join(":" + bare(Paragraph(m)) for m in meanings)
        case DataTable(header, rows):
            return "".join(bare(Paragraph(cell)) for row in (header, *rows) for cell in row)
    raise AssertionError
