"""Content of a page: what it says, without what stands around it on every page of its site.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from recrawl.extract.markdown import markdown
from recrawl.extract.nodes import Heading, Verbatim
from recrawl.extract.text import plain_text

if TYPE_CHECKING:
    from recrawl.extract.nodes import Node

_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class ContentBlock:
    """A heading, paragraph, list, table, ... of a page.

    Args:
        node: The block as a value.
        text: Plain text.
        markdown: Markdown.
        level: 1 to 6 for a heading, else 0.
    """

    node: Node
    text: str = field(init=False)
    markdown: str = field(init=False)
    level: int = field(init=False)

    def __post_init__(self) -> None:
        level = self.node.level if isinstance(self.node, Heading | Verbatim) else 0
        object.__setattr__(self, "text", plain_text(self.node))
        object.__setattr__(self, "markdown", markdown(self.node))
        object.__setattr__(self, "level", level)


@dataclass(frozen=True, slots=True)
class Content:
    """What a page says.

    Args:
        address: Canonical address of the page.
        title: Title in one line; empty where it has none.
        blocks: Its parts in order. One sentence that is edited changes one of them.
        read_as: "page" for the main content of an HTML page, "lines" for one that is too complex
            for a tree, of which all visible text is taken, "text" for what is no HTML.
    """

    address: str
    title: str
    blocks: tuple[ContentBlock, ...]
    read_as: Literal["page", "lines", "text"] = "page"

    @property
    def text(self) -> str:
        """Plain text, an empty line between blocks."""
        return _BETWEEN.join([block.text for block in self.blocks])

    @property
    def markdown(self) -> str:
        """Markdown, an empty line between blocks."""
        return _BETWEEN.join([block.markdown for block in self.blocks])
