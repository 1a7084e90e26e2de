"""A body in; main content, text, Markdown and chunks out.

    body ─ `read_content` ─▶ `Content` ─ `chunks_of` ─▶ `Chunk`, `Chunk`, ...

`Content` is a page without navigation, banners and whatever differs by itself: a title and blocks
(headings, paragraphs, lists, tables, code), each as plain text and as Markdown. Chunks are its
sections with ids that last while the page is edited.

Pure.
"""

from recrawl.extract.chunks import LONGEST_CHUNK, SPLITTER, Chunk, chunks_of, manifest_of
from recrawl.extract.content import Content, ContentBlock
from recrawl.extract.reading import read_content, title_of

__all__ = [
    "LONGEST_CHUNK",
    "SPLITTER",
    "Chunk",
    "Content",
    "ContentBlock",
    "chunks_of",
    "manifest_of",
    "read_content",
    "title_of",
]
