"""What a document may cost, and how it is told that one costs more.

Pure.
"""

from __future__ import annotations

MOST_HTML = 8 << 20  # characters that are made of a document, as of a page that is read as lines
MOST_PAGES = 5_000
MOST_LETTERS = 4 << 20
MOST_CELLS = 500_000  # empty ones among them
MOST_PARTS = 10_000  # files in an Office document
MOST_UNPACKED = 256 << 20  # bytes of all of them together
# Seconds that a document may take: of the processor, and in all. The second is for what waits
# and does not work, and longer, since a busy machine must not change what is said of a page.
CPU_SECONDS, WALL_SECONDS = 20, 60


class UnreadableDocument(Exception):
    """A document that nothing can be made of; the message says why in a few words."""
