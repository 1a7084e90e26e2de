"""Content cut into chunks, with ids that last: what a vector index stores, one row per chunk.

A chunk is what stands under one heading, in parts of at most `LONGEST_CHUNK` characters, without
overlap. Its id is made of the page's address, the chunk's own heading, which of several equal
headings it is, and the part. So a section that is edited keeps its id, as do all sections beside
one that comes, goes or moves. The title of a page (a heading of level 1) names no chunk: a page
that is renamed is still the same page. Headings above the chunk's own are its `path`, which is
part neither of the id nor of the hash.

The hash is of the Markdown with white space collapsed: two chunks with one hash read the same and
link to the same pages.

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from recrawl.entries.manifests import MOST_CHUNKS, MOST_LETTERS, ListedChunk, Manifest
from recrawl.extract.markdown import markdown
from recrawl.extract.splitting import split_node
from recrawl.extract.text import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.extract.content import Content, ContentBlock

# Ids and hashes of one version say nothing of those of another.
SPLITTER = 1
LONGEST_CHUNK = 2_000
# Names our ids among all UUIDs of version 5; a random one, for ever the same.
_NAMESPACE = UUID("5b8d0a52-6f0e-4a8e-9d6b-2f9a5c1e7d34")
_LONGEST_NAME = 300  # of a heading within an id and a path
_BETWEEN = "\n\n"  # two blocks
_TITLE_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Part of a page's content.

    Args:
        id: UUID of version 5, the same while the page keeps this heading.
        hash: SHA-256 of the Markdown with white space collapsed, in hexadecimal.
        path: Headings that it stands under, the outermost first; the last is its own.
        part: Which part of its section it is, from 0.
        text: Plain text.
        markdown: Markdown.
    """

    id: str
    hash: str
    path: tuple[str, ...]
    part: int
    text: str
    markdown: str


def chunks_of(content: Content) -> list[Chunk]:
    """Cut content into chunks, in its order.

    >>> from recrawl.extract import read_content
    >>> page = b"<main><h1>Tea</h1><p>Hot.<h2>Green</h2><p>5 euros<h2>Black</h2><p>4 euros</main>"
    >>> content = read_content(page, "text/html", "https://example.org/tea")
    >>> for chunk in chunks_of(content):
    ...     print(chunk.path, chunk.part, chunk.text.split())
    ('Tea',) 0 ['Tea', 'Hot.']
    ('Tea', 'Green') 0 ['Green', '5', 'euros']
    ('Tea', 'Black') 0 ['Black', '4', 'euros']
    """
    found = []
    seen: Counter[str] = Counter()
    for path, own, blocks in _sections(content.blocks):
        occurrence = seen[own]
        seen[own] += 1
        for part, (text, written) in enumerate(_parts(blocks)):
            name = "\n".join((content.address, own, str(occurrence), str(part)))
            digest = sha256(" ".join(written.split()).encode(errors="replace")).hexdigest()
            found.append(Chunk(str(_uuid(name)), digest, path, part, text, written))
    return found


def manifest_of(content: Content) -> Manifest | None:
    """Which chunks content has; None where they are too many to be written down.

    >>> from recrawl.extract import read_content
    >>> page = b"<main><h1>Tea</h1><p>Hot.<h2>Green</h2><p>5 euros</main>"
    >>> found = manifest_of(read_content(page, "text/html", "https://example.org/tea"))
    >>> found.splitter, [chunk.path for chunk in found.chunks]
    (1, [('Tea',), ('Tea', 'Green')])
    """
    chunks = [ListedChunk(each.id, each.hash, each.path, each.part) for each in chunks_of(content)]
    letters = sum(len(name) for each in chunks for name in each.path)
    if len(chunks) > MOST_CHUNKS or letters > MOST_LETTERS:
        return None
    return Manifest(SPLITTER, tuple(chunks))


def _uuid(name: str) -> UUID:
    return uuid5(_NAMESPACE, name.encode(errors="replace").decode())


def _sections(
    blocks: tuple[ContentBlock, ...],
) -> Iterator[tuple[tuple[str, ...], str, list[ContentBlock]]]:
    """Path, own heading and blocks of each section; the own heading of a title is empty."""
    path: list[tuple[int, str]] = []
    own = ""
    section: list[ContentBlock] = []
    for block in blocks:
        if block.level:
            if section:
                yield tuple(name for _, name in path), own, section
            section = []
            name = " ".join(block.text.split())[:_LONGEST_NAME]
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, name))
            own = "" if block.level == _TITLE_LEVEL else name
        section.append(block)
    if section:
        yield tuple(name for _, name in path), own, section


def _parts(blocks: list[ContentBlock]) -> Iterator[tuple[str, str]]:
    """Text and Markdown of the parts of a section: whole blocks, as many as there is room for."""
    texts, markdowns, room = list[str](), list[str](), LONGEST_CHUNK
    for block in blocks:
        for text, written in _pieces(block):
            needed = len(written) + len(_BETWEEN)
            if needed > room and markdowns:
                yield _BETWEEN.join(texts), _BETWEEN.join(markdowns)
                texts, markdowns, room = [], [], LONGEST_CHUNK
            texts.append(text)
            markdowns.append(written)
            room -= needed
    if markdowns:
        yield _BETWEEN.join(texts), _BETWEEN.join(markdowns)


def _pieces(block: ContentBlock) -> Iterator[tuple[str, str]]:
    """A block, or pieces of one that is too long for a chunk."""
    if len(block.markdown) <= LONGEST_CHUNK:
        yield block.text, block.markdown
        return
    for node in split_node(block.node, LONGEST_CHUNK):
        yield plain_text(node), markdown(node)
