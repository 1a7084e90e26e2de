"""Manifests: which chunks a copy of a page has, without what they say.

A manifest is written with the event that tells of the copy. So readers of the change feed learn
which chunks came, changed and went, also when the version itself was dropped before they came.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

# Of one page. More are no page that somebody reads, and are not written down.
MOST_CHUNKS = 10_000
MOST_LETTERS = 1 << 20  # of all paths


@dataclass(frozen=True, slots=True)
class ListedChunk:
    """A chunk without what it says.

    Args:
        id: UUID that lasts while the page keeps its heading.
        hash: SHA-256 of what it says, in hexadecimal.
        path: Headings that it stands under, the outermost first.
        part: Which part of its section it is, from 0.
    """

    id: str
    hash: str
    path: tuple[str, ...]
    part: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """All chunks of a copy, in its order.

    Args:
        splitter: Version of the splitter: ids and hashes of one say nothing of those of another.
        chunks: The chunks.
    """

    splitter: int
    chunks: tuple[ListedChunk, ...]
