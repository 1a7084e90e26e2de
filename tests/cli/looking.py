"""A crawl in a folder, and a terminal to look at it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.docs.pages import shown_by
from tests.preloaded import popen

if TYPE_CHECKING:
    from pathlib import Path


def on_a_terminal(folder: Path, *words: object) -> str:
    """What a person sees who runs `recrawl` in a folder: rows, then remarks."""
    return shown_by(lambda **screen: popen(words, cwd=folder, **screen))
